/// The number of connections of a fetch: a given one, or one that follows the goodput.
package struct Width {
    /// The fraction of time that the loop is busy above which more connections do not help.
    static let busy = 0.85

    /// The maximum number of connections.
    private let most: Int
    /// Determines the number; `nil` if it is given.
    private var governor: ConnectionGovernor?
    /// The number that the host's governor grants this file of a set; `nil` for any other file.
    private var granted: Int?

    /// - Parameters:
    ///   - setup: The file, its servers and the options.
    ///   - roundTrip: The time to connect to the server, in seconds; `nil` when unknown.
    init(_ setup: FetchMachine.Setup, roundTrip: Double?) {
        most = setup.isLeftAlone ? 1 : setup.connections
        if setup.isOfSet, !setup.isLeftAlone {
            granted = 1
        } else if setup.findsConnections, !setup.isLeftAlone {
            governor = ConnectionGovernor(
                most: most, isGiven: setup.isMostGiven, roundTrip: roundTrip)
        }
    }

    /// A change of the number.
    package struct News {
        package var connections: Int
        /// The goodput of all connections together; `nil` when unknown.
        package var bytesPerSecond: Double?
    }

    /// Whether the number follows the goodput.
    ///
    /// The governor then needs TCP statistics from the kernel.
    package var isFound: Bool { governor != nil || granted != nil }
    /// Whether the host's governor determines the number.
    var isGranted: Bool { granted != nil }

    /// Returns the number of connections to use.
    ///
    /// With several servers, the number is at least twice theirs, so that each keeps a connection
    /// and can be measured.
    package func count(servers: Int) -> Int {
        if let granted { return min(most, max(1, granted)) }
        guard let governor else { return most }
        return min(most, max(governor.target, servers > 1 ? 2 * servers : 1))
    }

    /// Returns the number of connections to expect when shares are cut, if there are `count` at
    /// present.
    package func expected(_ count: Int) -> Int {
        guard governor != nil else { return count }
        // Even a single connection does not receive everything, because another one may be tried at
        // any time.
        return isSearching(count) ? most : max(2, count)
    }

    /// Sets the number that the host's governor grants.
    mutating func grant(_ number: Int) { granted = number }

    /// Returns whether the number is still being increased, and `count` is not high already.
    func isSearching(_ count: Int) -> Bool {
        governor?.isSearching == true && count < ConnectionGovernor.many
    }

    /// Adapts the number to the goodput.
    ///
    /// Called at each tick.
    ///
    /// - Parameters:
    ///   - received: The number of bytes received so far.
    ///   - remaining: The number of bytes that remain; `nil` when unknown.
    ///   - used: The number of connections with a request in flight.
    ///   - isHeldBack: Whether something on this side delays the connections.
    ///   - network: Facts about the path to the primary server.
    ///   - limit: The primary server's known limit of simultaneous requests; `nil` if there are
    ///     other servers.
    ///   - now: The time.
    /// - Returns: The change; `nil` for none.
    package mutating func step(
        received: Int64, remaining: Int64?, used: Int, isHeldBack: Bool,
        _ network: FetchMachine.NetworkState, limit: Int?, now: Double
    ) -> News? {
        guard let before = governor?.target else { return nil }
        // All active downloads together use no more connections than a single one may.
        let share = max(1, min(most, ConnectionCount.automatic.most / max(1, network.downloads)))
        let sample = ConnectionGovernor.Sample(
            received: received, roundTrip: network.roundTrip, segments: network.segments,
            disordered: network.disordered, presentRoundTrip: network.presentRoundTrip,
            remaining: remaining, isHeldBack: isHeldBack || network.load >= Self.busy,
            // One connection above the limit tests whether the limit has risen.
            cap: limit.map { min(share, $0 + 1) } ?? share, used: used)
        let target = governor?.step(sample, now: now)
        guard let governor, target != before else { return nil }
        return News(connections: governor.target, bytesPerSecond: governor.measured)
    }
}
