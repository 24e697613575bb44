import Assembler

// Servers that serve only so many requests at a time.
extension Fetch {
    /// Seconds without a byte after which a body does not count as being served.
    private static let longestPause = 2.0

    /// What this fetch has under way at an origin.
    func load(of origin: String, now: Double) -> ServerLimit.Load {
        var load = ServerLimit.Load()
        for slot in slots where sources[slot.source].url.origin == origin {
            if let transfer = slot.transfer.flatMap(worker.transfer) {
                let isTaken = slot.writer != nil || slot.sampler != nil
                let isFlowing =
                    transfer.received == 0 || now - transfer.lastActivity < Self.longestPause
                if isTaken, isFlowing { load.served += 1 } else { load.asking += 1 }
            } else if slot.waitsUntil > now, !slot.isSpare {
                load.waiting += 1
            }
        }
        load.asking += hedges.values.count { $0.transfer.request.url.origin == origin }
        return load
    }

    /// Whether a free connection may ask its server, or another that it is moved to.
    func findRoom(_ index: Int, _ now: Double) -> Bool {
        let source = slots[index].source
        if hasRoom(source, now) { return true }
        let others = sources.indices.filter { $0 != source && sources[$0].standing == .proven }
        guard let other = others.first(where: { hasRoom($0, now) }) else { return false }
        slots[index] = Slot(source: other)
        return true
    }

    /// Whether a server may be asked for more: nothing is above the ceiling that is known of it.
    func hasRoom(_ source: Int, _ now: Double) -> Bool {
        let origin = sources[source].url.origin
        guard now >= sources[source].restsUntil, isTrusted(source, now) else { return false }
        guard let serverLimit = worker.serverLimits[origin], serverLimit.limit != nil else {
            return true
        }
        return serverLimit.allows(beside: worker.load(of: origin, now: now), now: now)
    }

    /// Connections that work, for the size of their shares.
    var workers: Int {
        let isLimited = sources.contains { worker.serverLimits[$0.url.origin]?.limit != nil }
        if isLimited { return slots.count { $0.transfer != nil } + 1 }
        guard let governor else { return slots.count }
        // While the number is being found, there are soon to be more, unless there are many already.
        let isSearching = governor.isSearching && slots.count < ConnectionGovernor.many
        // Even one does not get all then: another may be tried at any time.
        return isSearching ? setup.connections.most : max(2, slots.count)
    }

    /// A request is about to go out.
    func noteRequest(_ index: Int) {
        slots[index].hasReply = false
        slots[index].isSpare = false
        let (origin, now) = (sources[slots[index].source].url.origin, slots[index].requested)
        guard worker.serverLimits[origin]?.limit != nil else { return }
        worker.serverLimits[origin]?.asked(beside: worker.load(of: origin, now: now), now: now)
    }

    /// A request is served: its body has somewhere to go.
    func noteServed(_ index: Int) {
        let origin = sources[slots[index].source].url.origin
        guard worker.serverLimits[origin] != nil else { return }
        let now = monotonicSeconds()
        worker.serverLimits[origin]?.served(
            worker.load(of: origin, now: now), asked: slots[index].requested, now: now)
    }

    /// Whether a refusal is that of a connection above a ceiling that is known.
    func isAboveServerLimit(_ index: Int) -> Bool {
        let origin = sources[slots[index].source].url.origin
        guard let limit = worker.serverLimits[origin]?.limit else { return false }
        let load = worker.load(of: origin, now: monotonicSeconds())
        return load.served > 0 && load.served + load.asking >= limit
    }

    /// Whether a refusal may be that of one request too many: other files of the server are being served.
    func isLimited(_ source: Int, _ reason: DownloadError.Reason) -> Bool {
        let origin = sources[source].url.origin
        guard reason == .refused(status: 403), worker.forbidding[origin]?.meaning != .refusal else {
            return false
        }
        return worker.serves(origin, but: id)
    }

    /// Has a connection rest, or try again soon, that was turned away while others are served.
    ///
    /// - Returns: Whether that is how it is: if not, it is a failure like any other.
    func turnAway(_ index: Int, _ failure: TransferFailure) -> Bool {
        guard !setup.isOneStream, failure.mayTurnAway(hadReply: slots[index].hasReply) else {
            return false
        }
        let (origin, now) = (sources[slots[index].source].url.origin, monotonicSeconds())
        // Others are being served: nobody rests for days for that.
        let retryAfter = slots[index].retryAfter.flatMap {
            $0 > setup.policy.longestRetryAfter ? nil : $0
        }
        let verdict = worker.serverLimits[origin, default: .init()].refused(
            beside: worker.load(of: origin, now: now), asked: slots[index].requested,
            isFirst: slots[index].failures == 0, retryAfter: retryAfter, failure: failure, now: now)
        guard verdict != .failure else { return false }
        let asked = scheduler.segments[index]?.rest
        scheduler.release(index)
        slots[index].forgetRate()
        if verdict == .rest {
            slots[index].failures = 0
            slots[index].barren = 0
            slots[index].waitsUntil = 0
            return true
        }
        slots[index].failures += 1
        slots[index].isSpare = true
        let delay = setup.policy.delay(
            failures: slots[index].failures, retryAfter: retryAfter, random: .random(in: 0..<1))
        slots[index].waitsUntil = now + delay
        report(
            .retrying(
                range: asked, attempt: slots[index].failures + 1, delay: delay, cause: failure))
        return true
    }

    /// Lifts ceilings that are no more, and tells what has changed.
    func watchServerLimits(_ now: Double) {
        for origin in Set(sources.map(\.url.origin)) where worker.serverLimits[origin] != nil {
            worker.serverLimits[origin]?.watch(worker.load(of: origin, now: now), now: now)
            if let news = worker.serverLimits[origin]?.takeNews(now: now) {
                report(.ceiling(connections: news.limit, cause: news.cause))
            }
        }
    }
}

extension Worker {
    /// What all fetches, and requests for small files, have under way at an origin.
    func load(of origin: String, now: Double) -> ServerLimit.Load {
        let small = ServerLimit.Load(asking: collecting.windows[origin]?.underWay ?? 0)
        return fetches.values.reduce(small) { $0 + $1.load(of: origin, now: now) }
    }
}
