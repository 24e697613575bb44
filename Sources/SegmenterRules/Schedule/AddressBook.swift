/// The addresses of one host: which of them new connections use, and which are avoided for a time.
///
/// Pure: time is an argument, in seconds.
///
/// An address is *good* until a request fails there, or its connections are slow. After that it is
/// avoided, each time for twice as long. When that time is over, one connection tries the address.
/// It is good again when it has served bytes, or, if it was slow, when it is no longer slow. If no
/// address is good, the avoided ones are tried in rotation.
package struct AddressBook: Sendable {
    /// The factor by which the connections of a slow address are below the median of the others.
    package static let factor = 3.0
    /// The time for which they must be slow: seconds, plus this number of round trips.
    package static let patience = (seconds: 0.5, trips: 10.0)
    /// The seconds for which an address is avoided the first time.
    static let absence = 30.0
    /// The longest time for which an address is avoided, in seconds.
    static let longestAbsence = 960.0

    /// The present load of an address.
    package struct Load: Hashable, Sendable {
        /// The number of connections that are open or being established.
        package var connections = 0
        /// The rate of one of them in bytes per second; `nil` when unknown.
        package var rate: Double?

        package init(connections: Int = 0, rate: Double? = nil) {
            self.connections = connections
            self.rate = rate
        }
    }

    /// An address whose connections are slow.
    package struct Laggard: Hashable, Sendable {
        package var address: String
        /// The mean rate of its connections, in bytes per second.
        package var rate: Double
        /// The median rate of the others' connections, in bytes per second.
        package var peers: Double
    }

    private struct Entry {
        var isUsed = false
        /// The time until which the address is avoided; `nil` if it is good.
        var leftUntil: Double?
        /// Whether it is avoided for being slow, so that received bytes do not make it good.
        var isSlow = false
        var absences = 0
        /// The time at which it was last avoided.
        var leftAt = -Double.infinity
        /// The time until which the server asked to receive no requests.
        var restsUntil = -Double.infinity
        var slowSince: Double?
    }

    /// The origin of the addresses; they are not used for any other.
    package let origin: String
    /// All addresses, in the order of preference.
    package let addresses: [String]
    private var entries: [String: Entry] = [:]

    /// Creates a book in which all addresses are good.
    init(origin: String, addresses: [String]) {
        self.origin = origin
        self.addresses = addresses
        for address in addresses { entries[address] = Entry() }
    }

    /// Returns whether an address is good.
    package func isGood(_ address: String) -> Bool {
        entries[address].map { $0.leftUntil == nil } ?? false
    }

    /// Returns whether an address other than this one is good.
    func hasOther(than address: String) -> Bool {
        addresses.contains { $0 != address && isGood($0) }
    }

    // MARK: Choosing an address

    /// Returns the address for a new connection.
    ///
    /// - Parameters:
    ///   - loads: The loads by address; an address without an entry has no connections.
    ///   - last: The address of the previous connection; another one is preferred.
    ///   - now: The time.
    /// - Returns: The address; `nil` only if there are no addresses.
    package func choose(_ loads: [String: Load], instead last: String? = nil, now: Double)
        -> String?
    {
        func connections(_ address: String) -> Int { loads[address]?.connections ?? 0 }
        let left = addresses.filter { !isGood($0) }
        let isDue = left.first { end(of: $0) <= now && connections($0) == 0 && $0 != last }
        if let isDue { return isDue }
        var good = addresses.filter(isGood)
        guard !good.isEmpty else {
            // In rotation: if all addresses are avoided, the remaining times do not matter. An
            // address that asked to receive no requests is last.
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
        // Choose the address with the highest expected rate for one more connection, assuming that
        // an address divides its total rate among its connections.
        let known = good.compactMap { loads[$0]?.rate }
        let average = known.isEmpty ? 1 : known.reduce(0, +) / Double(known.count)
        func cost(_ address: String) -> Double {
            Double(connections(address) + 1)
                / max(loads[address]?.rate ?? average, .leastNonzeroMagnitude)
        }
        return good.min { cost($0) < cost($1) }
    }

    private func end(of address: String) -> Double { entries[address]?.leftUntil ?? 0 }

    /// Records that a connection uses an address.
    ///
    /// - Returns: Whether this is the first connection to the address.
    package mutating func use(_ address: String) -> Bool {
        defer { entries[address]?.isUsed = true }
        return entries[address]?.isUsed == false
    }

    // MARK: Events

    /// Records that bytes of the file were received from an address.
    package mutating func served(_ address: String) {
        if entries[address]?.isSlow == false { entries[address]?.leftUntil = nil }
    }

    /// Records that a request failed at an address.
    ///
    /// - Parameters:
    ///   - address: One of the book's addresses.
    ///   - atLeast: The seconds for which the server asks to receive no requests.
    ///   - now: The time.
    /// - Returns: Whether the address was good until now.
    package mutating func leave(_ address: String, atLeast: Double = 0, now: Double) -> Bool {
        leave(address, isSlow: false, atLeast: atLeast, now)
    }

    private mutating func leave(
        _ address: String, isSlow: Bool, atLeast: Double = 0, _ now: Double
    ) -> Bool {
        guard var entry = entries[address] else { return false }
        defer { entries[address] = entry }
        let wasGood = entry.leftUntil == nil
        // Simultaneous connections fail together. Count that only once.
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

    /// Compares the rates of the addresses' connections; called about every 100 ms.
    ///
    /// - Parameters:
    ///   - rates: By address, the rates of connections that receive bytes and have completed slow
    ///     start, in bytes per second.
    ///   - roundTrip: The seconds from a request to its first byte.
    ///   - now: The time.
    /// - Returns: The addresses that are avoided from now on; never all of the good ones.
    package mutating func step(_ rates: [String: [Double]], roundTrip: Double, now: Double)
        -> [Laggard]
    {
        let patience = Self.patience.seconds + Self.patience.trips * roundTrip
        var laggards: [Laggard] = []
        for address in addresses {
            let others = addresses.filter { $0 != address && isGood($0) }
                .flatMap { rates[$0] ?? [] }.sorted()
            // The connections of an avoided address finish their responses, and are not compared.
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
