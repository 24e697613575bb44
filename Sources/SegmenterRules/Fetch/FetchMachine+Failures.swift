// Failed requests and unusable responses.
extension FetchMachine {
    /// Retries immediately over another HTTP version or at another address, if that may help.
    ///
    /// - Returns: Whether it retries.
    package mutating func goesOn(
        _ index: Int, after end: TransferEnd, _ world: some FetchWorld
    ) -> Bool {
        let (source, request) = (slots[index].source, slots[index].request)
        let url = sources[source].url
        if case .failed(let failure) = end, !request.isHTTP2,
            let isNews = world.isRefusedVersion(failure, url)
        {
            if isNews { world.report(.needsHTTP2(url: url.redacted)) }
            retry(index, failure, isHasty: true, world)
            return true
        }
        // Until a `GET` response has confirmed the identity, a response may contradict that of
        // `HEAD`.
        let isProbed = source == 0 && !setup.isProven
        guard let cause = request.fault(end),
            let address = sources[source].blamed(
                index, for: cause, isProbed: isProbed, slots, world)
        else { return false }
        let hasOther = sources[source].places.leave(
            address, .failed(cause), atLeast: request.retryAfter, now: world.now)
        reportAddresses(of: source, world)
        guard hasOther else { return false }
        scheduler.release(index)
        slots[index].startAnew()
        pump(world)
        return true
    }

    /// Handles a request that ended without usable bytes.
    package mutating func failed(_ index: Int, _ end: TransferEnd, _ world: some FetchWorld) {
        switch end {
        case .complete:
            retry(index, .network(code: 0, message: "the response had no head"), world)
        case .failed(let failure): retry(index, failure, world)
        case .declined: declined(index, world)
        case .untrusted(let text): giveUp(slots[index].source, .untrusted(text), world)
        case .denied(let address):
            giveUp(slots[index].source, .addressDenied(.privateAddress(address)), world)
        case .badCertificateFile: fail(world.certificateFailure, world)
        case .badSetting(let problem): fail(.access(problem), world)
        case .proxyRefused(let status, _): fail(.proxyRefused(status: status), world)
        case .disk(let errno): fail(writing: errno, world)
        case .cancelled: finish(.cancelled, world)
        }
    }

    /// Ends the fetch after a failed write.
    package mutating func fail(writing errno: Int32, _ world: some FetchWorld) {
        fail(
            .assembly(.io(operation: "write", path: world.writtenPath, errno: errno)), world)
    }

    // MARK: Unusable responses

    /// Handles a response whose head was judged unusable.
    private mutating func declined(_ index: Int, _ world: some FetchWorld) {
        let (source, request) = (slots[index].source, slots[index].request)
        let isFirst = source == 0 && !setup.isProven && sources.haveNothing
        switch request.refusal {
        case .breach(let breach)?:
            world.report(.replyRefused(breach))
            let refusal =
                isFirst
                ? .contradictsProbe
                : sources[source].refused(
                    breach, to: request, setup, hasBytes: world.bytesKept > 0)
            follow(refusal, index, .breach(breach), world)
        case .status(let status)?:
            let origin = sources[source].origin
            let isAbove =
                status == 403 && world.isAboveLimit(of: origin, own: load(at: origin, world))
            // The server may refuse only the range, although its `HEAD` response offered ranges.
            let refusal =
                isFirst && !setup.isOneStream && mayRefuseRange(status)
                ? .contradictsProbe
                : sources[source].refused(
                    status, to: request, isOneStream: setup.isLeftAlone, isAboveLimit: isAbove,
                    date: world.date)
            follow(refusal, index, .status(status), world)
        default: retry(index, .network(code: 0, message: "the reply had no body"), world)
        }
    }

