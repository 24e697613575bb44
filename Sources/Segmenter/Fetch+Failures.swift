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
        tell(.replyRefused(breach))
        if accepted == 0, !setup.isProven {
            finish(.contradictsProbe)
        } else if breach == .wholeFileForRange {
            if slots[index].sentIfRange {
                // Some servers answer 200 to If-Range although nothing has changed.
                slots[index].skipsIfRange = true
            } else {
                // Without ranges nothing can be continued: that is not believed at once.
                ignoredRanges += 1
                let hasSomething = accepted > 0 || assembly.bytesKept > 0
                guard hasSomething, ignoredRanges < Self.patience else {
                    finish(.rangesIgnored)
                    return
                }
            }
            retry(index, .breach(breach), isHasty: slots[index].sentIfRange)
        } else if breach.isAnotherVersion {
            mismatches += 1
            guard mismatches <= Self.mismatchLimit else {
                finish(.changed(breach))
                return
            }
            slots[index].wantsFreshConnection = true
            retry(index, .breach(breach), isHasty: true)
        } else {
            retry(index, .breach(breach))
        }
    }

    private func refuse(_ index: Int, _ status: Int) {
        if setup.isOneStream {
            retry(index, .status(status))
        } else if isRefusal(status) || [404, 410].contains(status) || (300..<400).contains(status) {
            resolve(index, because: status)
        } else if isTransient(status) {
            retry(index, .status(status))
        } else {
            fail(.transfer(.status(status), attempts: 1))
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
        let asked = scheduler.segments[index]?.rest
        scheduler.release(index)
        slots[index].failures += 1
        if !isHasty {
            let hasProgressed = receivedSoFar != slots[index].receivedAtFailure
            slots[index].receivedAtFailure = receivedSoFar
            slots[index].barren = hasProgressed ? 1 : slots[index].barren + 1
        }
        let attempts = slots[index].barren
        guard isHasty || setup.policy.allows(attempts) else {
            if case .breach(let breach) = failure {
                fail(.contract(breach))
            } else {
                fail(.transfer(failure, attempts: attempts))
            }
            return
        }
        if let retryAfter, retryAfter > setup.policy.longestRetryAfter {
            fail(.transfer(.retryAfterTooLong(seconds: retryAfter), attempts: attempts))
            return
        }
        let delay =
            isHasty
            ? 0
            : setup.policy.delay(
                failures: slots[index].failures, retryAfter: retryAfter,
                random: .random(in: 0..<1))
        let now = monotonicSeconds()
        slots[index].waitsUntil = now + delay
        tell(
            .retrying(
                range: asked, attempt: slots[index].failures, delay: delay, cause: failure))
        pump(now)
    }

    /// Has the original URL resolved again: a signed URL may have expired.
    ///
    /// Where that changes nothing (a server that refuses a connection too many), the connection
    /// waits.
    private func resolve(_ index: Int, because status: Int) {
        scheduler.release(index)
        slots[index].failures += 1
        slots[index].waitsUntil = .infinity
        guard resolving == nil else { return }
        resolutions = receivedSoFar == receivedAtResolution ? resolutions + 1 : 1
        receivedAtResolution = receivedSoFar
        guard resolutions <= Self.patience else {
            guard !isServed else {
                wakeRefused()
                return
            }
            fail(
                isRefusal(status)
                    ? refusal(status) : .transfer(.status(status), attempts: resolutions))
            return
        }
        tell(.resolvingAgain(status: status))
        resolving = Task { [id, loop, resolve = setup.resolve] in
            let resolution = await resolve()
            loop.perform { $0.fetch(id)?.resolved(resolution) }
        }
    }

    /// Whether some connection gets its bytes: then one that is refused is perhaps only one too many,
    /// and waits.
    private var isServed: Bool { slots.contains { $0.writer != nil } }

    /// The original URL was resolved again.
    func resolved(_ resolution: Probe.Resolution) {
        resolving = nil
        switch resolution {
        case .same(let url): self.url = url
        case .changed(let breach):
            finish(.changed(breach))
            return
        case .failed(let reason):
            guard isServed || receivedSoFar > receivedAtResolution else {
                fail(reason)
                return
            }
        }
        wakeRefused()
        pump(monotonicSeconds())
    }

    /// Has the connections that were refused try again: at once, or after a while when not for the
    /// first time.
    private func wakeRefused() {
        let now = monotonicSeconds()
        for index in slots.indices where slots[index].waitsUntil == .infinity {
            let failures = slots[index].failures
            let delay = setup.policy.delay(
                failures: failures, retryAfter: nil, random: .random(in: 0..<1))
            slots[index].waitsUntil = now + (failures > 1 ? delay : 0)
        }
    }
}
