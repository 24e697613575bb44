import Assembler

// What did not come, and what is done about it.
extension FetchMachine {
    /// The head of a reply was judged, and its body is not the file's.
    mutating func declined(_ index: Int, _ world: some FetchWorld) {
        switch slots[index].request.refusal {
        case .breach(let breach)?: refuse(index, breach, world)
        case .status(let status)?: refuse(index, status, world)
        default: retry(index, .network(code: 0, message: "the reply had no body"), world)
        }
    }

    private mutating func refuse(
        _ index: Int, _ breach: ContractBreach, _ world: some FetchWorld
    ) {
        let source = slots[index].source
        world.report(.replyRefused(breach))
        let isDoubt = breach.isDoubt(of: sources[source].mirror.identity)
        if breach != .wholeFileForRange, !isDoubt { sources[source].trust.confidence.refused() }
        if source == 0, !setup.isProven, sources.allSatisfy({ $0.accepted == 0 }) {
            finish(.contradictsProbe, world)
        } else if breach == .wholeFileForRange {
            if slots[index].request.sentIfRange {
                // Some servers answer 200 to If-Range although nothing has changed.
                slots[index].skipsIfRange = true
                world.report(.ifRangeUnusable(scheduler.segments[index]?.rest))
            } else {
                // Without ranges nothing can be continued: that is not believed at once.
                sources[source].trust.ignoredRanges += 1
                let hasSomething = sources[source].accepted > 0 || world.bytesKept > 0
                guard hasSomething, sources[source].trust.ignoredRanges < Self.patience else {
                    drop(source, .rangesIgnored, orFinish: .rangesIgnored, world)
                    return
                }
            }
            retry(index, .breach(breach), isHasty: slots[index].request.sentIfRange, world)
        } else if sources[source].dates.doubted != nil, slots[index].sample == nil,
            slots[index].request.missedSample
        {
            sampleMissed(index, breach, world)
        } else if !setup.isOneStream, isDoubt {
            doubt(index, breach, world)
        } else if breach.isAnotherVersion {
            sources[source].trust.mismatches += 1
            guard sources[source].trust.mismatches <= mismatchLimit(source) else {
                drop(source, .changed(breach), orFinish: .changed(breach), world)
                return
            }
            slots[index].wantsFreshConnection = true
            retry(index, .breach(breach), isHasty: true, world)
        } else {
            retry(index, .breach(breach), world)
        }
    }

    private mutating func refuse(_ index: Int, _ status: Int, _ world: some FetchWorld) {
        let source = slots[index].source
        if source == 0, !setup.isProven, !setup.isOneStream,
            sources.allSatisfy({ $0.accepted == 0 }), Probe.Asking.mayRefuseRanges.contains(status)
        {
            // Perhaps it is the range that the server does not like, though `HEAD` told of ranges.
            finish(.contradictsProbe, world)
            return
        }
        if isRefusal(status) || [404, 410].contains(status) { noteRefusal(source) }
        if setup.isOneStream {
            retry(index, .status(status), world)
        } else if status == 403, isAboveServerLimit(index, world),
            !sources[source].link.isOver(date: world.date)
        {
            retry(index, .status(status), world)
        } else if isRefusal(status) || [404, 410].contains(status) || (300..<400).contains(status) {
            resolve(index, because: status, world)
        } else if isTransient(status) {
            retry(index, .status(status), world)
        } else {
            giveUp(source, .transfer(.status(status), attempts: 1), world)
        }
    }

    /// Gives the work back, and has the connection wait before it tries again.
    ///
    /// - Parameters:
    ///   - index: The connection.
    ///   - failure: Why.
    ///   - isHasty: Whether the next attempt is something else: it need not wait, and is bounded
    ///     by a limit of its own.
    ///   - world: The present moment.
    mutating func retry(
        _ index: Int, _ failure: TransferFailure, isHasty: Bool = false, _ world: some FetchWorld
    ) {
        let retryAfter = slots[index].request.retryAfter
        guard !setup.isOneStream else {
            let reached = world.bytesInOrder
            finish(.streamBroken(failure, retryAfter: retryAfter, reached: reached), world)
            return
        }
        if !isHasty, turnAway(index, failure, world) {
            pump(world)
            return
        }
        let source = slots[index].source
        let asked = scheduler.segments[index]?.rest
        scheduler.release(index)
        slots[index].backoff.failures += 1
        if !isHasty {
            let received = received(from: source, world)
            slots[index].backoff.note(
                received: received, others: receivedSoFar(world) - received)
        }
        let attempts = slots[index].backoff.barren
        // One of several is not waited for as long as the only one, while others do better.
        let hasPatience =
            attempts < Self.patience
            || !othersWork(source, since: slots[index].backoff.othersAtFailure, world)
        let step = isHasty ? .asEver : firstStep(after: failure, index, attempts: attempts, world)
        guard
            isHasty
                || setup.policy.allows(attempts) && hasPatience && step != .giveUp
                    && bears(index, failure)
        else {
            if case .breach(let breach) = failure {
                giveUp(source, .contract(breach), world)
            } else {
                giveUp(source, .transfer(failure, attempts: attempts), world)
            }
            return
        }
        if let retryAfter, retryAfter > setup.policy.longestRetryAfter {
            giveUp(
                source, .transfer(.retryAfterTooLong(seconds: retryAfter), attempts: attempts),
                world)
            return
        }
        var delay =
            isHasty
            ? 0
            : setup.policy.delay(
                failures: slots[index].backoff.failures, retryAfter: retryAfter,
                random: world.random())
        if case .again(let wait) = step { delay = wait }
        wait(index, delay, asked, failure, world)
        pump(world)
    }