    /// Carries out the decision about an unusable response.
    private mutating func follow(
        _ refusal: Source.Refusal, _ index: Int, _ failure: TransferFailure,
        _ world: some FetchWorld
    ) {
        switch refusal {
        case .contradictsProbe: finish(.contradictsProbe, world)
        case .again: retry(index, failure, world)
        case .againElsewhere:
            slots[index].wantsFreshConnection = true
            retry(index, failure, isHasty: true, world)
        case .againWithoutIfRange:
            slots[index].skipsIfRange = true
            world.report(.ifRangeUnusable(scheduler.segments[index]?.rest))
            retry(index, failure, isHasty: true, world)
        case .doubt, .againAtNewURL:
            scheduler.release(index)
            pump(world)
        case .resolve:
            if case .status(let status) = failure { resolve(index, because: status, world) }
        case .drop(let fault): drop(slots[index].source, fault, world)
        }
    }

    /// Compares the body of a connection with its digest, once it is complete.
    ///
    /// - Returns: Whether the body does not match. Its bytes are then requested again.
    package mutating func settleProof(_ index: Int, _ world: some FetchWorld) -> Bool {
        guard let body = slots[index].request.body, body.proof != nil,
            let isRight = world.settleProof(index)
        else { return false }
        let source = slots[index].source
        sources[source].trust.isForging = !isRight
        slots[index].request.body?.proof = nil
        guard !isRight else { return false }
        if slots[index].isBusy { world.drop(index) }
        endRequest(index)
        slots[index].request.body = nil
        let range = ByteRange(body.start, world.retire(index, dropping: true) ?? body.start)
        scheduler.advance(index, to: range.end)
        scheduler.takeBack(range)
        slots[index].flow.forget()
        sources[source].received += range.count
        let breach = ContractBreach.otherContentDigest(range)
        world.report(.replyRefused(breach))
        retry(index, .breach(breach), world)
        return true
    }

    // MARK: Retries

    /// Releases the work of a connection, which waits before it retries.
    ///
    /// - Parameters:
    ///   - index: The connection.
    ///   - failure: The failure.
    ///   - isHasty: Whether the next attempt differs from the failed one. Such an attempt need not
    ///     wait, and has a separate limit.
    ///   - world: The facts and actions.
    package mutating func retry(
        _ index: Int, _ failure: TransferFailure, isHasty: Bool = false, _ world: some FetchWorld
    ) {
        let (source, retryAfter) = (slots[index].source, slots[index].request.retryAfter)
        guard !setup.isLeftAlone else {
            let reached =
                setup.isOneStream
                ? world.bytesInOrder : scheduler.done.count + scheduler.verifying.count
            finish(.streamBroken(failure, retryAfter: retryAfter, reached: reached), world)
            return
        }
        if !isHasty, isLost(after: failure, of: index, world) {
            fail(.transfer(failure, attempts: slots[index].backoff.failures + 1), world)
            return
        }
        if !isHasty, turnAway(index, failure, world) {
            pump(world)
            return
        }
        let asked = scheduler.segments[index]?.rest
        scheduler.release(index)
        slots[index].backoff.failures += 1
        let step =
            isHasty
            ? slots[index].backoff.hastyStep(retryAfter: retryAfter, policy: setup.policy)
            : step(index, after: failure, world)
        switch step {
        case .giveUp(let reason): giveUp(source, reason, world)
        case .again(let delay):
            let due = retryAfter == nil ? world.dueTime(sources[source].origin) : nil
            wait(index, due ?? delay, asked, failure, world)
            pump(world)
        }
    }

    /// Returns whether the network is lost, and the caller waits for it.
    ///
    /// This is the case if a connection has failed repeatedly for that reason, and no other makes
    /// progress.
    private func isLost(
        after failure: TransferFailure, of index: Int, _ world: some FetchWorld
    ) -> Bool {
        guard setup.endsWithNetwork, failure.isNetworkLoss, slots[index].backoff.failures > 0
        else { return false }
        return slots.indices.allSatisfy { other in
            let slot = slots[other]
            if other == index { return true }
            guard slot.isBusy else {
                // An idle connection to another server may be intact.
                return slot.source == slots[index].source || slot.backoff.failures > 0
            }
            return world.state(of: other).map { $0.quiet >= StallDetector.patience } ?? false
        }
    }

