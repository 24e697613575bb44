// Expired links, and servers that forbid what they have served before.
extension FetchMachine {
    /// Resolves the original URL again, because a signed URL may have expired.
    ///
    /// If that changes nothing, the connection waits: the server may be at its limit.
    package mutating func resolve(
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

    /// Handles the result of resolving the original URL again.
    package mutating func resolved(
        _ source: Int, _ resolution: LinkResolution, _ world: some FetchWorld
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
                // Other connections are still receiving what they requested before the link
                // expired. The refused ones wait until they finish.
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

    /// Leaves a server alone for a while if it forbids what it has served before: it may count
    /// requests.
    ///
    /// - Returns: Whether the server is left alone. This is not done if the 403 may concern a
    ///   password or an expired link, nor after too many pauses.
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

    /// Lets the refused connections retry: immediately after the first refusal, later with a delay.
    ///
    /// A refusal that does not concern the URL may mean that the server is at its limit.
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
