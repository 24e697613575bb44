import Assembler

/// Decides how what is missing of one file is fetched: which connection asks which server for which
/// bytes, what a reply, its end or its stall means, and when it is over.
///
/// It knows what is done, under way and failed, and asks the rest of the `FetchWorld` that comes with
/// each event; it never knows libcurl, a transfer, a file, a thread or a clock. The bodies of replies do
/// not pass through it.
///
/// What it is composed of decides on one thing each, and knows nothing of the machine: connections
/// (`Slots`) and their number (`Width`), servers (`Sources`), who fetches what (`SegmentScheduler`), how
/// fast all of it is (`Account`), and what is done about slow and stalled connections (`Rescue`,
/// `Hedges`, `Stalls`). The machine has that done. A plain URL's way is in this file.
///
/// It ends when the file is complete, or when something must be decided that needs a probe or another
/// part: the `Outcome` says what.
struct FetchMachine {
    /// Times in a row that ranges may be ignored, or the URL resolved again, without progress.
    static let patience = 3

    let setup: Setup
    var scheduler: SegmentScheduler
    var slots: Slots
    /// How many connections there are.
    var width: Width
    /// The servers that the file comes from; the first is the primary.
    var sources: Sources
    /// Whether the outcome was reported.
    private(set) var isOver = false
    /// Whether more may be asked for since a reply came.
    private(set) var isEager = false
    /// What the output can take at present; `nil` is everything.
    private(set) var window: OutputWindow?
    /// What has come, and when.
    var account: Account
    /// What is done about connections that say nothing.
    var stalls = Stalls()
    /// What is done about connections that are slow.
    var rescue = Rescue()
    /// What is asked for a second time, by the connection that has it.
    var hedges: Hedges
    /// What the adopted reply's request had asked for, when it brings the whole file all the same.
    private var ignoredRange: ByteRange?

    /// - Parameters:
    ///   - setup: What is to be fetched, and how.
    ///   - verifying: What an earlier run left, and is not checked yet.
    ///   - done: What is there and counts.
    ///   - roundTrip: Time to connect to the server, in seconds; `nil` when unknown.
    init(
        _ setup: Setup, verifying: [ByteRange] = [], done: RangeSet = RangeSet(),
        roundTrip: Double? = nil
    ) {
        self.setup = setup
        sources = Sources(Source(primary: setup))
        let size = setup.identity.size
        scheduler = SegmentScheduler(size: size ?? .max, verifying: verifying, done: done)
        hedges = Hedges(size: size ?? 0)
        account = Account(setup.limits)
        width = Width(setup, roundTrip: roundTrip)
        slots = Slots(count: width.count(servers: 1))
    }

    // MARK: It begins, time passes, it ends

    /// Begins: takes the reply that waits, has what an earlier run left checked, and asks for the rest.
    mutating func start(_ offer: Offer?, _ world: some FetchWorld) {
        window = world.takeWindow()
        if let offer { take(offer, world) }
        guard !isOver else { return }
        // Of a file that began as a small one nobody has asked for them yet.
        if !setup.isOneStream, setup.connections > 1 { world.findAddresses() }
        govern(world)
        world.startVerifying()
        pump(world)
    }

    /// About every 100 ms: records, measures, gives out work.
    mutating func tick(_ world: some FetchWorld) {
        count(world)
        for index in slots.indices where slots[index].isBusy && world.isSatisfied(index) {
            // It has written all that is its own: no need to wait for the rest.
            world.drop(index)
            ended(index, .complete, world)
        }
        guard !isOver else { return }
        record(world)
        guard !isOver else { return }
        watch(world)
        guard !isOver else { return }
        govern(world)
        pump(world)
        guard !isOver else { return }
        hedge(world)
        world.report(progress(world))
    }

    /// An earlier run's extent was checked.
    mutating func verified(_ range: ByteRange, isIntact: Bool, _ world: some FetchWorld) {
        scheduler.verified(range, isIntact: isIntact)
        if !isIntact { world.report(.damaged(range)) }
        guard !finishIfComplete(world) else { return }
        if !isIntact { pump(world) }
    }

    /// The output has made room, or has failed.
    mutating func outputMoved(_ world: some FetchWorld) {
        record(world)
        pump(world)
    }

    /// Stops in order: everything that arrived is recorded.
    mutating func cancel(_ world: some FetchWorld) { finish(.cancelled, world) }

    // MARK: Work is given out, and asked for

    /// Has every connection that is free ask for something.
    mutating func pump(_ world: some FetchWorld) {
        guard !isOver, !finishIfComplete(world) else { return }
        isEager = false
        window = world.takeWindow()
        if asksForAll, slots[0].isBusy { allow(world) }
        for index in slots.indices where !slots[index].isBusy {
            guard !isOver else { return }
            guard isFree(index, world), prepare(index, world) else { continue }
            guard setup.isOneStream || findRoom(index, world) else { continue }
            if setup.isOneStream {
                if scheduler.adopt(rest, by: index) { request(index, rest, world) }
                continue
            }
            let work = scheduler.assign(
                index, connections: workers(world), present: searchers(world),
                isMade: slots[index].isMade, now: world.now,
                maySteal: maySteal(index, world), leastSaving: leastSaving(index, world),
                sharers: sharers(with: index, world), window: asksForAll ? nil : window
            ) { world.position(of: $0) }
            if case .stolen(let range, let victim)? = work {
                steal(range, from: victim, for: index, world)
            }
            if let range = nextRange(index, world) { request(index, range, world) }
        }
        trimHedges(world)
    }

