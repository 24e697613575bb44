import Assembler

// What did not come, and what is done about it.
extension FetchMachine {
    /// Goes on, after a request that ended without a byte of the file, as if nothing had happened: over
    /// another version of HTTP, or at another address.
    ///
    /// - Returns: Whether that is possible.
    mutating func goesOn(
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
        // Where `HEAD` was asked, its contradiction is taken seriously.
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

    /// A request has ended with nothing that could be used.
    mutating func failed(_ index: Int, _ end: TransferEnd, _ world: some FetchWorld) {
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

    /// What could not be written ends the fetch.
    mutating func fail(writing errno: Int32, _ world: some FetchWorld) {
        fail(
            .assembly(.io(operation: "write", path: world.writtenPath, errno: errno)), world)
    }

    // MARK: Replies that are not the file's

    /// The head of a reply was judged, and its body is not the file's.
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
            // Perhaps it is the range that the server does not like, though `HEAD` offered ranges.
            let refusal =
                isFirst && !setup.isOneStream && Probe.Asking.mayRefuseRanges.contains(status)
                ? .contradictsProbe
                : sources[source].refused(
                    status, isOneStream: setup.isLeftAlone, isAboveLimit: isAbove,
                    date: world.date)
            follow(refusal, index, .status(status), world)
        default: retry(index, .network(code: 0, message: "the reply had no body"), world)
        }
    }

    /// Does what follows from a reply whose body is not the file's.
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
        case .doubt:
            scheduler.release(index)
            pump(world)
        case .resolve:
            if case .status(let status) = failure { resolve(index, because: status, world) }
        case .drop(let fault): drop(slots[index].source, fault, world)
        }
    }

    /// Compares what a connection has brought with its digest, when it is whole.
    ///
    /// - Returns: Whether it was wrong: then it is asked for again.
    mutating func settleProof(_ index: Int, _ world: some FetchWorld) -> Bool {
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

    // MARK: Trying again

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

    /// Whether the network is away, and that is waited for elsewhere: a connection has failed again because
    /// of that, and no other has anything to go on with.
    private func isLost(
        after failure: TransferFailure, of index: Int, _ world: some FetchWorld
    ) -> Bool {
        guard setup.endsWithNetwork, failure.isNetworkLoss, slots[index].backoff.failures > 0
        else { return false }
        return slots.indices.allSatisfy { other in
            let slot = slots[other]
            if other == index { return true }
            guard slot.isBusy else {
                // One of another server's may have nothing to do, and be fine.
                return slot.source == slots[index].source || slot.backoff.failures > 0
            }
            return world.state(of: other).map { $0.quiet >= StallDetector.patience } ?? false
        }
    }

    private mutating func step(
        _ index: Int, after failure: TransferFailure, _ world: some FetchWorld
    ) -> Slot.Backoff.Step {
        let (source, origin) = (slots[index].source, sources[slots[index].source].origin)
        let received = received(from: source, world)
        let others = self.received(world) - received
        slots[index].backoff.note(received: received, others: others)
        let slot = slots[index]
        let isWaitedFor = sources.waits(for: source, slot.backoff, others: others, slots)
        // What the others of several servers, or addresses, bring is not known yet.
        let isAlone = setup.isBeginning && sources.count == 1 && sources[0].places.book == nil
        let first = isAlone ? world.firstStep(origin, after: failure, slot) : .asEver
        if first == .giveUp, !world.hasServed(origin) { world.gaveUp(origin) }
        return slot.backoff.step(
            after: failure, retryAfter: slot.request.retryAfter,
            isBearable: isWaitedFor
                && sources[source].trust.bears(failure, slot.backoff.failures),
            first: first, policy: setup.policy, random: world.random)
    }

    /// Has a connection wait before it tries again.
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

    /// Has a connection rest, or try again soon, that was turned away while others are served.
    ///
    /// - Returns: Whether that is how it is: if not, it is a failure like any other.
    mutating func turnAway(
        _ index: Int, _ failure: TransferFailure, _ world: some FetchWorld
    ) -> Bool {
        let (request, origin) = (slots[index].request, sources[slots[index].source].origin)
        // Others are being served: nobody rests for days for that.
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

    /// Whether nothing of the file comes while others of its only server are served, and whoever has begun it
    /// tries again later.
    func isUnserved(_ source: Int, _ world: some FetchWorld) -> Bool {
        let origin = sources[source].origin
        return setup.endsToRest && sources.isAlone(source) && !world.isLimited(origin)
            && load(at: origin, world).served == 0 && world.othersLoad(at: origin).served > 0
    }
}
