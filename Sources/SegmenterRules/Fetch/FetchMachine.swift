// Fetch: what happens to one file, from its first byte to its last. Pure. This folder decides by
// events and facts. It knows neither transfers nor the output.

/// Decides how the missing bytes of one file are downloaded.
///
/// The machine decides which connection requests which bytes from which server, how to react to
/// responses, failures and stalls, and when the download is over. Each event is passed in with a
/// `FetchWorld`, which provides facts and carries out actions. The machine has no access to
/// libcurl, transfers, files, threads or clocks. The bodies of responses do not pass through it.
///
/// Its components decide about one thing each, and do not know the machine: connections (`Slots`)
/// and their number (`Width`), servers (`Sources`), the division of the bytes (`SegmentScheduler`),
/// the total speed (`Account`), and slow and stalled connections (`Rescue`, `Hedges`, `Stalls`).
/// The machine carries their decisions out. This file handles the common case: one URL on one
/// server.
///
/// The machine ends when the file is complete, or when the next decision needs a probe or another
/// part. The `Outcome` tells which.
package struct FetchMachine {
    /// The number of times in a row that ranges may be ignored, or the URL resolved again, without
    /// progress.
    package static let patience = 3

    package let setup: Setup
    var scheduler: SegmentScheduler
    package var slots: Slots
    /// The number of connections.
    package var width: Width
    /// The servers that the file is downloaded from; the first is the primary.
    package var sources: Sources
    /// Whether the outcome was reported.
    package private(set) var isOver = false
    /// Whether a response has just raised the number of requests that are allowed, so that `pump`
    /// should run.
    package private(set) var isEager = false
    /// The bytes that the output can take at present; `nil` for no limit.
    package private(set) var window: OutputWindow?
    /// The bytes received, and the check of the minimum speed.
    var account: Account
    /// The decisions about stalled connections.
    package var stalls = Stalls()
    /// The decisions about slow connections.
    var rescue = Rescue()
    /// The second requests, by the connection of the first one.
    package var hedges: Hedges
    /// The range that the adopted response's request asked for, if the response has the whole file
    /// instead.
    private var ignoredRange: ByteRange?

    /// - Parameters:
    ///   - setup: The file, its servers and the options.
    ///   - verifying: The ranges of an earlier run that are not verified yet.
    ///   - done: The ranges that are on the disk and count.
    ///   - roundTrip: The time to connect to the server, in seconds; `nil` when unknown.
    package init(
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

    // MARK: Start, ticks, end

    /// Starts: adopts the probe's response, starts verifying an earlier run's extents, and requests
    /// the rest.
    package mutating func start(_ offer: Offer?, _ world: some FetchWorld) {
        window = world.takeWindow()
        if let offer { take(offer, world) }
        guard !isOver else { return }
        // A file that began as a small one has not looked up the host's addresses yet.
        if !setup.isOneStream, setup.connections > 1 { world.findAddresses() }
        govern(world)
        world.startVerifying()
        pump(world)
    }

    /// Runs about every 100 ms: records received bytes, measures, and assigns work.
    package mutating func tick(_ world: some FetchWorld) {
        count(world)
        for index in slots.indices where slots[index].isBusy && world.isSatisfied(index) {
            // The connection has written all of its bytes and need not receive the rest.
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

    /// Records whether an extent of an earlier run is intact.
    package mutating func verified(_ range: ByteRange, isIntact: Bool, _ world: some FetchWorld) {
        scheduler.verified(range, isIntact: isIntact)
        if !isIntact { world.report(.damaged(range)) }
        guard !finishIfComplete(world) else { return }
        if !isIntact { pump(world) }
    }

    /// Continues after the output has freed memory, or has failed.
    package mutating func outputMoved(_ world: some FetchWorld) {
        record(world)
        pump(world)
    }

    /// Stops in an orderly way: all received bytes are recorded.
    package mutating func cancel(_ world: some FetchWorld) { finish(.cancelled, world) }

    // MARK: Requests

    /// Assigns work to all free connections, and sends their requests.
    package mutating func pump(_ world: some FetchWorld) {
        guard !isOver, !finishIfComplete(world) else { return }
        isEager = false
        window = world.takeWindow()
        if asksForAll, slots[0].isBusy { allow(world) }
        for index in slots.indices where !slots[index].isBusy {
            guard !isOver else { return }
            guard isFree(index, world), prepare(index, world) else { continue }
            guard setup.isOneStream ? mayStream(index, world) : findRoom(index, world) else {
                continue
            }
            if setup.isOneStream {
                if scheduler.adopt(rest, by: index) { request(index, rest, world) }
                continue
            }
            let work = scheduler.assign(
                index, connections: workers(world), present: searchers(world),
                isMade: slots[index].isMade, now: world.now,
                maySteal: maySteal(index, world), leastSaving: leastSaving(index, world),
                sharers: sharers(with: index, world),
                least: width.isGranted ? SegmentScheduler.longWindow : 0,
                window: asksForAll ? nil : window
            ) { world.position(of: $0) }
            if case .stolen(let range, let victim)? = work {
                steal(range, from: victim, for: index, world)
            }
            if let range = nextRange(index, world) { request(index, range, world) }
        }
        trimHedges(world)
    }

    /// The bytes that a single stream still has to receive.
    ///
    /// Each response begins at the first byte of the file, but an earlier one may have delivered
    /// some bytes before it failed.
    private var rest: ByteRange { ByteRange(scheduler.done.front, scheduler.size) }

    /// Lets the only transfer continue up to the limit of the output's window.
    private func allow(_ world: some FetchWorld) {
        if let window { world.allow(0, upTo: window.limit) }
    }

    /// Sends a request for bytes.
    package mutating func request(_ index: Int, _ range: ByteRange, _ world: some FetchWorld) {
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

    /// Adopts the response that the probe has started to receive, if its bytes are needed.
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

    // MARK: Responses

    /// Judges the head of a response, before the first byte of its body.
    package mutating func judge(_ index: Int, _ head: Head, _ world: some FetchWorld) -> Verdict {
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
            // Bytes that another connection has taken over since the request was sent are excluded.
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

    /// Counts the bytes received since the last tick, and reports the rates to the scheduler.
    private mutating func count(_ world: some FetchWorld) {
        slots.measure(since: account.lastTick, &scheduler, world)
        account.tick(received(world), now: world.now)
        slots.report(
            &scheduler, sources, used: used, arrived: account.arrivedSince, now: world.now)
    }

    // MARK: The end of a request

    /// Handles the end of a request.
    package mutating func ended(_ index: Int, _ end: TransferEnd, _ world: some FetchWorld) {
        let isAccepted = slots[index].request.body != nil
        let reached = world.position(of: index) ?? 0
        let sample = endSample(index)
        slots[index].stalledBefore = 0
        guard !settleProof(index, world) else { return }
        // If the response was not read to its end, libcurl closes the connection.
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

    /// Records that a connection received bytes of the file.
    private mutating func noteProgress(_ index: Int, _ count: Int64, _ world: some FetchWorld) {
        let now = world.now
        if slots[index].flow.measure(whole: count, roundTrip: scheduler.roundTrip, now: now) {
            scheduler.measured(index, rate: slots[index].rate, now: now)
        }
        slots[index].hasProgressed()
        sources[slots[index].source].hasProgressed(by: slots[index].route)
    }

    /// Handles a body that was received as far as it was needed.
    private mutating func completed(_ index: Int, _ reached: Int64, _ world: some FetchWorld) {
        if setup.isOneStream, setup.identity.size == nil {
            let size = scheduler.segments[index]?.position ?? 0
            finish(setup.outcome(size: size, reached: reached, ignored: ignoredRange), world)
            return
        }
        // The request may have covered only a part of the segment: the server may limit the length
        // of a range, or the output has a window. The rest of the segment is requested immediately.
        if !finishIfComplete(world) { requestNext(index, world) }
    }

    /// Requests the next bytes of a connection's segment, or assigns other work to it.
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

    /// Removes the writer of a request that has ended.
    ///
    /// - Returns: The number of bytes that it wrote.
    package mutating func retire(_ index: Int, _ world: some FetchWorld) -> Int64 {
        endRequest(index)
        guard let body = slots[index].request.body else { return 0 }
        let source = slots[index].source
        let isDropped = body.proof != nil && sources[source].trust.isForging
        slots[index].request.body = nil
        let written = ByteRange(
            body.start, max(body.start, world.retire(index, dropping: isDropped) ?? body.start))
        // An incomplete range cannot be compared with its digest. Its bytes count nevertheless,
        // unless the last range that was compared did not match.
        scheduler.advance(index, to: written.end)
        if isDropped, !written.isEmpty { scheduler.takeBack(written) }
        sources.wrote(written, by: source)
        return written.count
    }

    /// Ends the request of a connection, so that a hedge of it becomes useless.
    mutating func endRequest(_ index: Int) {
        slots[index].endRequest()
        hedges.endRequest(index)
    }

    // MARK: The end of the fetch

    /// Records all received bytes in the manifest.
    package mutating func record(_ world: some FetchWorld) {
        do throws(AssemblyError) {
            try world.record()
        } catch {
            fail(.assembly(error), world)
        }
    }

    private mutating func finishIfComplete(_ world: some FetchWorld) -> Bool {
        guard !isOver else { return true }
        guard scheduler.isComplete else { return false }
        // A single stream must reach its end: a longer body belongs to another file.
        if setup.isOneStream, slots[0].isBusy { return false }
        if slots.awaitProof { return false }
        finish(sources.complete(size: scheduler.size), world)
        return true
    }

    package mutating func fail(_ reason: DownloadError.Reason, _ world: some FetchWorld) {
        finish(.failed(reason), world)
    }

    /// Ends the fetch: cancels all transfers, and reports the outcome.
    package mutating func finish(_ outcome: Outcome, _ world: some FetchWorld) {
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