    /// What a single stream still has to bring: its replies begin at the first byte, but one may
    /// have broken before.
    private var rest: ByteRange { ByteRange(scheduler.done.front, scheduler.size) }

    /// Lets the only reply go on to where the output can take it.
    private func allow(_ world: some FetchWorld) {
        if let window { world.allow(0, upTo: window.limit) }
    }

    /// Asks for bytes.
    mutating func request(_ index: Int, _ range: ByteRange, _ world: some FetchWorld) {
        ignoredRange = nil
        let source = slots[index].source
        var ask = sources[source].ask(
            setup.isOneStream ? nil : range, skipsIfRange: slots[index].skipsIfRange,
            isSample: slots[index].sample != nil, isDecoded: setup.isDecoded)
        ask.bufferSize = slots.bufferSize
        sources[source].route(index, &slots, &ask, world)
        reportAddresses(of: source, world)
        slots[index].backoff.isOverLimit = false
        let origin = sources[source].origin
        world.asks(origin, beside: load(at: origin, world))
        ask.stalledBefore = slots[index].stalledBefore
        slots[index].begin(ask, isHTTP2: world.needsHTTP2(origin), now: world.now)
        world.request(index, ask)
        if asksForAll { allow(world) }
    }

    /// Takes the reply that waits since the probe, or what has come of it, if its bytes are wanted.
    private mutating func take(_ offer: Offer, _ world: some FetchWorld) {
        let isPaced = asksForAll && !setup.isOneStream
        guard
            let range = offer.wanted(by: setup.isOneStream ? rest : nil, isPaced ? nil : window),
            scheduler.adopt(range, by: 0)
        else {
            world.declineOffer()
            return
        }
        slots[0].take(offer, now: world.now)
        ignoredRange = offer.ignored
        sources[0].accepted += 1
        sources[0].places.isAsked = true
        noteRoute(0, offer.route, world)
        if let range = offer.range, sources[0].trust.accepted(range, now: world.now) {
            isEager = true
        }
        var body = Body(
            start: offer.isBegun ? 0 : offer.range?.start ?? 0,
            limit: min(range.end, setup.writeLimit), replyEnd: offer.range?.end ?? range.end)
        if !offer.isOver, let reply = offer.reply {
            if !reply.provesItsEnd { world.report(.endUnproven) }
            if offer.range?.end == body.limit {
                body.proof = sources[0].trust.digest(of: reply)
            }
        }
        slots[0].request.body = body
        let problem = world.adopt(
            0, body, upTo: asksForAll ? window?.limit : nil, goesOn: !offer.isOver)
        if problem != 0 {
            ended(0, .disk(problem), world)
        } else if offer.isOver {
            ended(0, offer.end ?? .complete, world)
        }
    }

    // MARK: A reply comes, and its bytes

    /// Judges the head of a reply, before the first byte of its body.
    mutating func judge(_ index: Int, _ head: Head, _ world: some FetchWorld) -> Verdict {
        let (source, reply) = (slots[index].source, head.reply)
        let wait = world.now - slots[index].request.since
        sources[source].answered(after: wait)
        scheduler.answered(after: wait - head.connecting)
        slots[index].request.hasReply = true
        let verdict = head.check.verdict(on: reply)
        switch verdict {
        case .accept(let range):
            let served = range ?? ByteRange(0, scheduler.size)
            sources[source].accepted(isUndated: head.check.isUndated(reply))
            if sources[source].trust.accepted(served, now: world.now) { isEager = true }
            noteRoute(index, head.route, world)
            if slots[index].sample != nil {
                return slots[index].takeSample(served, reply, sources[source].dates)
            }
            if sources[source].trust.isTooLong(range, reply) {
                slots[index].request.asksAgain = true
                return .decline
            }
            slots[index].flow.begin(world.now)
            // What was stolen since the request went out is not ours any more.
            let end = scheduler.segments[index]?.end ?? served.start
            let limit = min(end, served.end, setup.writeLimit)
            let proof = limit == range?.end ? sources[source].trust.digest(of: reply) : nil
            let body = Body(
                start: served.start, limit: limit, replyEnd: served.end, proof: proof)
            slots[index].request.body = body
            sources[source].accepted += 1
            let origin = sources[source].origin
            world.serves(
                origin, asked: slots[index].request.since, own: load(at: origin, world))
            if setup.isOneStream, !reply.provesItsEnd { world.report(.endUnproven) }
            return .accept(body)
        case .breach, .status:
            world[quotaOf: sources[source].origin]?.answered(isServed: false)
            return slots[index].request.refuse(verdict, reply)
        }
    }

