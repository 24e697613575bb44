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
    /// The quotas of servers that count requests, as far as something is known of them.
    private var quotas: [String: RequestQuota] = [:]
    /// The user's bound on the requests to each server.
    package var maxRequests: RequestRate? {
        didSet { for origin in quotas.keys { quotas[origin]?.pace.limit(to: maxRequests) } }
    }
    /// The most requests to each server at a time; `nil` for no bound.
    package var mostActive: Int?
    /// The governors of the hosts' connections for the files of sets.
    package var hosts: [String: HostGovernor] = [:]
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

    /// The known facts about the requests that an origin allows; `nil` if nothing limits them.
    package subscript(quotaOf origin: String) -> RequestQuota? {
        get { quotas[origin] ?? maxRequests.map { RequestQuota(RequestPace($0)) } }
        set { quotas[origin] = newValue }
    }

    /// Returns the seconds of an origin's pause that is too long to keep a slot for; else `nil`.
    package func longRest(of origin: String, now: Double) -> Double? {
        self[quotaOf: origin]?.longRest(now: now, beside: load(of: origin, now: now).active)
    }

    /// Records that a request is sent to an origin, if it may be sent now.
    ///
    /// - Returns: The seconds until it may be sent; 0 if it is sent now.
    package func takeTurn(at origin: String, now: Double) -> Double {
        guard var quota = self[quotaOf: origin] else { return 0 }
        let delay = quota.delay(now: now, beside: load(of: origin, now: now).active)
        if delay <= 0 { quota.asked(now: now) } else { quota.waits(for: delay, now: now) }
        self[quotaOf: origin] = quota
        return delay
    }

    /// Records the quotas that a response states.
    ///
    /// - Parameters:
    ///   - quotas: The quotas; if there are none, nothing changes.
    ///   - origin: The origin of the response.
    ///   - isServed: Whether the response is not a refusal.
    ///   - unanswered: The number of other requests to the origin without a response.
    ///   - now: The monotonic time in seconds.
    package func stated(
        _ quotas: [StatedQuota], by origin: String, isServed: Bool,
        unanswered: @autoclosure () -> Int, now: Double
    ) {
        guard !quotas.isEmpty else { return }
        var quota = self[quotaOf: origin] ?? RequestQuota()
        quota.pace.stated(quotas, isServed: isServed, unanswered: unanswered(), now: now)
        self[quotaOf: origin] = quota
    }

    /// Records that an origin refused a request and demanded a wait of `seconds`.
    ///
    /// The wait then holds for all requests to the origin.
    ///
    /// - Parameters:
    ///   - origin: The origin.
    ///   - seconds: The wait.
    ///   - asked: The monotonic time at which the request was sent.
    ///   - served: The number of requests to the origin whose bodies are being received.
    ///   - now: The monotonic time in seconds.
    package func refused(
        by origin: String, for seconds: Double, asked: Double, served: Int, now: Double
    ) {
        var quota = self[quotaOf: origin] ?? RequestQuota()
        quota.pace.refused(for: seconds, asked: asked, served: served, now: now)
        self[quotaOf: origin] = quota
    }

    /// Records a response to a request.
    package func answered(_ origin: String, _ method: RequestMethod, _ status: Int) {
        let isServed = method == .get && (status == 200 || status == 206)
        self[quotaOf: origin]?.answered(isServed: isServed)
    }

    /// The limits that this session has learned, by origin.
    package var learnedLimits: [String: Int] {
        limits.compactMapValues { $0.isNews ? $0.limit : nil }
    }
}
