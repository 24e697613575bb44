import Assembler

/// Fetches what is missing of one file: scheduler, requests, retries.
///
/// Lives on the loop thread.
///
/// A fetch ends when the file is complete, or when something must be decided that needs a probe or
/// another part: the `Outcome` says what.
final class Fetch {
    /// Replies about another version in a row, on new connections, before that is believed.
    static let mismatchLimit = 4
    /// Times in a row that ranges may be ignored, or the URL resolved again, without progress.
    static let patience = 3
    /// Bytes that each connection reads at a time where there are many: sixteen of them have their
    /// buffers in a MiB then, and none is so fast that it needs more.
    private static let bufferOfMany = 64 << 10

    let id: Int
    let setup: Setup
    let assembly: any Output
    let loop: TransferLoop
    let report: @Sendable (DownloadNotice) -> Void
    let worker: Worker
    let reporter: ProgressReporter
    let completion: (Outcome, MirrorLedger) -> Void

    var scheduler: SegmentScheduler
    var slots: [Slot]
    /// Finds the number of connections; `nil` when it is fixed.
    var governor: ConnectionGovernor?
    /// The servers that the file comes from; the first leads.
    var sources: [Source]
    /// What came from where.
    var ledger = MirrorLedger()
    /// Whether the outcome was told.
    var isOver = false
    private(set) var lastTick = 0.0
    /// Whether more may be asked for since a reply came.
    var isEager = false
    /// What the output can take at present; `nil` is everything.
    private(set) var window: OutputWindow?
    /// The least speed that is put up with.
    var floor: RateFloor?
    /// What is done about connections that say nothing.
    var stalls = StallDetector()
    /// What is done about connections that are slow.
    var rescue = Rescue()
    /// What is asked for a second time, by the connection that has it.
    var hedging: Hedging
    var hedges: [Int: Hedge] = [:]
    /// A request that tries whether the server can be reached.
    var canary: Canary?
    /// What the adopted reply's request had asked for, when it brings the whole file all the same.
    var ignoredRange: ByteRange?
    /// Bytes that had been received when any last came, and since when at the latest.
    var arrival = (received: Int64(0), since: -Double.infinity)
    /// Bytes that had been received when the speed was last watched.
    var receivedAtWatch: Int64 = 0

    init(
        _ setup: Setup, assembly: any Output, worker: Worker, loop: TransferLoop,
        reporter: ProgressReporter, report: @escaping @Sendable (DownloadNotice) -> Void,
        completion: @escaping (Outcome, MirrorLedger) -> Void
    ) {
        self.setup = setup
        self.assembly = assembly
        self.worker = worker
        self.loop = loop
        self.report = report
        self.completion = completion
        self.reporter = reporter
        id = worker.makeID()
        sources = [Source(setup.primary)]
        (sources[0].standing, sources[0].hasJoined) = (.proven, true)
        sources[0].vouchedDates = setup.vouchedDates
        sources[0].confidence = Confidence(isProven: setup.isProven && !setup.isDoubted)
        scheduler = SegmentScheduler(
            size: setup.identity.size ?? Int64.max,
            verifying: assembly.unverified.values.map(\.range), done: assembly.recorded.covered)
        hedging = Hedging(size: setup.identity.size ?? 0)
        if setup.connections == .automatic, !setup.isOneStream {
            governor = ConnectionGovernor(
                most: setup.connections.most, roundTrip: worker.roundTrips[setup.url.origin])
        }
        slots = Array(
            repeating: Slot(),
            count: setup.isOneStream ? 1 : governor?.target ?? setup.connections.most)
        floor = setup.limits.minRate.map {
            RateFloor(rate: $0, period: setup.limits.minRatePeriod)
        }
    }

    // MARK: From the worker

    /// Begins: adopts the reply that waits, checks what an earlier run left, and asks for the rest.
    func start(now: Double) {
        worker.add(self)
        window = assembly.takeWindow()
        assembly.onMove { [id, loop] in loop.perform { $0.fetch(id)?.outputMoved() } }
        adoptPaused()
        guard !isOver else { return }
        // Of a file that began as a small one nobody has asked for them yet.
        if !setup.isOneStream, setup.connections.most > 1 {
            loop.findAddresses(for: .init(url: setup.url, connecting: setup.connecting))
        }
        govern(now)
        assembly.startVerifying { [id, loop] range, isIntact in
            loop.perform { $0.fetch(id)?.verified(range, isIntact: isIntact) }
        }
        pump(now)
    }