    /// Counts the bytes that have come since the last tick, and reports to the scheduler how fast.
    private mutating func count(_ world: some FetchWorld) {
        slots.measure(since: account.lastTick, &scheduler, world)
        account.tick(received(world), now: world.now)
        slots.report(
            &scheduler, sources, used: used, arrived: account.arrivedSince, now: world.now)
    }

    // MARK: A request ends

    /// A request is over.
    mutating func ended(_ index: Int, _ end: TransferEnd, _ world: some FetchWorld) {
        let isAccepted = slots[index].request.body != nil
        let reached = world.position(of: index) ?? 0
        let sample = endSample(index)
        slots[index].stalledBefore = 0
        guard !settleProof(index, world) else { return }
        // A reply that is not read to its end costs the connection.
        if end != .complete || reached != slots[index].request.asked?.end {
            slots[index].flow.since = nil
        }
        let count = retire(index, world)
        if count > 0 { noteProgress(index, count, world) }
        if let sample, end == .complete {
            sampled(index, sample, world)
            return
        }
        let isEmpty = count == 0 && !(isAccepted && end == .complete)
        if isEmpty, goesOn(index, after: end, world) { return }
        switch end {
        case .complete where isAccepted: completed(index, reached, world)
        case .declined where slots[index].request.asksAgain: requestNext(index, world)
        default: failed(index, end, world)
        }
    }

    /// Bytes of the file have come over a connection.
    private mutating func noteProgress(_ index: Int, _ count: Int64, _ world: some FetchWorld) {
        let now = world.now
        if slots[index].flow.measure(whole: count, roundTrip: scheduler.roundTrip, now: now) {
            scheduler.measured(index, rate: slots[index].rate, now: now)
        }
        slots[index].hasProgressed()
        sources[slots[index].source].hasProgressed(by: slots[index].route)
    }

    /// The body of a reply has come, or what of it was wanted.
    private mutating func completed(_ index: Int, _ reached: Int64, _ world: some FetchWorld) {
        if setup.isOneStream, setup.identity.size == nil {
            let size = scheduler.segments[index]?.position ?? 0
            finish(setup.outcome(size: size, reached: reached, ignored: ignoredRange), world)
            return
        }
        // A server may cap ranges: the rest of the segment is asked for at once.
        // Or it was one window of it.
        if !finishIfComplete(world) { requestNext(index, world) }
    }

    /// Asks for what a connection still has to bring, or gives it other work.
    private mutating func requestNext(_ index: Int, _ world: some FetchWorld) {
        slots[index].request.asksAgain = false
        if isDue(sources[slots[index].source].origin, world),
            let range = nextRange(index, world)
        {
            request(index, range, world)
            return
        }
        scheduler.release(index)
        pump(world)
    }

    /// Takes the writer of a request that is over.
    ///
    /// - Returns: Bytes that it wrote.
    mutating func retire(_ index: Int, _ world: some FetchWorld) -> Int64 {
        endRequest(index)
        guard let body = slots[index].request.body else { return 0 }
        let source = slots[index].source
        let isDropped = body.proof != nil && sources[source].trust.isForging
        slots[index].request.body = nil
        let written = ByteRange(
            body.start, max(body.start, world.retire(index, dropping: isDropped) ?? body.start))
        // What is not whole cannot be compared. It counts nevertheless, unless the last range that was
        // compared was wrong.
        scheduler.advance(index, to: written.end)
        if isDropped, !written.isEmpty { scheduler.takeBack(written) }
        sources.wrote(written, by: source)
        return written.count
    }

    /// A connection's request is over, and with it what a second one for its rest may overtake.
    mutating func endRequest(_ index: Int) {
        slots[index].endRequest()
        hedges.endRequest(index)
    }

    // MARK: All is over

    /// Has what arrived recorded.
    mutating func record(_ world: some FetchWorld) {
        do throws(AssemblyError) {
            try world.record()
        } catch {
            fail(.assembly(error), world)
        }
    }

    mutating func finishIfComplete(_ world: some FetchWorld) -> Bool {
        guard !isOver else { return true }
        guard scheduler.isComplete else { return false }
        // One stream has an end of its own: a longer body is another file's.
        if setup.isOneStream, slots[0].isBusy { return false }
        if slots.awaitProof { return false }
        finish(sources.complete(size: scheduler.size), world)
        return true
    }

    mutating func fail(_ reason: DownloadError.Reason, _ world: some FetchWorld) {
        finish(.failed(reason), world)
    }

    /// Ends the fetch: drops what is under way, and reports the outcome.
    mutating func finish(_ outcome: Outcome, _ world: some FetchWorld) {
        guard !isOver else { return }
        isOver = true
        for index in sources.indices where sources[index].link.isResolving {
            world.cancelResolving(index)
        }
        dropCanary(world)
        for index in hedges.connections { dropHedge(index, world) }
        for index in slots.indices {
            if slots[index].isBusy { world.drop(index) }
            _ = retire(index, world)
        }
        world.report(progress(world))
        world.finish(outcome, sources.ledger)
    }
}
