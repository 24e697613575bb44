import Assembler

/// Second requests for the rests of segments, at the end of a file that hangs on one connection.
///
/// Their bodies are kept in memory until they are whole: every byte has one writer, and what nobody needs
/// in the end was never written.
struct Hedges {
    /// A second request for the rest of a segment.
    struct Hedge {
        var origin: String
        var range: ByteRange
        /// Whether the request that it may overtake is over.
        var isLate = false
        /// Whether its reply left out the date which the version is known by.
        var isUndated = false
        /// What its bytes must have.
        var digest: Digest?
    }

    /// Decides when.
    private var hedging: Hedging
    /// Those under way, by the connection that has the first one.
    private var sent: [Int: Hedge] = [:]

    /// - Parameter size: Of the file, in bytes.
    init(size: Int64) { hedging = Hedging(size: size) }

    var count: Int { sent.count }
    /// The connections whose rests are asked for a second time.
    var connections: [Int] { sent.keys.sorted() }
    /// Those whose own request is over.
    var late: [Int] { sent.filter(\.value.isLate).keys.sorted() }

    /// Second requests under way at an origin.
    func asking(_ origin: String) -> Int { sent.values.count { $0.origin == origin } }

    /// Chooses whose rests are asked for a second time.
    ///
    /// - Parameters:
    ///   - free: Connections that have nothing to do.
    ///   - slots: All connections.
    ///   - sources: Their servers.
    ///   - scheduler: What is left to each of them.
    ///   - open: The servers that may be asked for more.
    ///   - facts: The present moment.
    /// - Returns: The connections whose they are.
    mutating func choose(
        free: Int, _ slots: Slots, _ sources: Sources, _ scheduler: SegmentScheduler,
        open: Set<Int>, _ facts: some FetchFacts
    ) -> [Int] {
        var connections: [Int: Hedging.Connection] = [:]
        for (index, slot) in slots.enumerated() where slot.sample == nil && sent[index] == nil {
            guard let state = facts.state(of: index),
                let rest = scheduler.segments[index]?.rest, open.contains(slot.source)
            else { continue }
            connections[index] = Hedging.Connection(
                rest: rest.count, rate: scheduler.rates[index], quiet: state.quiet,
                isAnswered: slot.request.body != nil,
                longestTimeToFirstByte: sources[slot.source].longestTimeToFirstByte)
        }
        return hedging.choose(
            connections, free: free - sent.count, roundTrip: scheduler.roundTrip)
    }

    /// A second request goes out.
    mutating func send(_ index: Int, to origin: String, for range: ByteRange) {
        sent[index] = Hedge(origin: origin, range: range)
    }

    /// Judges the head of the reply to one.
    ///
    /// - Returns: How many bytes of it are kept; `nil` for none.
    mutating func judge(_ index: Int, _ head: FetchMachine.Head) -> Int64? {
        guard let rest = head.check.asked, head.check.verdict(on: head.reply) == .accept(rest)
        else {
            // What is wrong with it, the requests that count find out for themselves.
            giveUp()
            return nil
        }
        sent[index]?.isUndated = head.check.isUndated(head.reply)
        sent[index]?.digest = AdvertisedDigests.content(of: head.reply)
        return rest.count
    }

    /// One is over.
    ///
    /// - Returns: The request, if all of it has come; after any other none goes out.
    mutating func ended(_ index: Int, _ end: TransferEnd) -> Hedge? {
        guard let hedge = sent.removeValue(forKey: index) else { return nil }
        if end == .complete { return hedge }
        giveUp()
        return nil
    }

    /// No more go out: one has failed.
    mutating func giveUp() { hedging.giveUp() }

    /// A connection's own request is over: there is nothing to overtake any more.
    mutating func endRequest(_ index: Int) { sent[index]?.isLate = true }

    /// One is dropped.
    ///
    /// - Returns: Whether it was there.
    mutating func remove(_ index: Int) -> Bool { sent.removeValue(forKey: index) != nil }
}