    /// After each turn of the loop: records when enough has come.
    func turn() {
        if isEager { pump(monotonicSeconds()) }
        guard !isOver else { return }
        guard assembly.unrecorded >= assembly.recordThreshold else { return }
        record()
    }

    /// About every 100 ms: records, measures, gives out work.
    func tick(_ now: Double) {
        for index in slots.indices { measure(index, now) }
        noteRates(now)
        let elapsed = lastTick > 0 ? now - lastTick : 0
        lastTick = now
        for slot in slots { slot.transfer.map(worker.endIfSatisfied) }
        guard !isOver else { return }
        record()
        guard !isOver else { return }
        watchRate(elapsed)
        guard !isOver else { return }
        watchReplies(now)
        guard !isOver else { return }
        watchServerLimits(now)
        govern(now)
        pump(now)
        guard !isOver else { return }
        hedge(now)
        reporter.report(self, now: now)
    }

    /// An earlier run's extent was checked.
    func verified(_ range: ByteRange, isIntact: Bool) {
        assembly.confirm(range, isIntact: isIntact)
        scheduler.verified(range, isIntact: isIntact)
        if !isIntact { report(.damaged(range)) }
        guard !finishIfComplete() else { return }
        if !isIntact { pump(monotonicSeconds()) }
    }

    /// Stops in order: everything that arrived is recorded.
    func cancel() { finish(.cancelled) }

    // MARK: Giving out work

    func pump(_ now: Double) {
        guard !isOver, !finishIfComplete() else { return }
        isEager = false
        window = assembly.takeWindow()
        for slot in slots where setup.isOneStream { slot.transfer.map(allow) }
        for index in slots.indices where slots[index].transfer == nil {
            guard slots[index].waitsUntil <= now, !isSurplus(index), prepare(index)
            else { continue }
            guard setup.isOneStream || findRoom(index, now) else { continue }
            if setup.isOneStream {
                if scheduler.adopt(rest, by: index) { request(index, rest) }
                continue
            }
            let work = scheduler.assign(
                index, connections: workers, isMade: slots[index].isMade, now: now,
                maySteal: maySteal(), sharers: sharers(with: index, now), window: window
            ) { [slots] other in slots[other].writer?.position }
            if case .stolen(let range, let victim)? = work {
                // What was not requested yet costs nobody anything.
                slots[victim].transfer.flatMap(worker.transfer)?.shorten(to: range.start)
                slots[victim].writer?.waiveProof()
                report(.stole(range, rate: scheduler.rates[victim]))
            }
            if let range = nextRange(index) { request(index, range) }
        }
        trimHedges()
    }

    func request(_ index: Int, _ range: ByteRange) {
        ignoredRange = nil
        let source = sources[slots[index].source]
        let (url, identity) = (source.url, source.mirror.identity)
        var request = TransferRequest(url: url, connecting: setup.connecting)
        if !setup.isOneStream {
            request.range = range
            request.ifRange = slots[index].skipsIfRange ? nil : identity.ifRange
        }
        if slots.count >= ConnectionGovernor.many { request.bufferSize = Self.bufferOfMany }
        route(index, &request)
        slots[index].requested = monotonicSeconds()
        noteRequest(index)
        slots[index].asked = request.range
        slots[index].sentIfRange = request.ifRange != nil
        slots[index].isHTTP2 = setup.connecting.memory.versions.needsHTTP2(url.origin)
        slots[index].refusal = nil
        slots[index].retryAfter = nil
        request.isDecoded = setup.isDecoded
        let check = check(slots[index].source, request, isSample: slots[index].sample != nil)
        slots[index].missedSample = false
        slots[index].asksAgain = false
        let transfer = worker.start(request) { [unowned self] reply in
            judge(index, check, reply)
        } onEnd: { [unowned self] end in
            ended(index, end)
        }
        transfer.owner = id
        transfer.silentBefore = slots[index].silentBefore
        slots[index].transfer = transfer.id
        if setup.isOneStream { allow(transfer.id) }
    }

    // MARK: What came

