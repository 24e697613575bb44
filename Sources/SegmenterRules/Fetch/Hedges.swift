/// The hedges of a fetch: second requests for late bytes at the end of the file.
///
/// Their bodies stay in memory until they are complete. Each byte of the file thus has one writer,
/// and bytes that turn out to be unneeded are never written.
package struct Hedges {
    /// A second request for the remaining bytes of a segment.
    package struct Hedge {
        package var origin: String
        package var range: ByteRange
        /// Whether the first request has ended, so that the hedge is useless.
        package var isLate = false
        /// Whether its response lacked the `Last-Modified` date that identifies the version.
        package var isUndated = false
        /// The digest that its bytes must match.
        package var digest: Digest?
    }

    /// Decides when to send hedges.
    private var hedging: Hedging
    /// The hedges in flight, by the connection of the first request.
    private var sent: [Int: Hedge] = [:]

    /// - Parameter size: The size of the file, in bytes.
    init(size: Int64) { hedging = Hedging(size: size) }

    package var count: Int { sent.count }
    /// The connections that have a hedge.
    package var connections: [Int] { sent.keys.sorted() }
    /// The connections whose first request has ended.
    package var late: [Int] { sent.filter(\.value.isLate).keys.sorted() }

    /// Returns the number of hedges in flight at an origin.
    package func asking(_ origin: String) -> Int { sent.values.count { $0.origin == origin } }

    /// Chooses the connections whose remaining bytes are requested a second time.
    ///
    /// - Parameters:
    ///   - free: The number of idle connections.
    ///   - slots: All connections.
    ///   - sources: The servers.
    ///   - scheduler: The scheduler, which knows the remaining bytes of each connection.
    ///   - open: The servers that accept more requests.
    ///   - facts: The current facts.
    /// - Returns: The connections.
    package mutating func choose(
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

    /// Records that a hedge is sent.
    package mutating func send(_ index: Int, to origin: String, for range: ByteRange) {
        sent[index] = Hedge(origin: origin, range: range)
    }

    /// Judges the head of the response to a hedge.
    ///
    /// - Returns: The number of bytes to keep; `nil` to reject the response.
    package mutating func judge(_ index: Int, _ head: FetchMachine.Head) -> Int64? {
        guard let rest = head.check.asked, head.check.verdict(on: head.reply) == .accept(rest)
        else {
            // The regular requests will find the fault themselves.
            giveUp()
            return nil
        }
        sent[index]?.isUndated = head.check.isUndated(head.reply)
        sent[index]?.digest = AdvertisedDigests.content(of: head.reply)
        return rest.count
    }

    /// Ends a hedge.
    ///
    /// After a failure, no further hedges are sent.
    ///
    /// - Returns: The hedge, if its body is complete.
    package mutating func ended(_ index: Int, _ end: TransferEnd) -> Hedge? {
        guard let hedge = sent.removeValue(forKey: index) else { return nil }
        if end == .complete { return hedge }
        giveUp()
        return nil
    }

    /// Stops sending hedges, because one has failed.
    package mutating func giveUp() { hedging.giveUp() }

    /// Records that the first request of a connection has ended, so that its hedge is useless.
    mutating func endRequest(_ index: Int) { sent[index]?.isLate = true }

    /// Removes a hedge.
    ///
    /// - Returns: Whether it existed.
    package mutating func remove(_ index: Int) -> Bool { sent.removeValue(forKey: index) != nil }
}
