/// The addresses of one host: which of them a new connection goes to, and which are left for a while.
///
/// Pure: time is an argument, in seconds.
///
/// An address is *good* until something fails there, or its connections are slow. Then it is left, each
/// time for twice as long. When that time is over, one connection tries it: it is good again when it
/// has served, or, if it was slow, when it is not slow any more. Where no address is good, those that
/// are left are tried in turn.
struct AddressBook: Sendable {
    /// How much slower than the median of the others' connections those of an address are to be.
    static let factor = 3.0
    /// Time that they are slow for: seconds, and round trips beyond those.
    static let patience = (seconds: 0.5, trips: 10.0)
    /// Seconds for which an address is left when that happens for the first time.
    static let absence = 30.0
    /// Most seconds for which one is left.
    static let longestAbsence = 960.0

    /// What an address has at present.
    struct Load: Hashable, Sendable {
        /// Connections that are open, or being made.
        var connections = 0
        /// What one of them brings, in bytes per second; `nil` when unknown.
        var rate: Double?
    }

    /// An address whose connections are slow.
    struct Laggard: Hashable, Sendable {
        var address: String
        /// What one of its connections brings, in bytes per second.
        var rate: Double
        /// The median of the others' connections, in bytes per second.
        var peers: Double
    }

    private struct Entry {
        var isUsed = false
        /// When the present absence is over; `nil` for one that is good.
        var leftUntil: Double?
        /// Whether it was left for being slow: that it serves proves nothing then.
        var isSlow = false
        var absences = 0
        /// When it was last left.
        var leftAt = -Double.infinity
        /// Until when it has asked to be left.
        var restsUntil = -Double.infinity
        var slowSince: Double?
    }

    /// The origin that the addresses are of: nothing else may be asked there.
    let origin: String
    /// All of them, in the order of preference.
    let addresses: [String]
    private var entries: [String: Entry] = [:]

    /// Makes a book of good addresses.
    init(origin: String, addresses: [String]) {
        self.origin = origin
        self.addresses = addresses
        for address in addresses { entries[address] = Entry() }
    }

    /// Whether an address is good.
    func isGood(_ address: String) -> Bool {
        entries[address].map { $0.leftUntil == nil } ?? false
    }

    /// Whether another address than this one is good.
    func hasOther(than address: String) -> Bool {
        addresses.contains { $0 != address && isGood($0) }
    }

    // MARK: Where to go

    /// The address that a new connection goes to.
    ///
    /// - Parameters:
    ///   - loads: By address; those without an entry have nothing.
    ///   - last: The address that the connection before it led to: another one is preferred.
    ///   - now: The time.
    /// - Returns: The address; `nil` only where there is none at all.
    func choose(_ loads: [String: Load], instead last: String? = nil, now: Double) -> String? {
        func connections(_ address: String) -> Int { loads[address]?.connections ?? 0 }
        let left = addresses.filter { !isGood($0) }
        let isDue = left.first { end(of: $0) <= now && connections($0) == 0 && $0 != last }
        if let isDue { return isDue }
        var good = addresses.filter(isGood)
        guard !good.isEmpty else {
            // In turn: how long one is left says nothing when all are. But who asked for that is
            // asked last.
            func turn(_ address: String) -> (Int, Int, Int, Double) {
                let entry = entries[address] ?? Entry()
                return (
                    entry.restsUntil > now ? 1 : 0, address == last ? 1 : 0, connections(address),
                    entry.leftAt
                )
            }
            return left.min { turn($0) < turn($1) }
        }
        if good.count > 1 { good.removeAll { $0 == last } }
        // Where one more connection has the most, if each address has so much to give.
        let known = good.compactMap { loads[$0]?.rate }
        let average = known.isEmpty ? 1 : known.reduce(0, +) / Double(known.count)
        func cost(_ address: String) -> Double {
            Double(connections(address) + 1)
                / max(loads[address]?.rate ?? average, .leastNonzeroMagnitude)
        }
        return good.min { cost($0) < cost($1) }
    }

    private func end(of address: String) -> Double { entries[address]?.leftUntil ?? 0 }

    /// Notes that a connection goes to an address.
    ///
    /// - Returns: Whether it is the first one.
    mutating func use(_ address: String) -> Bool {
        defer { entries[address]?.isUsed = true }
        return entries[address]?.isUsed == false
    }

    // MARK: What happened there

    /// Bytes of the file have come from an address.
    mutating func served(_ address: String) {
        if entries[address]?.isSlow == false { entries[address]?.leftUntil = nil }
    }

    /// Something failed at an address.
    ///
    /// - Parameters:
    ///   - address: Of those in the book.
    ///   - atLeast: Seconds for which it wants to be left.
    ///   - now: The time.
    /// - Returns: Whether it is left from now on, and was not before.
    mutating func leave(_ address: String, atLeast: Double = 0, now: Double) -> Bool {
        leave(address, isSlow: false, atLeast: atLeast, now)
    }

    private mutating func leave(
        _ address: String, isSlow: Bool, atLeast: Double = 0, _ now: Double
    ) -> Bool {
        guard var entry = entries[address] else { return false }
        defer { entries[address] = entry }
        let wasGood = entry.leftUntil == nil
        // Connections that were under way together fail together: that is one time.
        if entry.leftUntil ?? now <= now { entry.absences += 1 }
        let absence = Self.absence * Double(1 << min(entry.absences - 1, 10))
        let end = now + max(atLeast, min(Self.longestAbsence, absence))
        entry.leftUntil = max(entry.leftUntil ?? end, end)
        entry.leftAt = now
        if atLeast > 0 { entry.restsUntil = max(entry.restsUntil, now + atLeast) }
        entry.isSlow = isSlow
        entry.slowSince = nil
        return wasGood
    }

    /// Compares what the connections of each address bring; called about every 100 ms.
    ///
    /// - Parameters:
    ///   - rates: Bytes per second of the connections that flow and have had the time to find their
    ///     speed, by address.
    ///   - roundTrip: Seconds from a request to its first byte.
    ///   - now: The time.
    /// - Returns: The addresses that are left from now on; never all that are good.
    mutating func step(_ rates: [String: [Double]], roundTrip: Double, now: Double) -> [Laggard] {
        let patience = Self.patience.seconds + Self.patience.trips * roundTrip
        var laggards: [Laggard] = []
        for address in addresses {
            let others = addresses.filter { $0 != address && isGood($0) }
                .flatMap { rates[$0] ?? [] }.sorted()
            // Of one that is left, what is still open comes to its end.
            guard let mine = rates[address], !mine.isEmpty, !others.isEmpty,
                isGood(address) || end(of: address) <= now
            else {
                entries[address]?.slowSince = nil
                continue
            }
            let rate = mine.reduce(0, +) / Double(mine.count)
            let median = others[others.count / 2]
            guard rate * Self.factor < median else {
                entries[address]?.slowSince = nil
                becomeGood(address)
                continue
            }
            let since = entries[address]?.slowSince ?? now
            entries[address]?.slowSince = since
            if now - since >= patience {
                _ = leave(address, isSlow: true, now)
                laggards.append(Laggard(address: address, rate: rate, peers: median))
            }
        }
        return laggards
    }

    private mutating func becomeGood(_ address: String) {
        entries[address]?.leftUntil = nil
        entries[address]?.isSlow = false
    }
}