    private mutating func step(
        _ index: Int, after failure: TransferFailure, _ world: some FetchWorld
    ) -> Slot.Backoff.Decision {
        let (source, origin) = (slots[index].source, sources[slots[index].source].origin)
        let received = received(from: source, world)
        let others = self.received(world) - received
        slots[index].backoff.note(received: received, others: others)
        let slot = slots[index]
        let isWaitedFor = sources.waits(for: source, slot.backoff, others: others, slots)
        // With several servers or addresses, the others may still deliver bytes.
        let isAlone = setup.isBeginning && sources.count == 1 && sources[0].places.book == nil
        let first = isAlone ? world.firstStep(origin, after: failure, slot) : .asEver
        if first == .giveUp, !world.hasServed(origin) { world.gaveUp(origin) }
        return slot.backoff.step(
            after: failure, retryAfter: slot.request.retryAfter,
            isBearable: isWaitedFor
                && sources[source].trust.bears(failure, slot.backoff.failures),
            first: first, policy: setup.policy, random: world.random)
    }

    /// Makes a connection wait before it retries.
    private mutating func wait(
        _ index: Int, _ delay: Double, _ asked: ByteRange?, _ cause: TransferFailure,
        _ world: some FetchWorld
    ) {
        slots[index].backoff.until = world.now + delay
        world.report(
            .retrying(
                range: asked, attempt: slots[index].backoff.failures + 1,
                delay: .init(seconds: delay),
                cause: cause))
    }

    /// Makes a connection idle, or retry soon, if the server refuses it while serving others.
    ///
    /// - Returns: Whether that applies. If not, the failure is treated like any other.
    mutating func turnAway(
        _ index: Int, _ failure: TransferFailure, _ world: some FetchWorld
    ) -> Bool {
        let (request, origin) = (slots[index].request, sources[slots[index].source].origin)
        // The server serves others, so an excessive `Retry-After` is ignored.
        let retryAfter = request.retryAfter.flatMap {
            $0 > setup.policy.longestRetryAfter ? nil : $0
        }
        let isTooSoon = world.countsRefusal(
            origin, request, failure, own: load(at: origin, world))
        let isUnserved =
            isUnserved(slots[index].source, world)
            && failure.mayTurnAway(hadReply: request.hasReply)
        let verdict =
            isTooSoon || isUnserved
            ? .again
            : world.turnsAway(
                origin, request, failure, isFirst: slots[index].backoff.failures == 0,
                retryAfter: retryAfter, own: load(at: origin, world))
        guard verdict != .failure else { return false }
        let tries = slots[index].backoff.failures + 1
        if isUnserved, tries >= FirstContact.tries {
            fail(.transfer(failure, attempts: tries), world)
            return true
        }
        let asked = scheduler.segments[index]?.rest
        scheduler.release(index)
        slots[index].flow.forget()
        if verdict == .rest {
            slots[index].backoff.clear()
            slots[index].backoff.until = 0
            return true
        }
        slots[index].backoff.failures += 1
        slots[index].backoff.isOverLimit = true
        let delay = setup.policy.delay(
            failures: slots[index].backoff.failures, retryAfter: retryAfter,
            random: world.random())
        wait(index, delay, asked, failure, world)
        return true
    }

    /// Returns whether the only server serves other downloads but not this one, which its caller
    /// will retry later.
    func isUnserved(_ source: Int, _ world: some FetchWorld) -> Bool {
        let origin = sources[source].origin
        return setup.endsToRest && sources.isAlone(source) && !world.isLimited(origin)
            && load(at: origin, world).served == 0 && world.othersLoad(at: origin).served > 0
    }
}
