import Assembler

// Links that lead nowhere any more, and servers that forbid what they have served.
extension FetchMachine {
    /// Has the original URL resolved again: a signed URL may have expired.
    ///
    /// Where that changes nothing (a server that refuses a connection over its limit), the
    /// connection waits.
    mutating func resolve(
        _ index: Int, because status: Int, _ world: some FetchWorld
    ) {
        let source = slots[index].source
        scheduler.release(index)
        slots[index].backoff.failures += 1
        slots[index].backoff.until = .infinity
        guard !sources[source].link.isResolving else { return }
        let attempts = sources[source].link.resolvesAgain(
            received: received(from: source, world))
        guard attempts <= Self.patience else {
            let origin = sources[source].origin
            if slots.isServed(source) || world.mayBeLimit(of: origin, refusal(status)) {
                wakeRefused(source, world)
            } else if status == 403, sources[source].mirror.mayRest,
                !sources[source].link.isOver(date: world.date), isUnserved(source, world)
            {
                fail(.transfer(.status(status), attempts: attempts), world)
            } else if !rests(source, because: refusal(status), world) {
                giveUp(
                    source,
                    isRefusal(status)
                        ? refusal(status) : .transfer(.status(status), attempts: attempts),
                    world)
            }
            return
        }
        world.report(.resolvingAgain(status: status))
        sources[source].link.isResolving = true
        world.resolve(source, mirror: sources[source].mirror.number)
    }

    /// The original URL was resolved again.
    mutating func resolved(
        _ source: Int, _ resolution: Probe.Resolution, _ world: some FetchWorld
    ) {
        guard sources[source].standing != .dropped else { return }
        sources[source].link.isResolving = false
        var isElsewhere = false
        switch resolution {
        case .same(let url): isElsewhere = sources[source].lead(to: url)
        case .changed(let breach):
            drop(source, .changed(breach), world)
            return
        case .failed(let reason):
            let isServed = slots.isServed(source)
            if isServed, sources[source].link.isOver(date: world.date) {
                // Others bring what they asked for in time: those that were refused wait for that.
                sources[source].link.expired = reason
                return
            }
            let hasProgressed =
                received(from: source, world) > sources[source].link.receivedAtResolution
            guard
                isServed || hasProgressed
                    || world.mayBeLimit(of: sources[source].origin, reason)
            else {
                if !rests(source, because: reason, world) { giveUp(source, reason, world) }
                return
            }
        }
        wakeRefused(source, isElsewhere: isElsewhere, world)
        pump(world)
    }

    /// Leaves a server alone for a while that forbids what it has served, where nothing else helps: it may count
    /// requests.
    ///
    /// - Returns: Whether it does that: not where it may be a password or a link that it forbids, nor when it was
    ///   left alone often enough.
    private mutating func rests(
        _ source: Int, because reason: DownloadError.Reason, _ world: some FetchWorld
    ) -> Bool {
        let origin = sources[source].origin
        guard reason == .refused(status: 403), sources[source].mirror.mayRest,
            !sources[source].link.isOver(date: world.date),
            sources[source].accepted > 0 || (world[quotaOf: origin]?.rests ?? 0) > 0
        else { return false }
        var quota = world[quotaOf: origin] ?? RequestQuota()
        let step = quota.forbidden(now: world.now)
        world[quotaOf: origin] = quota
        guard case .rest(let seconds) = step else { return false }
        sources[source].trust.forbade(isAgain: quota.rests == 2)
        let rest = Duration(seconds: seconds)
        world.report(.resting(url: sources[source].mirror.shownURL, for: rest))
        if setup.endsToRest, sources.isAlone(source) {
            fail(.transfer(.resting(for: rest), attempts: 1), world)
            return true
        }
        for index in slots.indices(of: source) where !slots[index].isBusy {
            slots[index].backoff.clear()
            slots[index].backoff.until = 0
        }
        pump(world)
        return true
    }

    /// Has the connections that were refused try again: at once, or after a while when not for the
    /// first time.
    ///
    /// A refusal that is not about the URL may say that they are over the server's limit.
    private mutating func wakeRefused(
        _ source: Int, isElsewhere: Bool = false, _ world: some FetchWorld
    ) {
        for index in slots.indices(of: source)
        where !isOver && slots[index].backoff.until == .infinity {
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
