import Assembler

// What did not come, and what is done about it.
extension Fetch {
    /// The head of a reply was judged, and its body is not the file's.
    func declined(_ index: Int) {
        switch slots[index].refusal {
        case .breach(let breach)?: refuse(index, breach)
        case .status(let status)?: refuse(index, status)
        default: retry(index, .network(code: 0, message: "the reply had no body"))
        }
    }

    private func refuse(_ index: Int, _ breach: ContractBreach) {
        let source = slots[index].source
        report(.replyRefused(breach))
        let isDoubt = breach.isDoubt(of: sources[source].mirror.identity)
        if breach != .wholeFileForRange, !isDoubt { sources[source].confidence.refused() }
        if source == 0, !setup.isProven, sources.allSatisfy({ $0.accepted == 0 }) {
            finish(.contradictsProbe)
        } else if breach == .wholeFileForRange {
            if slots[index].sentIfRange {
                // Some servers answer 200 to If-Range although nothing has changed.
                slots[index].skipsIfRange = true
                report(.ifRangeUnusable(scheduler.segments[index]?.rest))
            } else {
                // Without ranges nothing can be continued: that is not believed at once.
                sources[source].ignoredRanges += 1
                let hasSomething = sources[source].accepted > 0 || assembly.bytesKept > 0
                guard hasSomething, sources[source].ignoredRanges < Self.patience else {
                    drop(source, .rangesIgnored, orFinish: .rangesIgnored)
                    return
                }
            }
            retry(index, .breach(breach), isHasty: slots[index].sentIfRange)
        } else if sources[source].doubted != nil, slots[index].sample == nil,
            slots[index].missedSample
        {
            sampleMissed(index, breach)
        } else if !setup.isOneStream, isDoubt {
            doubt(index, breach)
        } else if breach.isAnotherVersion {
            sources[source].mismatches += 1
            guard sources[source].mismatches <= mismatchLimit(source) else {
                drop(source, .changed(breach), orFinish: .changed(breach))
                return
            }
            slots[index].wantsFreshConnection = true
            retry(index, .breach(breach), isHasty: true)
        } else {
            retry(index, .breach(breach))
        }
    }

    private func refuse(_ index: Int, _ status: Int) {
        if slots[index].source == 0, !setup.isProven, !setup.isOneStream,
            sources.allSatisfy({ $0.accepted == 0 }), Probe.Asking.mayRefuseRanges.contains(status)
        {
            // Perhaps it is the range that the server does not like, though `HEAD` told of ranges.
            finish(.contradictsProbe)
            return
        }
        if isRefusal(status) || [404, 410].contains(status) { noteRefusal(slots[index].source) }
        if setup.isOneStream {
            retry(index, .status(status))
        } else if status == 403, isAboveServerLimit(index), !isExpired(slots[index].source) {
            retry(index, .status(status))
        } else if isRefusal(status) || [404, 410].contains(status) || (300..<400).contains(status) {
            resolve(index, because: status)
        } else if isTransient(status) {
            retry(index, .status(status))
        } else {
            giveUp(slots[index].source, .transfer(.status(status), attempts: 1))
        }
    }

    /// Gives the work back, and has the connection wait before it tries again.
    ///
    /// - Parameters:
    ///   - index: The connection.
    ///   - failure: Why.
    ///   - isHasty: Whether the next attempt is something else: it need not wait, and is bounded
    ///     by a limit of its own.
    func retry(_ index: Int, _ failure: TransferFailure, isHasty: Bool = false) {
        let retryAfter = slots[index].retryAfter
        guard !setup.isOneStream else {
            let reached = assembly.recorded.covered.front + assembly.unrecorded
            finish(.streamBroken(failure, retryAfter: retryAfter, reached: reached))
            return
        }
        if !isHasty, turnAway(index, failure) {
            pump(monotonicSeconds())
            return
        }
        let source = slots[index].source
        let asked = scheduler.segments[index]?.rest
        scheduler.release(index)
        slots[index].failures += 1
        if !isHasty {
            let received = received(from: source)
            let hasProgressed = received != slots[index].receivedAtFailure
            slots[index].receivedAtFailure = received
            if hasProgressed { slots[index].othersAtFailure = receivedSoFar - received }
            slots[index].barren = hasProgressed ? 1 : slots[index].barren + 1
        }
        let attempts = slots[index].barren
        // One of several is not waited for as long as the only one, while others do better.
        let hasPatience =
            attempts < Self.patience || !othersWork(source, since: slots[index].othersAtFailure)
        let step = isHasty ? .asEver : firstStep(after: failure, index, attempts: attempts)
        guard
            isHasty
                || setup.policy.allows(attempts) && hasPatience && step != .giveUp
                    && bears(index, failure)
        else {
            if case .breach(let breach) = failure {
                giveUp(source, .contract(breach))
            } else {
                giveUp(source, .transfer(failure, attempts: attempts))
            }
            return
        }
        if let retryAfter, retryAfter > setup.policy.longestRetryAfter {
            giveUp(
                source, .transfer(.retryAfterTooLong(seconds: retryAfter), attempts: attempts))
            return
        }
        var delay =
            isHasty
            ? 0
            : setup.policy.delay(
                failures: slots[index].failures, retryAfter: retryAfter,
                random: .random(in: 0..<1))
        if case .again(let wait) = step { delay = wait }
        let now = monotonicSeconds()
        slots[index].waitsUntil = now + delay
        report(
            .retrying(
                range: asked, attempt: slots[index].failures + 1, delay: delay, cause: failure))
        pump(now)
    }

