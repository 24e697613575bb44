import Assembler

// The end of a file that hangs on one connection.
extension FetchMachine {
    /// Second requests for the rests of segments.
    struct Hedges {
        /// Decides when.
        var hedging: Hedging
        /// Those under way, by the connection that has the first one.
        var sent: [Int: Hedge] = [:]

        init(size: Int64) { hedging = Hedging(size: size) }
    }

    /// A second request for the rest of a segment.
    ///
    /// Its body is kept in memory until it is whole: every byte has one writer, and what nobody needs
    /// in the end was never written.
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

    /// Once a tick: asks a second time for what keeps the file from being complete, on connections that
    /// have nothing to do.
    mutating func hedge(_ world: some FetchWorld) {
        for (index, hedge) in hedges.sent where hedge.isLate { dropHedge(index, world) }
        guard !setup.isOneStream, window == nil, scheduler.unassigned.ranges.isEmpty,
            !world.network(to: sources[0].origin).isRateLimited
        else { return }
        let free = slots.indices.count { index in
            !slots[index].isBusy && slots[index].backoff.until <= world.now && !isSurplus(index)
        }
        guard free > hedges.sent.count else { return }
        var connections: [Int: Hedging.Connection] = [:]
        for (index, slot) in slots.enumerated()
        where slot.sample == nil && hedges.sent[index] == nil {
            guard let state = world.state(of: index),
                let rest = scheduler.segments[index]?.rest, hasRoom(slot.source, world)
            else { continue }
            connections[index] = Hedging.Connection(
                rest: rest.count, rate: scheduler.rates[index], quiet: state.quiet,
                isAnswered: slot.request.body != nil,
                longestWait: sources[slot.source].longestWait)
        }
        let chosen = hedges.hedging.choose(
            connections, free: free - hedges.sent.count, roundTrip: scheduler.roundTrip)
        for index in chosen { sendHedge(index, world) }
    }

    private mutating func sendHedge(_ index: Int, _ world: some FetchWorld) {
        guard slots[index].isBusy, let rest = scheduler.segments[index]?.rest else { return }
        var ask = ask(slots[index].source, rest, skipsIfRange: slots[index].skipsIfRange)
        ask.address = pin(forHedgeOf: index, world)
        hedges.sent[index] = Hedge(origin: ask.url.origin, range: rest)
        world.sendHedge(index, ask)
        world.report(.hedged(rest))
    }

    /// Judges the head of the reply to a second request.
    ///
    /// - Returns: How many bytes of it are kept; `nil` for none.
    mutating func judgeHedge(_ index: Int, _ head: Head) -> Int64? {
        guard let rest = head.check.asked, head.check.verdict(on: head.reply) == .accept(rest)
        else {
            // What is wrong with it, the requests that count find out for themselves.
            hedges.hedging.giveUp()
            return nil
        }
        hedges.sent[index]?.isUndated = head.check.isUndated(head.reply)
        hedges.sent[index]?.digest = AdvertisedDigests.content(of: head.reply)
        return rest.count
    }

    /// A second request is over.
    mutating func hedgeEnded(_ index: Int, _ end: TransferEnd, _ world: some FetchWorld) {
        guard let hedge = hedges.sent.removeValue(forKey: index) else { return }
        if end == .complete { overtake(index, hedge, world) } else { hedges.hedging.giveUp() }
    }

    /// Takes what the second request brought, from where the first one is by now.
    private mutating func overtake(_ index: Int, _ hedge: Hedge, _ world: some FetchWorld) {
        guard !hedge.isLate, slots.indices.contains(index), slots[index].isBusy else { return }
        // What is copied below must be there, whatever libcurl calls complete.
        guard world.hedgeFits(index, hedge.range.count, hedge.digest) else {
            hedges.hedging.giveUp()
            return
        }
        if let position = world.position(of: index) { scheduler.advance(index, to: position) }
        guard let rest = scheduler.segments[index]?.rest,
            rest.start >= hedge.range.start, rest.end <= hedge.range.end
        else { return }
        reopen(index, world)
        guard scheduler.adopt(rest, by: index) else { return }
        slots[index].request.body = Body(start: rest.start, limit: rest.end, replyEnd: rest.end)
        sources[slots[index].source].accepted += 1
        if hedge.isUndated { sources[slots[index].source].dates.isUndated = true }
        let offset = Int(rest.start - hedge.range.start)
        let problem = world.writeHedge(index, from: offset, to: rest)
        guard problem == 0 else {
            fail(writing: problem, world)
            return
        }
        _ = retire(index, world)
        pump(world)
    }

    /// Has no more requests under way than there are connections.
    mutating func trimHedges(_ world: some FetchWorld) {
        guard !hedges.sent.isEmpty else { return }
        let busy = slots.count { $0.isBusy }
        while busy + hedges.sent.count > slots.count, let index = hedges.sent.keys.min() {
            dropHedge(index, world)
        }
    }

    /// Drops a second request.
    mutating func dropHedge(_ index: Int, _ world: some FetchWorld) {
        if hedges.sent.removeValue(forKey: index) != nil { world.dropHedge(index) }
    }
}