    /// Has a connection wait before it tries again.
    mutating func wait(
        _ index: Int, _ delay: Double, _ asked: ByteRange?, _ cause: TransferFailure,
        _ world: some FetchWorld
    ) {
        slots[index].backoff.until = world.now + delay
        world.report(
            .retrying(
                range: asked, attempt: slots[index].backoff.failures + 1, delay: delay,
                cause: cause))
    }

    /// Has the original URL resolved again: a signed URL may have expired.
    ///
    /// Where that changes nothing (a server that refuses a connection too many), the connection
    /// waits.
    private mutating func resolve(
        _ index: Int, because status: Int, _ world: some FetchWorld
    ) {
        let source = slots[index].source
        scheduler.release(index)
        slots[index].backoff.failures += 1
        slots[index].backoff.until = .infinity
        guard !sources[source].link.isResolving else { return }
        let attempts = sources[source].link.refused(received: received(from: source, world))
        guard attempts <= Self.patience else {
            guard !isServed(source), !isLimited(source, refusal(status), world) else {
                wakeRefused(source, world)
                return
            }
            giveUp(
                source,
                isRefusal(status)
                    ? refusal(status) : .transfer(.status(status), attempts: attempts),
                world)
            return
        }
        world.report(.resolvingAgain(status: status))
        sources[source].link.isResolving = true
        world.resolve(source, mirror: sources[source].mirror.number)
    }

    /// Whether some connection to the server gets its bytes: then one that is refused is perhaps only
    /// one too many, and waits.
    func isServed(_ source: Int) -> Bool {
        slots.contains { $0.source == source && $0.request.body != nil }
    }

    /// The original URL was resolved again.
    mutating func resolved(
        _ source: Int, _ resolution: Probe.Resolution, _ world: some FetchWorld
    ) {
        guard sources[source].standing != .dropped else { return }
        sources[source].link.isResolving = false
        var isElsewhere = false
        switch resolution {
        case .same(let url):
            isElsewhere = sources[source].link.lead(to: url)
            if isElsewhere { sources[source].places.book = nil }
        case .changed(let breach):
            drop(source, .changed(breach), orFinish: .changed(breach), world)
            return
        case .failed(let reason):
            if waitsForOthers(source, reason, world) { return }
            let hasProgressed =
                received(from: source, world) > sources[source].link.receivedAtResolution
            guard isServed(source) || hasProgressed || isLimited(source, reason, world) else {
                giveUp(source, reason, world)
                return
            }
        }
        wakeRefused(source, isElsewhere: isElsewhere, world)
        pump(world)
    }

    /// Has the connections that were refused try again: at once, or after a while when not for the
    /// first time.
    ///
    /// A refusal that is not about the URL may say that they are too many.
    private mutating func wakeRefused(
        _ source: Int, isElsewhere: Bool = false, _ world: some FetchWorld
    ) {
        for index in slots.indices
        where slots[index].source == source && slots[index].backoff.until == .infinity {
            let failures = slots[index].backoff.failures
            slots[index].backoff.until = 0
            if !isElsewhere || failures > 1, slots[index].request.refusal == .status(403) {
                slots[index].backoff.failures -= 1
                if !sources[source].link.isOver(date: world.date),
                    turnAway(index, .status(403), world)
                {
                    continue
                }
                slots[index].backoff.failures = failures
            }
            let delay = setup.policy.delay(
                failures: failures, retryAfter: nil, random: world.random())
            slots[index].backoff.until = world.now + (failures > 1 ? delay : 0)
        }
    }
}
