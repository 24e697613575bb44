import Assembler

/// All connections of a fetch: what they have under way together.
///
/// It knows what is said of each of them and of their servers, and asks where they are; it decides
/// nothing.
struct Slots: RandomAccessCollection, MutableCollection {
    /// Seconds without a byte after which a body does not count as being served.
    private static let longestPause = 2.0

    /// Bytes that each reads at a time where there are many: sixteen of them have their buffers in a MiB
    /// then, and none is so fast that it needs more.
    private static let bufferOfMany = 64 << 10

    private var all: [Slot]

    init(count: Int) { all = Array(repeating: Slot(), count: count) }

    var startIndex: Int { 0 }
    var endIndex: Int { all.count }
    subscript(index: Int) -> Slot {
        get { all[index] }
        // In place: the values hold texts and sets, which are not to be copied for each change.
        _modify { yield &all[index] }
    }

    /// Connections that have a request under way.
    var busy: Int { count { $0.isBusy } }
    /// Most bytes that each reads at a time; `nil` is the usual.
    var bufferSize: Int? { count >= ConnectionGovernor.many ? Self.bufferOfMany : nil }
    /// Whether the session's limit of rate holds one of them back.
    var isHeldBack: Bool { contains { $0.request.body != nil && $0.flow.isHeldBack } }
    /// Whether a body has come whole, or is to come, whose digest was not compared yet.
    var awaitProof: Bool { contains { $0.request.body?.proof != nil } }
    /// Whether some connection gets bytes of the file.
    var isServed: Bool { contains { $0.request.body != nil } }

    /// The connections that work for a server.
    func indices(of source: Int) -> [Int] { indices.filter { all[$0].source == source } }

    /// Whether some connection to the server gets its bytes: then one that is refused is perhaps only
    /// over the server's limit, and waits.
    func isServed(_ source: Int) -> Bool {
        contains { $0.source == source && $0.request.body != nil }
    }

    /// Has as many connections as are wanted.
    ///
    /// What has work ends it: giving up a reply costs what is on its way.
    mutating func resize(to count: Int, _ scheduler: inout SegmentScheduler, now: Double) {
        while all.count < count { all.append(Slot()) }
        while all.count > count, let last = all.last, !last.isBusy, last.sample == nil,
            scheduler.segments[all.count - 1] == nil
        {
            scheduler.measured(all.count - 1, rate: nil, now: now)
            all.removeLast()
        }
    }

    // MARK: What they bring

    /// Bytes that a connection has written of the present body.
    func written(_ index: Int, _ facts: some FetchFacts) -> Int64 {
        all[index].written(to: facts.position(of: index))
    }

    /// Bytes that all connections, or those of one server, have written of the present bodies.
    func written(from source: Int? = nil, _ facts: some FetchFacts) -> Int64 {
        var sum: Int64 = 0
        for index in indices where source == nil || all[index].source == source {
            sum += written(index, facts)
        }
        return sum
    }

    /// Measures what has come since the last tick.
    ///
    /// - Parameters:
    ///   - lastTick: When that was.
    ///   - scheduler: Counts the bytes as done.
    ///   - facts: The present moment.
    mutating func measure(
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

    /// Reports to the scheduler how fast the connections are, as far as that is known.
    ///
    /// - Parameters:
    ///   - scheduler: Who hears of it.
    ///   - sources: Their servers.
    ///   - used: How many connections are used: one that rests, because it is over the server's
    ///     limit, does not count.
    ///   - arrived: When something came last over any connection, at the earliest.
    ///   - now: The time.
    func report(
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

    /// The connections whose body flows, and that are held back by nobody on our side.
    ///
    /// - Parameters:
    ///   - sources: Their servers.
    ///   - facts: The present moment.
    /// - Returns: Those, with what they are compared by.
    func flowing(_ sources: Sources, _ facts: some FetchFacts) -> [Int: Rescue.Connection] {
        var flowing: [Int: Rescue.Connection] = [:]
        for (index, slot) in enumerated() {
            guard slot.request.body != nil, slot.rate > 0, !slot.flow.isHeldBack,
                let since = slot.flow.since, let state = facts.state(of: index),
                !state.isPaused, state.quiet < StallDetector.patience / 2
            else { continue }
            // Where there are several, what is slow may be the address.
            let isSpread = sources[slot.source].places.book != nil
            flowing[index] = Rescue.Connection(
                source: slot.source, address: isSpread ? slot.route?.address : nil,
                rate: slot.rate, age: facts.now - since)
        }
        return flowing
    }

    /// The connections that have a request under way, and those whose last one failed without a
    /// reply and that wait to try again.
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

    // MARK: What a server has with them

    /// Connections to a server that have a request under way, or wait after a failure.
    func asking(_ source: Int, now: Double) -> Int {
        count {
            $0.source == source && ($0.isBusy || $0.backoff.until > now && $0.backoff.failures > 0)
        }
    }

    /// What they have under way at an origin.
    func load(
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

    // MARK: What an address has

    /// The connections to a server's address.
    func indices(of source: Int, at address: String) -> [Int] {
        indices.filter { all[$0].source == source && all[$0].route?.address == address }
    }

    /// Whether something has come of the body of some reply from an address, beside one connection's.
    func isServing(
        _ address: String, of source: Int, but index: Int? = nil, _ facts: some FetchFacts
    ) -> Bool {
        indices(of: source, at: address).contains { $0 != index && written($0, facts) > 0 }
    }

    /// The connections that a server's addresses have, beside one of them, and what these bring.
    func loads(
        of source: Int, in book: AddressBook, but index: Int? = nil
    ) -> [String: AddressBook.Load] {
        var loads: [String: AddressBook.Load] = [:]
        var rates: [String: [Double]] = [:]
        for (other, slot) in enumerated() where slot.source == source && other != index {
            guard slot.isBusy || slot.isMade, let route = slot.route,
                route.origin == book.origin
            else { continue }
            // libcurl will have taken the first one that answered.
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

    /// How long nothing has come from an address, in seconds, by the connection for which that is
    /// longest; `nil` where it is serving, or has no request.
    ///
    /// Connections that are not made yet count too: other addresses wait to be used.
    func stallTime(of address: String, of source: Int, _ facts: some FetchFacts) -> Double? {
        guard !isServing(address, of: source, facts) else { return nil }
        return indices(of: source, at: address).filter { all[$0].sample == nil }
            .compactMap { facts.state(of: $0)?.quiet }.max()
    }
}
