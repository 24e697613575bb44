/// All connections of a fetch, and sums over them.
///
/// The sums use the state of connections and servers, and the writers' offsets from `FetchFacts`.
/// No decisions are made here.
package struct Slots: RandomAccessCollection, MutableCollection {
    /// The time without a byte, in seconds, after which a body no longer counts as being served.
    private static let longestPause = 2.0

    /// The receive buffer, in bytes, if there are many connections.
    ///
    /// Sixteen buffers fit in 1 MiB then, and no single connection is fast enough to need more.
    private static let bufferOfMany = 64 << 10

    private var all: [Slot]

    init(count: Int) { all = Array(repeating: Slot(), count: count) }

    package var startIndex: Int { 0 }
    package var endIndex: Int { all.count }
    package subscript(index: Int) -> Slot {
        get { all[index] }
        // Modifies in place, so that the strings and sets of a connection are not copied at each
        // change.
        _modify { yield &all[index] }
    }

    /// The number of connections with a request in flight.
    package var busy: Int { count { $0.isBusy } }
    /// The size of the receive buffer of each connection, in bytes; `nil` for the default.
    package var bufferSize: Int? { count >= ConnectionGovernor.many ? Self.bufferOfMany : nil }
    /// Whether the rate limit delays a connection.
    var isHeldBack: Bool { contains { $0.request.body != nil && $0.flow.isHeldBack } }
    /// Whether a body has a digest that was not compared yet.
    var awaitProof: Bool { contains { $0.request.body?.proof != nil } }
    /// Whether a connection is receiving bytes of the file.
    package var isServed: Bool { contains { $0.request.body != nil } }

    /// Returns the connections that use a server.
    package func indices(of source: Int) -> [Int] { indices.filter { all[$0].source == source } }

    /// Returns whether a connection is receiving bytes from a server.
    ///
    /// If so, a refusal of another connection may only mean that the server is at its limit.
    package func isServed(_ source: Int) -> Bool {
        contains { $0.source == source && $0.request.body != nil }
    }

    /// Adds or removes connections to reach a number.
    ///
    /// A connection with work remains until it is idle: giving up a response would waste the bytes
    /// in flight.
    mutating func resize(to count: Int, _ scheduler: inout SegmentScheduler, now: Double) {
        while all.count < count { all.append(Slot()) }
        while all.count > count, let last = all.last, !last.isBusy, last.sample == nil,
            scheduler.segments[all.count - 1] == nil
        {
            scheduler.measured(all.count - 1, rate: nil, now: now)
            all.removeLast()
        }
    }

    // MARK: Bytes and rates

    /// Returns the number of bytes of the present body that a connection has written.
    package func written(_ index: Int, _ facts: some FetchFacts) -> Int64 {
        all[index].written(to: facts.position(of: index))
    }

    /// Returns the number of bytes of the present bodies that all connections, or those of one
    /// server, have written.
    package func written(from source: Int? = nil, _ facts: some FetchFacts) -> Int64 {
        var sum: Int64 = 0
        for index in indices where source == nil || all[index].source == source {
            sum += written(index, facts)
        }
        return sum
    }

    /// Measures the bytes received since the last tick.
    ///
    /// - Parameters:
    ///   - lastTick: The time of the last tick.
    ///   - scheduler: The scheduler, which counts the bytes as done.
    ///   - facts: The current facts.
    package mutating func measure(
        since lastTick: Double, _ scheduler: inout SegmentScheduler, _ facts: some FetchFacts
    ) {
        for index in indices where all[index].request.body != nil {
            guard let position = facts.position(of: index) else { continue }
            let isHeldBack = facts.takeHeldBack(index)
            scheduler.advance(index, to: position)
            all[index].flow.measure(
                at: position, isHeldBack: isHeldBack, since: lastTick,
                roundTrip: scheduler.roundTrip, now: facts.now)
        }
    }

    /// Reports the known rates of the connections to the scheduler.
    ///
    /// - Parameters:
    ///   - scheduler: The scheduler.
    ///   - sources: The servers.
    ///   - used: The number of connections in use. An idle connection beyond it has no rate.
    ///   - arrived: The earliest time at which the last byte on any connection may have arrived.
    ///   - now: The time.
    package func report(
        _ scheduler: inout SegmentScheduler, _ sources: Sources, used: Int, arrived: Double,
        now: Double
    ) {
        for (index, slot) in enumerated() {
            let limit = sources[slot.source].stallLimit
            let rate =
                slot.isBusy || index < used
                ? slot.knownRate(stallLimit: limit, arrived: arrived, now: now) : nil
            scheduler.measured(index, rate: rate, now: now)
        }
        scheduler.asOf = now
    }

    /// Returns the connections that are receiving a body and that nothing on this side delays.
    ///
    /// - Parameters:
    ///   - sources: The servers.
    ///   - facts: The current facts.
    /// - Returns: The connections, with the values by which `Rescue` compares them.
    func flowing(_ sources: Sources, _ facts: some FetchFacts) -> [Int: Rescue.Connection] {
        var flowing: [Int: Rescue.Connection] = [:]
        for (index, slot) in enumerated() {
            guard slot.request.body != nil, slot.rate > 0, !slot.flow.isHeldBack,
                let since = slot.flow.since, let state = facts.state(of: index),
                !state.isPaused, state.quiet < StallDetector.patience / 2
            else { continue }
            // If a host has several addresses, the address may be the slow part.
            let isSpread = sources[slot.source].places.book != nil
            flowing[index] = Rescue.Connection(
                source: slot.source, address: isSpread ? slot.route?.address : nil,
                rate: slot.rate, age: facts.now - since)
        }
        return flowing
    }

    /// Returns the connections with a request in flight, and those that wait to retry after a
    /// failure without a response.
    func stalledOrNot(
        _ sources: Sources, _ facts: some FetchFacts
    ) -> [Int: StallDetector.Connection] {
        var connections: [Int: StallDetector.Connection] = [:]
        for (index, slot) in enumerated() where slot.sample == nil {
            if let state = facts.state(of: index) {
                connections[index] = StallDetector.Connection(
                    quiet: state.quiet, isAnswered: state.isAnswered,
                    isConnected: state.isConnected,
                    longestTimeToFirstByte: sources[slot.source].longestTimeToFirstByte)
            } else if slot.waitsForNetwork(facts.now) {
                connections[index] = StallDetector.Connection(
                    quiet: .infinity, isAnswered: false, isConnected: false)
            }
        }
        return connections
    }

    // MARK: Connections of a server

    /// Returns the number of connections to a server that have a request in flight, or wait after a
    /// failure.
    package func asking(_ source: Int, now: Double) -> Int {
        count {
            $0.source == source && ($0.isBusy || $0.backoff.until > now && $0.backoff.failures > 0)
        }
    }

    /// Returns the requests at an origin: served, unanswered and waiting to be retried.
    package func load(
        at origin: String, _ sources: Sources, _ facts: some FetchFacts
    ) -> ServerLimit.Load {
        var load = ServerLimit.Load()
        for (index, slot) in enumerated() where sources[slot.source].origin == origin {
            if let state = facts.state(of: index) {
                let isFlowing = state.pause < Self.longestPause
                if slot.isTaken, isFlowing { load.served += 1 } else { load.asking += 1 }
            } else if slot.backoff.until > facts.now, !slot.backoff.isOverLimit {
                load.waiting += 1
            }
        }
        return load
    }

    // MARK: Connections of an address

    /// Returns the connections to an address of a server.
    package func indices(of source: Int, at address: String) -> [Int] {
        indices.filter { all[$0].source == source && all[$0].route?.address == address }
    }

    /// Returns whether any connection to an address, except `index`, has received bytes of its
    /// present body.
    func isServing(
        _ address: String, of source: Int, but index: Int? = nil, _ facts: some FetchFacts
    ) -> Bool {
        indices(of: source, at: address).contains { $0 != index && written($0, facts) > 0 }
    }

    /// Returns the number of connections to each address of a server, except `index`, and their
    /// mean rate.
    func loads(
        of source: Int, in book: AddressBook, but index: Int? = nil
    ) -> [String: AddressBook.Load] {
        var loads: [String: AddressBook.Load] = [:]
        var rates: [String: [Double]] = [:]
        for (other, slot) in enumerated() where slot.source == source && other != index {
            guard slot.isBusy || slot.isMade, let route = slot.route,
                route.origin == book.origin
            else { continue }
            // libcurl has probably chosen the first address that answered.
            let address = route.address ?? book.addresses.first ?? ""
            loads[address, default: .init()].connections += 1
            if slot.rate > 0, !slot.flow.isHeldBack {
                rates[address, default: []].append(slot.rate)
            }
        }
        for (address, rates) in rates {
            loads[address]?.rate = rates.reduce(0, +) / Double(rates.count)
        }
        return loads
    }

    /// Returns the longest time without a byte on a connection to an address, in seconds.
    ///
    /// The result is `nil` if the address is serving a connection, or has no request. Connections
    /// that are not established yet count too, because other addresses are available.
    func stallTime(of address: String, of source: Int, _ facts: some FetchFacts) -> Double? {
        guard !isServing(address, of: source, facts) else { return nil }
        return indices(of: source, at: address).filter { all[$0].sample == nil }
            .compactMap { facts.state(of: $0)?.quiet }.max()
    }
}
