import Assembler

/// Decides how what is missing of one file is fetched: which connection asks which server for which
/// bytes, what a reply, its end or its silence means, and when it is over.
///
/// It knows what is done, under way and failed, and asks the rest of the `FetchWorld` that comes with
/// each event; it never knows libcurl, a transfer, a file, a thread or a clock. The bodies of replies do
/// not pass through it.
///
/// It ends when the file is complete, or when something must be decided that needs a probe or another
/// part: the `Outcome` says what.
struct FetchMachine {
    /// Replies about another version in a row, on new connections, before that is believed.
    static let mismatchLimit = 4
    /// Times in a row that ranges may be ignored, or the URL resolved again, without progress.
    static let patience = 3

    let setup: Setup
    var scheduler: SegmentScheduler
    var slots: [Slot]
    /// Finds the number of connections; `nil` when it is fixed.
    var governor: ConnectionGovernor?
    /// The servers that the file comes from; the first leads.
    var sources: [Source]
    /// What came from where.
    var ledger = MirrorLedger()
    /// Whether the outcome was told.
    private(set) var isOver = false
    /// Whether more may be asked for since a reply came.
    var isEager = false
    /// What the output can take at present; `nil` is everything.
    private(set) var window: OutputWindow?
    /// What has come, and when.
    var account: Account
    /// What is done about connections that say nothing.
    var stalls = StallDetector()
    /// What is done about connections that are slow.
    var rescue = Rescue()
    /// A request that tries whether the server can be reached.
    var canary: Canary?
    /// What is asked for a second time, by the connection that has it.
    var hedges: Hedges
    /// What the adopted reply's request had asked for, when it brings the whole file all the same.
    var ignoredRange: ByteRange?

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
        var first = Source(setup.primary)
        (first.standing, first.hasJoined) = (.proven, true)
        first.dates.vouched = setup.vouchedDates
        first.trust.confidence = Confidence(isProven: setup.isProven && !setup.isDoubted)
        sources = [first]
        let size = setup.identity.size
        scheduler = SegmentScheduler(size: size ?? .max, verifying: verifying, done: done)
        hedges = Hedges(size: size ?? 0)
        account = Account(
            floor: setup.limits.minRate.map {
                RateFloor(rate: $0, period: setup.limits.minRatePeriod)
            })
        if setup.findsConnections, !setup.isOneStream {
            governor = ConnectionGovernor(most: setup.connections, roundTrip: roundTrip)
        }
        slots = Array(
            repeating: Slot(),
            count: setup.isOneStream ? 1 : governor?.target ?? setup.connections)
    }

    // MARK: Events

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
        for index in slots.indices { measure(index, world) }
        noteRates(world)
        let elapsed = account.tick(world.now)
        for index in slots.indices where slots[index].isBusy && world.isSatisfied(index) {
            // It has written all that is its own: no need to wait for the rest.
            world.drop(index)
            ended(index, .complete, world)
        }
        guard !isOver else { return }
        record(world)
        guard !isOver else { return }
        watchRate(elapsed, world)
        guard !isOver else { return }
        watchReplies(world)
        guard !isOver else { return }
        watchServerLimits(world)
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

    // MARK: Giving out work

    /// Has every connection that is free ask for something.
    mutating func pump(_ world: some FetchWorld) {
        guard !isOver, !finishIfComplete(world) else { return }
        isEager = false
        window = world.takeWindow()
        if setup.isOneStream, slots[0].isBusy { allow(world) }
        for index in slots.indices where !slots[index].isBusy {
            guard !isOver else { return }
            guard slots[index].backoff.until <= world.now, !isSurplus(index),
                prepare(index, world)
            else { continue }
            guard setup.isOneStream || findRoom(index, world) else { continue }
            if setup.isOneStream {
                if scheduler.adopt(rest, by: index) { request(index, rest, world) }
                continue
            }
            let work = scheduler.assign(
                index, connections: workers(world), isMade: slots[index].isMade, now: world.now,
                maySteal: maySteal(world), sharers: sharers(with: index, world), window: window
            ) { world.position(of: $0) }
            if case .stolen(let range, let victim)? = work {
                steal(range, from: victim, for: index, world)
            }
            if let range = nextRange(index) { request(index, range, world) }
        }
        trimHedges(world)
    }

    /// Has a connection whose tail was taken stop where that begins.
    private mutating func steal(
        _ range: ByteRange, from victim: Int, for thief: Int, _ world: some FetchWorld
    ) {
        // What was not requested yet costs nobody anything.
        let reached = world.shorten(victim, to: range.start)
        slots[victim].request.body?.proof = nil
        world.report(.stole(range, rate: scheduler.rates[victim]))
        // What its writer has written by now, nobody else writes.
        if let reached, reached > range.start { scheduler.advance(thief, to: reached) }
    }

    /// What a single stream still has to bring: its replies begin at the first byte, but one may
    /// have broken before.
    var rest: ByteRange { ByteRange(scheduler.done.front, scheduler.size) }

    /// Lets a single stream go on to where the output can take it.
    func allow(_ world: some FetchWorld) {
        if let window { world.allow(0, upTo: window.limit) }
    }

    // MARK: The end

    /// Ends the fetch: drops what is under way, and tells the outcome.
    mutating func finish(_ outcome: Outcome, _ world: some FetchWorld) {
        guard !isOver else { return }
        isOver = true
        for index in sources.indices where sources[index].link.isResolving {
            world.cancelResolving(index)
        }
        dropCanary(world)
        for index in Array(hedges.sent.keys) { dropHedge(index, world) }
        for index in slots.indices {
            if slots[index].isBusy { world.drop(index) }
            _ = retire(index, world)
        }
        world.report(progress(world))
        world.finish(outcome, ledger)
    }
}

extension ByteRange {
    /// The part of the range before `limit`; `nil` stands for no limit.
    func clamped(below limit: Int64?) -> ByteRange {
        ByteRange(start, min(end, limit ?? .max))
    }
}
