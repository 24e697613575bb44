/// Decides which mirror a free connection works for.
///
/// Pure. Within what a mirror's connections get, the scheduler's shares follow their rates anyway;
/// here connections move towards the mirror where each of them brings more.
struct MirrorBalance {
    /// One mirror, as far as it is in use.
    struct Share: Hashable {
        /// Connections that it has.
        var connections: Int
        /// Speed of one of its connections in bytes per second, `nil` when unknown.
        var rate: Double?
        /// Whether its bytes may be used already.
        var isProven: Bool
    }

    /// How much more a connection must be expected to bring elsewhere to be moved: a new connection
    /// costs round trips, and measurements waver.
    static let gain = 1.5

    /// The mirrors in use, by number.
    var shares: [Int: Share]

    /// Where a free connection goes.
    ///
    /// - Parameter current: The mirror that it worked for, `nil` when that is out of use; counted
    ///   among its connections.
    /// - Returns: A mirror, perhaps the same; `nil` when there is none.
    func place(from current: Int?) -> Int? {
        let mine = current.flatMap { shares[$0] }
        // A mirror keeps one connection at least, or nothing more would be learnt of it.
        if let mine, mine.connections < 2 { return current }
        let numbers = shares.keys.sorted()
        if let idle = numbers.first(where: { $0 != current && shares[$0]?.connections == 0 }) {
            return idle
        }
        let others = numbers.filter { $0 != current && shares[$0]?.isProven == true }
        // Among those that are not measured yet, the one with the fewest connections.
        let best = others.max { (expected($0), -load($0), -$0) < (expected($1), -load($1), -$1) }
        guard let mine else { return best ?? numbers.min { load($0) < load($1) } }
        guard let best, let rate = mine.rate, expected(best) > Self.gain * rate else {
            return current
        }
        return best
    }

    /// Connections that a mirror should have at first, of so many in all.
    func fairShare(of connections: Int) -> Int {
        max(1, connections / max(1, shares.values.count { $0.isProven }))
    }

    /// The mirror that gives a connection away to `newcomer`: the one with most, if it keeps one.
    func donor(for newcomer: Int) -> Int? {
        let donors = shares.keys.filter { $0 != newcomer && load($0) > 1 }
        return donors.max { (load($0), $0) < (load($1), $1) }
    }

    private func load(_ number: Int) -> Int { shares[number]?.connections ?? 0 }

    /// What one more connection would bring: somewhat less than those that are there, since they may
    /// share what the mirror can give.
    private func expected(_ number: Int) -> Double {
        guard let share = shares[number], let rate = share.rate else { return 0 }
        return rate * Double(share.connections) / Double(share.connections + 1)
    }
}
