// Servers: what is remembered of servers, for all who ask them. It knows origins, and what each of
// them has shown; it never makes a request, and never knows a file.

/// Whoever has requests under way at servers, as a server that serves only so many sees it.
///
/// Lives on the loop thread.
protocol ServerUser: AnyObject {
    /// What it has under way at an origin.
    func load(of origin: String, now: Double) -> ServerLimit.Load
}

/// What is known of the servers that are asked on one loop, for all who ask them, by origin.
///
/// Lives on the loop thread.
final class ServerBook {
    /// How many requests at a time servers serve: of those that turned one away.
    var limits: [String: ServerLimit] = [:]
    /// What is known of servers that count requests.
    var quotas: [String: RequestQuota] = [:]
    /// What hosts mean by 403.
    var forbidding: [String: Forbidding] = [:]
    /// What is known of hosts' addresses.
    var addresses = HostAddresses()
    /// Which hosts have served anything, and which were given up.
    var contacts = HostContacts()
    /// Shortest time to connect that was seen, in seconds.
    private(set) var roundTrips: [String: Double] = [:]
    /// Who has requests under way, by number.
    private var users: [Int: any ServerUser] = [:]

    /// Notes how long it took to connect, in seconds.
    func connected(to origin: String, in seconds: Double) {
        roundTrips[origin] = min(roundTrips[origin] ?? .infinity, seconds)
    }

    /// Counts what somebody has under way, until `leave` is called with the same number.
    func join(_ user: any ServerUser, as number: Int) { users[number] = user }

    /// Counts what a user has under way no more.
    func leave(_ number: Int) { users[number] = nil }

    /// What all users but one have under way at an origin.
    func load(of origin: String, now: Double, but number: Int? = nil) -> ServerLimit.Load {
        users.reduce(ServerLimit.Load()) {
            $1.key == number ? $0 : $0 + $1.value.load(of: origin, now: now)
        }
    }

    // MARK: Servers that count requests

    /// Has a request to an origin go out, if one may.
    ///
    /// - Returns: Seconds until one may; 0 when it goes out now.
    func takeTurn(at origin: String, now: Double) -> Double {
        guard let delay = quotas[origin]?.delay(now: now) else { return 0 }
        if delay <= 0 { quotas[origin]?.asked(now: now) }
        return delay
    }

    /// A request has its reply.
    func answered(_ origin: String, _ method: RequestMethod, _ status: Int) {
        let isServed = method == .get && (status == 200 || status == 206)
        quotas[origin]?.answered(isServed: isServed)
    }

    /// The limits that this session has learned.
    var learnedLimits: [String: Int] { limits.compactMapValues { $0.isNews ? $0.limit : nil } }
}
