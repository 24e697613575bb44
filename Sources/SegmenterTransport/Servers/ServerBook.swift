// Servers: facts about servers, shared by all code that sends requests. This folder knows origins
// and what they have shown. It sends no requests and knows no files.

/// A sender of requests, whose active requests count towards the servers' limits.
///
/// Used on the loop thread.
package protocol ServerUser: AnyObject {
    /// Returns the requests that it has at an origin.
    func load(of origin: String, now: Double) -> ServerLimit.Load
}

/// The known facts about the servers of one loop, by origin.
///
/// Used on the loop thread.
package final class ServerBook {
    /// The number of requests that servers serve at a time, for servers that have refused one.
    package var limits: [String: ServerLimit] = [:]
    /// The quotas of servers that count requests.
    package var quotas: [String: RequestQuota] = [:]
    /// The meaning of 403 for each host.
    package var forbidding: [String: Forbidding] = [:]
    /// The addresses of hosts.
    package var addresses = HostAddresses()
    /// The hosts that have served something, and those that were given up.
    package var contacts = HostContacts()
    /// The shortest time to connect to each origin, in seconds.
    package private(set) var roundTrips: [String: Double] = [:]
    /// The senders of requests, by number.
    private var users: [Int: any ServerUser] = [:]

    /// Records the time that connecting to an origin took, in seconds.
    package func connected(to origin: String, in seconds: Double) {
        roundTrips[origin] = min(roundTrips[origin] ?? .infinity, seconds)
    }

    /// Counts the requests of a user until `leave` is called with the same number.
    package func join(_ user: any ServerUser, as number: Int) { users[number] = user }

    /// Stops counting the requests of a user.
    package func leave(_ number: Int) { users[number] = nil }

    /// Returns the requests of all users but one at an origin.
    package func load(of origin: String, now: Double, but number: Int? = nil) -> ServerLimit.Load {
        users.reduce(ServerLimit.Load()) {
            $1.key == number ? $0 : $0 + $1.value.load(of: origin, now: now)
        }
    }

    // MARK: Servers that count requests

    /// Records that a request is sent to an origin, if it may be sent now.
    ///
    /// - Returns: The seconds until it may be sent; 0 if it is sent now.
    package func takeTurn(at origin: String, now: Double) -> Double {
        guard let delay = quotas[origin]?.delay(now: now) else { return 0 }
        if delay <= 0 { quotas[origin]?.asked(now: now) }
        return delay
    }

    /// Records a response to a request.
    package func answered(_ origin: String, _ method: RequestMethod, _ status: Int) {
        let isServed = method == .get && (status == 200 || status == 206)
        quotas[origin]?.answered(isServed: isServed)
    }

    /// The limits that this session has learned, by origin.
    package var learnedLimits: [String: Int] {
        limits.compactMapValues { $0.isNews ? $0.limit : nil }
    }
}
