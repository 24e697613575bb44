import Assembler

// Requests, and what comes of them.
extension FetchMachine {
    /// Bytes that each connection reads at a time where there are many: sixteen of them have their
    /// buffers in a MiB then, and none is so fast that it needs more.
    private static let bufferOfMany = 64 << 10

    /// Asks for bytes.
    mutating func request(_ index: Int, _ range: ByteRange, _ world: some FetchWorld) {
        ignoredRange = nil
        let number = slots[index].source
        var ask = ask(
            number, setup.isOneStream ? nil : range, skipsIfRange: slots[index].skipsIfRange,
            isSample: slots[index].sample != nil)
        if slots.count >= ConnectionGovernor.many { ask.bufferSize = Self.bufferOfMany }
        route(index, &ask, world)
        noteRequest(index, world)
        slots[index].request = Request(
            asked: ask.range, since: world.now, sentIfRange: ask.ifRange != nil,
            isHTTP2: world.needsHTTP2(ask.url.origin), isUnderWay: true)
        ask.silentBefore = slots[index].silentBefore
        world.request(index, ask)
        if setup.isOneStream { allow(world) }
    }

    /// A request to a server, with what its reply is held against.
    func ask(
        _ source: Int, _ range: ByteRange?, skipsIfRange: Bool = false, isSample: Bool = false
    ) -> Ask {
        let ifRange =
            range == nil || skipsIfRange ? nil : sources[source].mirror.identity.ifRange
        return Ask(
            url: sources[source].url, range: range, ifRange: ifRange,
            check: check(source, range, ifRange, isSample: isSample))
    }

    // MARK: Events

    /// Judges the head of a reply, before the first byte of its body.
    mutating func judge(_ index: Int, _ head: Head, _ world: some FetchWorld) -> Verdict {
        let (source, reply) = (slots[index].source, head.reply)
        let wait = world.now - slots[index].request.since
        sources[source].longestWait = max(sources[source].longestWait ?? 0, wait)
        noteWait(wait - head.connecting)
        slots[index].request.hasReply = true
        let verdict = head.check.verdict(on: reply)
        switch verdict {
        case .accept(let range):
            let served = range ?? ByteRange(0, scheduler.size)
            sources[source].trust.mismatches = 0
            sources[source].link.isRefused = false
            noteAccepted(source, served, world)
            noteAddress(index, head.route, world)
            if head.check.isUndated(reply) { sources[source].dates.isUndated = true }
            if slots[index].sample != nil { return sampling(index, served, reply) }
            if isTooLongToProve(index, reply, range) { return .decline }
            slots[index].flow.begin(world.now)
            // What was stolen since the request went out is not ours any more.
            let end = scheduler.segments[index]?.end ?? served.start
            let limit = min(end, served.end, writeLimit)
            let proof = limit == range?.end ? proof(index, reply) : nil
            let body = Body(
                start: served.start, limit: limit, replyEnd: served.end, proof: proof)
            slots[index].request.body = body
            sources[source].accepted += 1
            noteServed(index, world)
            if setup.isOneStream { noteUnprovenEnd(reply, world) }
            return .accept(body)
        case .breach:
            slots[index].request.refusal = verdict
            return .decline
        case .status:
            slots[index].request.refusal = verdict
            slots[index].request.retryAfter = reply.retryAfter
            return .discard
        }
    }

