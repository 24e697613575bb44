/// How many connections a fetch uses: a number that is given, or one that is found by the goodput.
struct Width {
    /// Part of the loop's time from which on more connections bring no more: it is busy with those
    /// that there are.
    private static let busy = 0.85

    /// The most that are used.
    private let most: Int
    /// Finds the number; `nil` when it is given.
    private var governor: ConnectionGovernor?

    /// - Parameters:
    ///   - setup: What is fetched, and how.
    ///   - roundTrip: Time to connect to the server, in seconds; `nil` when unknown.
    init(_ setup: FetchMachine.Setup, roundTrip: Double?) {
        most = setup.isLeftAlone ? 1 : setup.connections
        if setup.findsConnections, !setup.isLeftAlone {
            governor = ConnectionGovernor(
                most: most, isGiven: setup.isMostGiven, roundTrip: roundTrip)
        }
    }

    /// A number that is used from now on.
    struct News {
        var connections: Int
        /// What all of them bring together; `nil` when unknown.
        var bytesPerSecond: Double?
    }

    /// Whether the number is found: what the kernel says of the connections is needed then.
    var isFound: Bool { governor != nil }

    /// Connections that are used, where the file comes from so many servers: these want to be measured,
    /// and each keeps one at least.
    func count(servers: Int) -> Int {
        guard let governor else { return most }
        return min(most, max(governor.target, servers > 1 ? 2 * servers : 1))
    }

    /// Connections that are reckoned with for the size of their shares, where there are `count`.
    func expected(_ count: Int) -> Int {
        guard governor != nil else { return count }
        // Even one does not get all then: another may be tried at any time.
        return isSearching(count) ? most : max(2, count)
    }

    /// Whether the number is being found, and there are soon to be more than `count`: unless these are many already.
    func isSearching(_ count: Int) -> Bool {
        governor?.isSearching == true && count < ConnectionGovernor.many
    }

    /// Has the number follow the goodput; called once a tick, where it is found.
    ///
    /// - Parameters:
    ///   - received: Bytes that have come by now.
    ///   - remaining: Bytes that are to come; `nil` when unknown.
    ///   - used: Connections that have a request under way.
    ///   - isHeldBack: Whether something on our side holds the connections back.
    ///   - network: What is known of the way to the primary server.
    ///   - limit: Requests that it serves at a time, as far as that is known and nobody else serves.
    ///   - now: The time.
    /// - Returns: The number, if it is another one.
    mutating func step(
        received: Int64, remaining: Int64?, used: Int, isHeldBack: Bool,
        _ network: FetchMachine.NetworkState, limit: Int?, now: Double
    ) -> News? {
        guard let before = governor?.target else { return nil }
        // With all files that are fetched at a time no more than one alone may have.
        let share = max(1, min(most, ConnectionCount.automatic.most / max(1, network.downloads)))
        let sample = ConnectionGovernor.Sample(
            received: received, roundTrip: network.roundTrip, segments: network.segments,
            disordered: network.disordered, presentRoundTrip: network.presentRoundTrip,
            remaining: remaining, isHeldBack: isHeldBack || network.load >= Self.busy,
            // One more finds out, now and then, whether the server serves more by now.
            cap: limit.map { min(share, $0 + 1) } ?? share, used: used)
        let target = governor?.step(sample, now: now)
        guard let governor, target != before else { return nil }
        return News(connections: governor.target, bytesPerSecond: governor.measured)
    }
}