    /// Has the original URL resolved again: a signed URL may have expired.
    ///
    /// Where that changes nothing (a server that refuses a connection too many), the connection
    /// waits.
    private func resolve(_ index: Int, because status: Int) {
        let source = slots[index].source
        scheduler.release(index)
        slots[index].failures += 1
        slots[index].waitsUntil = .infinity
        guard sources[source].resolving == nil else { return }
        let received = received(from: source)
        let isBarren = received == sources[source].receivedAtResolution
        sources[source].resolutions = isBarren ? sources[source].resolutions + 1 : 1
        sources[source].receivedAtResolution = received
        let attempts = sources[source].resolutions
        guard attempts <= Self.patience else {
            guard !isServed(source), !isLimited(source, refusal(status)) else {
                wakeRefused(source)
                return
            }
            giveUp(
                source,
                isRefusal(status)
                    ? refusal(status) : .transfer(.status(status), attempts: attempts))
            return
        }
        report(.resolvingAgain(status: status))
        sources[source].resolving = Task { [id, loop, resolve = sources[source].mirror.resolve] in
            let resolution = await resolve()
            loop.perform { $0.fetch(id)?.resolved(source, resolution) }
        }
    }

    /// Whether some connection to the server gets its bytes: then one that is refused is perhaps only
    /// one too many, and waits.
    func isServed(_ source: Int) -> Bool {
        slots.contains { $0.source == source && $0.writer != nil }
    }

    /// The original URL was resolved again.
    private func resolved(_ source: Int, _ resolution: Probe.Resolution) {
        guard sources[source].standing != .dropped else { return }
        sources[source].resolving = nil
        var isElsewhere = false
        switch resolution {
        case .same(let url):
            isElsewhere = url.text != sources[source].url.text
            sources[source].url = url
            // What was refused there may not be by now.
            if isElsewhere {
                sources[source].book = nil
                sources[source].isRefused = false
            }
        case .changed(let breach):
            drop(source, .changed(breach), orFinish: .changed(breach))
            return
        case .failed(let reason):
            if waitsForOthers(source, reason) { return }
            let hasProgressed = received(from: source) > sources[source].receivedAtResolution
            guard isServed(source) || hasProgressed || isLimited(source, reason) else {
                giveUp(source, reason)
                return
            }
        }
        wakeRefused(source, isElsewhere: isElsewhere)
        pump(monotonicSeconds())
    }

    /// Has the connections that were refused try again: at once, or after a while when not for the
    /// first time.
    ///
    /// A refusal that is not about the URL may say that they are too many.
    private func wakeRefused(_ source: Int, isElsewhere: Bool = false) {
        let now = monotonicSeconds()
        for index in slots.indices
        where slots[index].source == source && slots[index].waitsUntil == .infinity {
            let failures = slots[index].failures
            slots[index].waitsUntil = 0
            if !isElsewhere || failures > 1, slots[index].refusal == .status(403) {
                slots[index].failures -= 1
                if !isExpired(source), turnAway(index, .status(403)) { continue }
                slots[index].failures = failures
            }
            let delay = setup.policy.delay(
                failures: failures, retryAfter: nil, random: .random(in: 0..<1))
            slots[index].waitsUntil = now + (failures > 1 ? delay : 0)
        }
    }
}
