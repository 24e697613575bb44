/// Decides which mirror a free connection uses.
///
/// Pure. The scheduler already sizes segments by the rate of each connection. This type moves
/// connections to the mirror with the higher rate per connection.
struct MirrorBalance {
    /// The use of one mirror.
    struct Share: Hashable {
        /// The number of its connections.
        var connections: Int
        /// The rate of one of its connections in bytes per second; `nil` if unknown.
        var rate: Double?
        /// Whether its bytes may be used already.
        var isProven: Bool
    }

    /// The factor by which a connection's expected rate must increase before it is moved.
    ///
    /// A new connection costs round trips, and measurements vary.
    static let gain = 1.5

    /// The mirrors in use, by their numbers.
    var shares: [Int: Share]

    /// Returns the mirror that a free connection should use.
    ///
    /// - Parameter current: The mirror that the connection used; its `connections` still include this
    ///   one. `nil` if the mirror is out of use.
    /// - Returns: A mirror, which may be `current`; `nil` if there is none.
    func place(from current: Int?) -> Int? {
        let mine = current.flatMap { shares[$0] }
        // A mirror keeps at least one connection, because its rate could not be measured without
        // one.
        if let mine, mine.connections < 2 { return current }
        let numbers = shares.keys.sorted()
        if let idle = numbers.first(where: { $0 != current && shares[$0]?.connections == 0 }) {
            return idle
        }
        let others = numbers.filter { $0 != current && shares[$0]?.isProven == true }
        // Among unmeasured mirrors, the one with the fewest connections is preferred.
        let best = others.max { (expected($0), -load($0), -$0) < (expected($1), -load($1), -$1) }
        guard let mine else { return best ?? numbers.min { load($0) < load($1) } }
        guard let best, let rate = mine.rate, expected(best) > Self.gain * rate else {
            return current
        }
        return best
    }

    /// Returns the initial number of connections of a mirror, from the total number.
    func fairShare(of connections: Int) -> Int {
        max(1, connections / max(1, shares.values.count { $0.isProven }))
    }

    /// Returns the mirror that gives a connection to `newcomer`: the one with the most, at least
    /// two.
    func donor(for newcomer: Int) -> Int? {
        let donors = shares.keys.filter { $0 != newcomer && load($0) > 1 }
        return donors.max { (load($0), $0) < (load($1), $1) }
    }

    private func load(_ number: Int) -> Int { shares[number]?.connections ?? 0 }

    /// Returns the expected rate of one more connection.
    ///
    /// The rate is somewhat lower than that of the existing ones, which may share the mirror's
    /// capacity.
    private func expected(_ number: Int) -> Double {
        guard let share = shares[number], let rate = share.rate else { return 0 }
        return rate * Double(share.connections) / Double(share.connections + 1)
    }
}
