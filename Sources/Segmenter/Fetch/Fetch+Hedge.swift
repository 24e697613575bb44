import Assembler

// The end of a file that hangs on one connection.
extension Fetch {
    /// A second request for the rest of a segment.
    ///
    /// Its body is kept in memory until it is whole: every byte has one writer, and what nobody needs
    /// in the end was never written.
    struct Hedge {
        var transfer: Transfer
        /// The transfer that it may overtake.
        var rival: Int
        var range: ByteRange
        /// Whether its reply left out the date which the version is known by.
        var isUndated = false
        /// What its bytes must have.
        var digest: Digest?
    }

    /// Once a tick: asks a second time for what keeps the file from being complete, on connections that
    /// have nothing to do.
    func hedge(_ now: Double) {
        for (index, hedge) in hedges where !isUnderWay(hedge.rival, index) { dropHedge(index) }
        guard !setup.isOneStream, window == nil, worker.pacing.limit.bytesPerSecond == nil,
            scheduler.unassigned.ranges.isEmpty
        else { return }
        let free = slots.indices.count { index in
            slots[index].transfer == nil && slots[index].waitsUntil <= now && !isSurplus(index)
        }
        guard free > hedges.count else { return }
        var connections: [Int: Hedging.Connection] = [:]
        for (index, slot) in slots.enumerated() where slot.sample == nil && hedges[index] == nil {
            guard let transfer = slot.transfer.flatMap(worker.transfer),
                let rest = scheduler.segments[index]?.rest, hasRoom(slot.source, now)
            else { continue }
            connections[index] = Hedging.Connection(
                rest: rest.count, rate: scheduler.rates[index], quiet: now - transfer.heard,
                isAnswered: slot.writer != nil, longestWait: sources[slot.source].longestWait)
        }
        let chosen = hedging.choose(
            connections, free: free - hedges.count, roundTrip: scheduler.roundTrip)
        for index in chosen { sendHedge(index) }
    }

    private func sendHedge(_ index: Int) {
        guard let rival = slots[index].transfer, let rest = scheduler.segments[index]?.rest else {
            return
        }
        let source = sources[slots[index].source]
        var request = TransferRequest(url: source.url, connecting: setup.connecting)
        request.range = rest
        request.address = pin(forHedgeOf: index)
        request.ifRange = slots[index].skipsIfRange ? nil : source.mirror.identity.ifRange
        let check = check(slots[index].source, request)
        let transfer = worker.start(request) { [unowned self] reply in
            guard check.verdict(on: reply) == .accept(rest) else {
                // What is wrong with it, the requests that count find out for themselves.
                hedging.giveUp()
                return .decline
            }
            hedges[index]?.isUndated = check.isUndated(reply)
            hedges[index]?.digest = AdvertisedDigests.content(of: reply)
            return .collect(length: rest.count, most: Int(rest.count))
        } onEnd: { [unowned self] end in
            guard let hedge = hedges.removeValue(forKey: index) else { return }
            if end == .complete { overtake(index, hedge) } else { hedging.giveUp() }
        }
        transfer.owner = id
        transfer.collectingPatience = .infinity
        hedges[index] = Hedge(transfer: transfer, rival: rival, range: rest)
        report(.hedged(rest))
    }

    /// Takes what the second request brought, from where the first one is by now.
    private func overtake(_ index: Int, _ hedge: Hedge) {
        // What is copied below must be there, whatever libcurl calls complete.
        guard isUnderWay(hedge.rival, index),
            Int64(hedge.transfer.collected.count) == hedge.range.count
        else { return }
        if let digest = hedge.digest, !digest.fits(hedge.transfer.collected) {
            hedging.giveUp()
            return
        }
        syncPosition(index)
        guard let rest = scheduler.segments[index]?.rest,
            rest.start >= hedge.range.start, rest.end <= hedge.range.end
        else { return }
        reopen(index)
        guard scheduler.adopt(rest, by: index) else { return }
        let writer = assembly.makeWriter(at: rest.start)
        slots[index].writer = writer
        sources[slots[index].source].accepted += 1
        if hedge.isUndated { sources[slots[index].source].isUndated = true }
        let offset = Int(rest.start - hedge.range.start)
        let problem = hedge.transfer.collected.withUnsafeBytes { bytes in
            bytes.baseAddress.map { writer.write($0 + offset, Int(rest.count)) } ?? 0
        }
        guard problem == 0 else {
            fail(.assembly(.io(operation: "write", path: assembly.writtenPath, errno: problem)))
            return
        }
        _ = retire(index)
        pump(monotonicSeconds())
    }

    private func isUnderWay(_ transfer: Int, _ index: Int) -> Bool {
        slots.indices.contains(index) && slots[index].transfer == transfer
    }

    /// Has no more requests under way than there are connections.
    func trimHedges() {
        let busy = slots.count { $0.transfer != nil }
        while busy + hedges.count > slots.count, let index = hedges.keys.first { dropHedge(index) }
    }

    /// Drops a second request.
    func dropHedge(_ index: Int) {
        if let hedge = hedges.removeValue(forKey: index) { worker.drop(hedge.transfer.id) }
    }
}
