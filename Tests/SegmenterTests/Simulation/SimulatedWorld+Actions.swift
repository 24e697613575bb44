import Assembler

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

extension SimulatedWorld: FetchActions {
    // MARK: Requests

    func request(_ slot: Int, _ ask: FetchMachine.Ask) {
        while lines.count <= slot { lines.append(Line()) }
        let isOld = check(slot, ask)
        let request = send(.slot(slot), ask, preferring: lines[slot].link)
        request.asksForOld = isOld
        lines[slot] = Line(request: request, link: request.link)
    }

    func adopt(
        _ slot: Int, _ body: FetchMachine.Body, upTo limit: Int64?, goesOn: Bool
    ) -> Int32 { 0 }

    func declineOffer() {}

    func drop(_ slot: Int) {
        guard let request = lines[slot].request else { return }
        lines[slot].request = nil
        end(request, closing: true)
    }

    func allow(_ slot: Int, upTo offset: Int64) { lines[slot].request?.allowed = offset }

    func shorten(_ slot: Int, to end: Int64) -> Int64? {
        guard let writer = lines[slot].writer else { return nil }
        if let request = lines[slot].request {
            sync(request)
            if end < request.limit, end < request.replyEnd { log.cuts += 1 }
            if writer.position > end { log.overruns += 1 }
            request.limit = min(request.limit, end)
        }
        return writer.position
    }

    func retire(_ slot: Int, dropping: Bool) -> Int64? {
        guard slot < lines.count, let writer = lines[slot].writer else { return nil }
        if lines[slot].request != nil { log.breaches.append("\(slot) is retired at work") }
        lines[slot].writer = nil
        log.wrote(ByteRange(writer.start, writer.position))
        return writer.position
    }

    // MARK: Second requests, canaries, and other requests

    func sendHedge(_ slot: Int, _ ask: FetchMachine.Ask) {
        if hedges[slot] != nil { log.breaches.append("\(slot) is hedged twice") }
        hedges[slot] = send(.hedge(slot), ask)
        log.hedged += ask.range?.count ?? size
    }

    func writeHedge(_ slot: Int, from offset: Int, to range: ByteRange) -> Int32 {
        let writer = SimulatedWriter(at: range.start)
        writer.position = range.end
        lines[slot].writer = writer
        let received = hedges[slot]?.writer.map { ByteRange($0.start, $0.position) }
        if received?.contains(range) != true || received?.start != range.start - Int64(offset) {
            log.breaches.append("\(range) is not what the second request brought")
        }
        return 0
    }

    func dropHedge(_ slot: Int) {
        if let request = hedges.removeValue(forKey: slot) { drop(request) }
    }

    func sendCanary(_ ask: FetchMachine.Ask, patience: Double) {
        canary = send(.canary, ask, patience: patience)
    }

    func dropCanary() {
        if let canary { drop(canary) }
        canary = nil
    }

    /// Cancels a request that may have ended.
    private func drop(_ request: SimulatedRequest) {
        if requests[request.link] === request { end(request, closing: true) }
    }

    func resolve(_ source: Int, mirror number: Int) {
        plan("resolve \(source)", in: 2 * network.roundTrip) { machine, world in
            let url = machine.sources[source].url
            machine.resolved(source, world.server.resolution(url), world)
        }
    }

    func cancelResolving(_ source: Int) { plans.removeAll { $0.name == "resolve \(source)" } }

    func findAddresses() {}

    func startVerifying() {
        for (number, extent) in earlier.enumerated() {
            plan("verify", in: 0.05 * Double(number + 1)) { machine, world in
                if extent.isIntact { world.log.wrote(extent.range) }
                machine.verified(extent.range, isIntact: extent.isIntact, world)
            }
        }
    }

    // MARK: Recording and reporting

    func record() throws(AssemblyError) {}
    func reached(_ address: String, of origin: String) {}
    func gaveUp(_ origin: String) {}

    func report(_ notice: DownloadNotice) { log.notices.append((now, notice)) }

    func report(_ progress: FetchMachine.Progress) {
        log.mostBusy = max(log.mostBusy, progress.connections)
    }

    func finish(_ outcome: FetchMachine.Outcome, _ ledger: MirrorLedger) {
        if log.outcome != nil { log.breaches.append("it has two outcomes") }
        log.outcome = outcome
        guard case .complete(let size, _, _) = outcome else { return }
        if log.written != RangeSet(ByteRange(0, size)) || size != self.size {
            log.breaches.append("it ended with \(log.written.ranges)")
        }
    }

    // MARK: Rules

    /// Checks a request against the rules.
    ///
    /// - Returns: Whether some of the requested bytes are already on disk.
    private func check(_ slot: Int, _ ask: FetchMachine.Ask) -> Bool {
        if lines[slot].request != nil { log.breaches.append("\(slot) asks twice") }
        if lines[slot].writer != nil { log.breaches.append("\(slot) has a writer left") }
        guard checksRequests, let range = ask.range else { return false }
        if range.isEmpty || !ByteRange(0, size).contains(range) {
            log.breaches.append("\(range) is asked for, of \(size)")
        }
        let others = lines.compactMap(\.writer).map { ByteRange($0.start, $0.position) }
        return log.written.intersects(range)
            || others.contains { !$0.intersection(range).isEmpty }
    }

    /// Checks after an event that no more requests are active than allowed.
    func check(most: Int) {
        let busy = lines.count { $0.request != nil }
        if busy + hedges.count > most {
            log.breaches.append("\(busy) and \(hedges.count) requests are under way, of \(most)")
        }
    }
}