    /// Judges the head of a reply, before the first byte of its body.
    private func judge(_ index: Int, _ check: ResponseCheck, _ reply: Reply)
        -> Transfer.Verdict
    {
        let source = slots[index].source
        let wait = monotonicSeconds() - slots[index].requested
        sources[source].longestWait = max(sources[source].longestWait ?? 0, wait)
        noteWait(index, wait)
        slots[index].hasReply = true
        let verdict = check.verdict(on: reply)
        switch verdict {
        case .accept(let range):
            let whole = ByteRange(0, scheduler.size)
            let served = range ?? whole
            sources[source].mismatches = 0
            sources[source].isRefused = false
            noteAccepted(source, served)
            let transfer = slots[index].transfer.flatMap(worker.transfer)
            noteAddress(index, transfer)
            if check.isUndated(reply) { sources[source].isUndated = true }
            if slots[index].sample != nil { return sampling(index, served, reply) }
            if isTooLongToProve(index, reply, range) { return .decline }
            let writer = assembly.makeWriter(at: served.start)
            slots[index].writer = writer
            noteBody(index)
            sources[source].accepted += 1
            noteServed(index)
            if setup.isOneStream { noteUnprovenEnd(reply) }
            // What was stolen since the request went out is not ours any more.
            let end = scheduler.segments[index]?.end ?? served.start
            let limit = min(end, served.end, writeLimit)
            if limit == range?.end { expectProof(index, reply, served) }
            return .write(writer, limit: limit, replyEnd: served.end)
        case .breach:
            slots[index].refusal = verdict
            return .decline
        case .status:
            slots[index].refusal = verdict
            slots[index].retryAfter = reply.retryAfter
            return .discard
        }
    }

    func syncPosition(_ index: Int) {
        guard let writer = slots[index].writer else { return }
        scheduler.advance(index, to: writer.position)
    }

    /// The reply that was adopted is over.
    func adoptedEnd(_ end: TransferEnd) { ended(0, end) }

    private func ended(_ index: Int, _ end: TransferEnd) {
        let isAccepted = slots[index].writer != nil
        let reached = slots[index].writer?.position ?? 0
        let sample = endSample(index)
        slots[index].silentBefore = 0
        guard !settleProof(index) else { return }
        // A reply that is not read to its end costs the connection.
        if end != .complete || reached != slots[index].asked?.end { slots[index].flowsSince = nil }
        let count = retire(index)
        measureWhole(index, count)
        if count > 0 {
            noteBytes(index)
            slots[index].failures = 0
            slots[index].barren = 0
            slots[index].skipsIfRange = slots[index].skipsIfRange && !slots[index].sentIfRange
            slots[index].wantsFreshConnection = false
            sources[slots[index].source].ignoredRanges = 0
        }
        if let sample, end == .complete {
            sampled(index, sample.asked, sample.sampler)
            return
        }
        let isEmpty = count == 0 && !(isAccepted && end == .complete)
        if isEmpty, goesOnOverHTTP2(index, after: end) || leaves(index, because: end) { return }
        switch end {
        case .complete where isAccepted: completed(index, reached)
        case .complete: retry(index, .network(code: 0, message: "the response had no head"))
        case .declined where slots[index].asksAgain: askShorter(index)
        case .declined: declined(index)
        case .failed(let failure): retry(index, failure)
        case .disk(let errno):
            fail(.assembly(.io(operation: "write", path: assembly.writtenPath, errno: errno)))
        case .untrusted(let text): giveUp(slots[index].source, .untrusted(text))
        case .badCertificateFile:
            fail(.certificateFile(path: setup.connecting.caCertificate ?? ""))
        case .badSetting(let problem): fail(.access(problem))
        case .proxyRefused(let status, _): fail(.proxyRefused(status: status))
        case .cancelled: finish(.cancelled)
        }
    }

    /// Takes the writer of a transfer that is over.
    ///
    /// - Returns: Bytes that it wrote.
    func retire(_ index: Int) -> Int64 {
        slots[index].transfer = nil
        slots[index].positionAtTick = nil
        guard let writer = slots[index].writer else { return 0 }
        endProof(index, writer)
        assembly.retire(writer)
        slots[index].writer = nil
        let count = writer.position - writer.start
        sources[slots[index].source].received += count
        ledger.note(
            ByteRange(writer.start, writer.position),
            by: sources[slots[index].source].mirror.number)
        return count
    }

    private func completed(_ index: Int, _ reached: Int64) {
        if setup.isOneStream, setup.identity.size == nil {
            let size = scheduler.segments[index]?.position ?? 0
            // As many bytes as had been asked for: perhaps they were no more than that.
            guard reached != ignoredRange?.count else {
                finish(.mayBePart)
                return
            }
            // One that was begun again is of the same version, and cannot be shorter.
            guard reached >= size else {
                fail(.contract(.otherSize(expected: size, got: reached)))
                return
            }
            if !failIfTooLarge(size) { finish(.complete(size: size)) }
            return
        }
        guard !finishIfComplete() else { return }
        // A server may cap ranges: the rest of the segment is asked for at once.
        // Or it was one window of it.
        if let next = nextRange(index) {
            request(index, next)
        } else {
            pump(monotonicSeconds())
        }
    }
}