    /// A request is over.
    mutating func ended(_ index: Int, _ end: TransferEnd, _ world: some FetchWorld) {
        let isAccepted = slots[index].request.body != nil
        let reached = world.position(of: index) ?? 0
        let sample = endSample(index)
        slots[index].silentBefore = 0
        guard !settleProof(index, world) else { return }
        // A reply that is not read to its end costs the connection.
        if end != .complete || reached != slots[index].request.asked?.end {
            slots[index].flow.since = nil
        }
        let count = retire(index, world)
        measureWhole(index, count, world)
        if count > 0 { noteProgress(index) }
        if let sample, end == .complete {
            sampled(index, sample, world)
            return
        }
        let isEmpty = count == 0 && !(isAccepted && end == .complete)
        if isEmpty, goesOnOverHTTP2(index, after: end, world) || leaves(index, because: end, world)
        {
            return
        }
        switch end {
        case .complete where isAccepted: completed(index, reached, world)
        case .complete:
            retry(index, .network(code: 0, message: "the response had no head"), world)
        case .declined where slots[index].request.asksAgain: askShorter(index, world)
        case .declined: declined(index, world)
        case .failed(let failure): retry(index, failure, world)
        case .disk(let errno): fail(writing: errno, world)
        case .untrusted(let text): giveUp(slots[index].source, .untrusted(text), world)
        case .badCertificateFile: fail(.certificateFile(path: world.certificatePath), world)
        case .badSetting(let problem): fail(.access(problem), world)
        case .proxyRefused(let status, _): fail(.proxyRefused(status: status), world)
        case .cancelled: finish(.cancelled, world)
        }
    }

    /// Bytes of the file have come over a connection.
    private mutating func noteProgress(_ index: Int) {
        noteBytes(index)
        slots[index].backoff.clear()
        slots[index].skipsIfRange = slots[index].skipsIfRange && !slots[index].request.sentIfRange
        slots[index].wantsFreshConnection = false
        sources[slots[index].source].trust.ignoredRanges = 0
    }

    // MARK: What is over

    /// A connection's request is over, and with it what a second one for its rest may overtake.
    mutating func endRequest(_ index: Int) {
        slots[index].request.isUnderWay = false
        slots[index].flow.positionAtTick = nil
        hedges.sent[index]?.isLate = true
    }

    /// Takes the writer of a request that is over.
    ///
    /// - Returns: Bytes that it wrote.
    mutating func retire(_ index: Int, _ world: some FetchWorld) -> Int64 {
        endRequest(index)
        guard let body = slots[index].request.body else { return 0 }
        let isDropped = body.proof != nil && sources[slots[index].source].trust.isForging
        slots[index].request.body = nil
        let written = ByteRange(
            body.start, max(body.start, world.retire(index, dropping: isDropped) ?? body.start))
        // What is not whole cannot be compared. It counts nevertheless, unless the last range that was
        // compared was wrong.
        scheduler.advance(index, to: written.end)
        if isDropped, !written.isEmpty { scheduler.takeBack(written) }
        sources[slots[index].source].received += written.count
        ledger.note(written, by: sources[slots[index].source].mirror.number)
        return written.count
    }

    /// Has a request made again, at once, that has failed because it went out over HTTP/1.1.
    ///
    /// - Returns: Whether that was why.
    private mutating func goesOnOverHTTP2(
        _ index: Int, after end: TransferEnd, _ world: some FetchWorld
    ) -> Bool {
        let url = sources[slots[index].source].url
        guard case .failed(let failure) = end, !slots[index].request.isHTTP2,
            let isNews = world.isRefusedVersion(failure, url)
        else { return false }
        if isNews { world.report(.needsHTTP2(url: url.redacted)) }
        retry(index, failure, isHasty: true, world)
        return true
    }

    private mutating func completed(_ index: Int, _ reached: Int64, _ world: some FetchWorld) {
        if setup.isOneStream, setup.identity.size == nil {
            let size = scheduler.segments[index]?.position ?? 0
            // As many bytes as had been asked for: perhaps they were no more than that.
            guard reached != ignoredRange?.count else {
                finish(.mayBePart, world)
                return
            }
            // One that was begun again is of the same version, and cannot be shorter.
            guard reached >= size else {
                fail(.contract(.otherSize(expected: size, got: reached)), world)
                return
            }
            if !failIfTooLarge(size, world) { finish(.complete(size: size), world) }
            return
        }
        guard !finishIfComplete(world) else { return }
        // A server may cap ranges: the rest of the segment is asked for at once.
        // Or it was one window of it.
        if let next = nextRange(index) {
            request(index, next, world)
        } else {
            pump(world)
        }
    }
}
