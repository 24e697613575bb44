import Assembler

// Servers that serve only so many requests at a time.
extension FetchMachine {
    /// Seconds without a byte after which a body does not count as being served.
    private static let longestPause = 2.0

    /// What this fetch has under way at an origin.
    func load(at origin: String, _ world: some FetchWorld) -> ServerLimit.Load {
        var load = ServerLimit.Load()
        for index in slots.indices where sources[slots[index].source].origin == origin {
            if let state = world.state(of: index) {
                let isFlowing = state.pause < Self.longestPause
                if slots[index].isTaken, isFlowing { load.served += 1 } else { load.asking += 1 }
            } else if slots[index].backoff.until > world.now, !slots[index].backoff.isSpare {
                load.waiting += 1
            }
        }
        load.asking += hedges.sent.values.count { $0.origin == origin }
        return load
    }

    /// What this fetch and all others have under way at an origin.
    private func allLoad(at origin: String, _ world: some FetchWorld) -> ServerLimit.Load {
        world.othersLoad(at: origin) + load(at: origin, world)
    }

    /// Whether a free connection may ask its server, or another that it is moved to.
    mutating func findRoom(_ index: Int, _ world: some FetchWorld) -> Bool {
        let source = slots[index].source
        if hasRoom(source, world) { return true }
        let others = sources.indices.filter { $0 != source && sources[$0].standing == .proven }
        guard let other = others.first(where: { hasRoom($0, world) }) else { return false }
        slots[index] = Slot(source: other)
        return true
    }

    /// Whether a server may be asked for more: nothing is above the ceiling that is known of it.
    func hasRoom(_ source: Int, _ world: some FetchWorld) -> Bool {
        let (origin, now) = (sources[source].origin, world.now)
        guard now >= sources[source].restsUntil, isTrusted(source, world) else { return false }
        guard let serverLimit = world[limitOf: origin], serverLimit.limit != nil else {
            return true
        }
        return serverLimit.allows(beside: allLoad(at: origin, world), now: now)
    }

    /// Connections that work, for the size of their shares.
    func workers(_ world: some FetchWorld) -> Int {
        let isLimited = sources.contains { world[limitOf: $0.origin]?.limit != nil }
        if isLimited { return slots.count { $0.isBusy } + 1 }
        guard let governor else { return slots.count }
        // While the number is being found, there are soon to be more, unless there are many already.
        let isSearching = governor.isSearching && slots.count < ConnectionGovernor.many
        // Even one does not get all then: another may be tried at any time.
        return isSearching ? setup.connections : max(2, slots.count)
    }

    /// A request is about to go out.
    mutating func noteRequest(_ index: Int, _ world: some FetchWorld) {
        slots[index].backoff.isSpare = false
        let origin = sources[slots[index].source].origin
        guard world[limitOf: origin]?.limit != nil else { return }
        let load = allLoad(at: origin, world)
        world[limitOf: origin]?.asked(beside: load, now: world.now)
    }

    /// A request is served: its body has somewhere to go.
    func noteServed(_ index: Int, _ world: some FetchWorld) {
        let origin = sources[slots[index].source].origin
        guard world[limitOf: origin] != nil else { return }
        let load = allLoad(at: origin, world)
        world[limitOf: origin]?.served(load, asked: slots[index].request.since, now: world.now)
    }

    /// Whether a refusal is that of a connection above a ceiling that is known.
    func isAboveServerLimit(_ index: Int, _ world: some FetchWorld) -> Bool {
        let origin = sources[slots[index].source].origin
        guard let limit = world[limitOf: origin]?.limit else { return false }
        let load = allLoad(at: origin, world)
        return load.served > 0 && load.served + load.asking >= limit
    }

    /// Whether a refusal may be that of one request too many: other files of the server are being served.
    func isLimited(
        _ source: Int, _ reason: DownloadError.Reason, _ world: some FetchWorld
    ) -> Bool {
        let origin = sources[source].origin
        guard reason == .refused(status: 403), world.meaningOf403(origin) != .refusal else {
            return false
        }
        return world.servesOthers(origin)
    }

    /// Has a connection rest, or try again soon, that was turned away while others are served.
    ///
    /// - Returns: Whether that is how it is: if not, it is a failure like any other.
    mutating func turnAway(
        _ index: Int, _ failure: TransferFailure, _ world: some FetchWorld
    ) -> Bool {
        let request = slots[index].request
        guard !setup.isOneStream, failure.mayTurnAway(hadReply: request.hasReply) else {
            return false
        }
        let origin = sources[slots[index].source].origin
        // Others are being served: nobody rests for days for that.
        let retryAfter = request.retryAfter.flatMap {
            $0 > setup.policy.longestRetryAfter ? nil : $0
        }
        var limit = world[limitOf: origin] ?? ServerLimit()
        let verdict = limit.refused(
            beside: allLoad(at: origin, world), asked: request.since,
            isFirst: slots[index].backoff.failures == 0, retryAfter: retryAfter,
            failure: failure, now: world.now)
        world[limitOf: origin] = limit
        guard verdict != .failure else { return false }
        let asked = scheduler.segments[index]?.rest
        scheduler.release(index)
        slots[index].flow.forget()
        if verdict == .rest {
            slots[index].backoff.clear()
            slots[index].backoff.until = 0
            return true
        }
        slots[index].backoff.failures += 1
        slots[index].backoff.isSpare = true
        let delay = setup.policy.delay(
            failures: slots[index].backoff.failures, retryAfter: retryAfter,
            random: world.random())
        wait(index, delay, asked, failure, world)
        return true
    }

    /// Lifts ceilings that are no more, and tells what has changed.
    func watchServerLimits(_ world: some FetchWorld) {
        for origin in Set(sources.map(\.origin)).sorted() where world[limitOf: origin] != nil {
            let load = allLoad(at: origin, world)
            world[limitOf: origin]?.watch(load, now: world.now)
            if let news = world[limitOf: origin]?.takeNews(now: world.now) {
                world.report(.ceiling(connections: news.limit, cause: news.cause))
            }
        }
    }
}
