import Assembler

// How many connections are used, and with which server each works; who joins, is compared, and is dropped.
extension FetchMachine {
    /// Fewest bytes that a comparison may rest on, where more were asked for.
    static let leastCompared: Int64 = 1 << 10

    // MARK: How many connections are used

    /// Has the number of connections follow the goodput.
    mutating func govern(_ world: some FetchWorld) {
        guard width.isFound else { return }
        let origin = sources[0].origin
        let news = width.step(
            received: received(world),
            remaining: setup.identity.size.map { $0 - scheduler.done.count }, used: slots.busy,
            isHeldBack: window?.isBehind == true || slots.isHeldBack,
            world.network(to: origin),
            limit: sources.count == 1 ? world[limitOf: origin]?.limit : nil, now: world.now)
        if let news {
            world.report(.connections(news.connections, bytesPerSecond: news.bytesPerSecond))
        }
        slots.resize(to: used, &scheduler, now: world.now)
    }

    /// Connections that are used; one beyond these rests when it has nothing under way.
    var used: Int { width.count(servers: sources.count) }

    /// Connections that work, for the size of their shares.
    func workers(_ world: some FetchWorld) -> Int {
        let isLimited = sources.contains { world.isLimited($0.origin) }
        return isLimited ? slots.busy + 1 : width.expected(slots.count)
    }

    /// Connections that there are, while more are being looked for.
    func searchers(_ world: some FetchWorld) -> Int? {
        let isLimited = sources.contains { world.isLimited($0.origin) }
        return !isLimited && width.isSearching(slots.count) ? slots.count : nil
    }

    /// Whether one connection asks for all that is left in one request, which is paused where the output
    /// cannot take it yet.
    var asksForAll: Bool { setup.isLeftAlone || setup.connections == 1 && sources.count == 1 }

    /// Connections among which all that is left is shared at once; `nil` where shares are cut one after
    /// the other.
    ///
    /// With a link that expires, what is asked for in time arrives, and what is asked for later is
    /// refused: so each connection asks for all of its share at once.
    func sharers(with index: Int, _ world: some FetchWorld) -> Int? {
        if asksForAll { return 1 }
        let source = slots[index].source
        guard window == nil else { return nil }
        if let quota = world[quotaOf: sources[source].origin], quota.isKnown {
            // The first asks for half, and the next for the rest; or the first for all.
            let isHalf =
                !quota.isStrict && slots.asking(source, now: world.now) == 0
                && scheduler.unassigned.count >= 2 * RequestQuota.leastRequest
            return isHalf ? 2 : 1
        }
        guard sources[source].link.expiry != nil else { return nil }
        return slots.indices(of: source).count { isFree($0, world) }
    }

    /// Whether a server that counts requests may be sent one now; any other may.
    func isDue(_ origin: String, _ world: some FetchWorld) -> Bool {
        world[quotaOf: origin].map { $0.delay(now: world.now) <= 0 } ?? true
    }

    /// Whether a server is left alone for a while.
    func isResting(_ origin: String, _ world: some FetchWorld) -> Bool {
        world[quotaOf: origin]?.isResting(now: world.now) ?? false
    }

    /// Whether a free connection may take work from another.
    func maySteal(_ index: Int, _ world: some FetchWorld) -> Bool {
        guard window?.isBehind != true, sources.maySteal(date: world.date) else { return false }
        return world[quotaOf: sources[slots[index].source].origin]?.isStrict != true
    }

    /// Seconds that this has to save at the least.
    func leastSaving(_ index: Int, _ world: some FetchWorld) -> Double {
        let isCounted = world.isCounted(sources[slots[index].source].origin)
        return isCounted ? RequestQuota.leastSaving : SegmentScheduler.shortestSaving
    }

    /// Whether a connection has nothing to do, and may do something.
    func isFree(_ index: Int, _ world: some FetchWorld) -> Bool {
        index < used && slots[index].isFree(world.now)
    }

    // MARK: Who fetches which bytes

    /// Has a connection whose tail was taken stop where that begins.
    mutating func steal(
        _ range: ByteRange, from victim: Int, for thief: Int, _ world: some FetchWorld
    ) {
        // What was not requested yet costs nobody anything.
        let reached = world.shorten(victim, to: range.start)
        slots[victim].request.body?.proof = nil
        world.report(.stole(range, rate: scheduler.rates[victim]))
        // What its writer has written by now, nobody else writes.
        if let reached, reached > range.start { scheduler.advance(thief, to: reached) }
    }

    /// The bytes that a connection asks for next; `nil` when it has no work.
    mutating func nextRange(_ index: Int, _ world: some FetchWorld) -> ByteRange? {
        let source = sources[slots[index].source]
        return scheduler.ask(
            index,
            isWhole: asksForAll || source.link.expiry != nil || world.isCounted(source.origin),
            most: source.trust.longestRange)
    }

    // MARK: With which server

    /// Makes a free connection ready for work: with the server that it does most for.
    ///
    /// - Returns: Whether it may take bytes of the file.
    mutating func prepare(_ index: Int, _ world: some FetchWorld) -> Bool {
        if sources.count > 1,
            let better = sources.balance(slots).place(from: slots[index].source),
            better != slots[index].source
        {
            slots[index] = Slot(source: better)
        }
        let source = slots[index].source
        if sources[source].standing == .unproven, sources[source].sampling == nil,
            hasRoom(source, world)
        {
            compare(index, world)
        }
        return sources[source].standing == .proven && !slots[index].isBusy
    }

    /// Whether a free connection may ask its server, or another that it is moved to.
    mutating func findRoom(_ index: Int, _ world: some FetchWorld) -> Bool {
        let source = slots[index].source
        if hasRoom(source, world) { return true }
        let others = sources.indices.filter { $0 != source && sources[$0].standing == .proven }
        guard let other = others.first(where: { hasRoom($0, world) }) else { return false }
        slots[index] = Slot(source: other)
        return true
    }

    /// Whether a server may be asked for more: it is believed, and nothing is above the limit that is
    /// known of it.
    func hasRoom(_ source: Int, _ world: some FetchWorld) -> Bool {
        let (origin, trust) = (sources[source].origin, sources[source].trust)
        let isTrusted = trust.allows(
            beside: slots.asking(source, now: world.now),
            roundTrip: world.network(to: origin).roundTrip)
        guard world.now >= sources[source].restsUntil, isTrusted else { return false }
        return world.allows(origin, beside: load(at: origin, world))
    }

    /// What this fetch has under way at an origin.
    func load(at origin: String, _ world: some FetchWorld) -> ServerLimit.Load {
        var load = slots.load(at: origin, sources, world)
        load.asking += hedges.asking(origin)
        return load
    }

    // MARK: Addresses

    /// Notes where a reply came from that was accepted.
    ///
    /// - Parameters:
    ///   - index: The connection.
    ///   - route: Where it leads; its URL may have been resolved again since the request went out.
    ///   - world: The present moment.
    mutating func noteRoute(_ index: Int, _ route: Route?, _ world: some FetchWorld) {
        guard let route, let address = route.address else { return }
        world.reached(address, of: route.origin)
        slots[index].route = route
        sources[slots[index].source].places.answered(route, from: address)
        reportAddresses(of: slots[index].source, world)
    }

    /// Tells of the addresses that are used for the first time, or left.
    mutating func reportAddresses(of source: Int, _ world: some FetchWorld) {
        for notice in sources[source].places.takeNews() { world.report(notice) }
    }

    // MARK: Who comes

    /// Takes another server that has the file: it begins with a sample.
    mutating func join(_ mirror: Mirror, _ world: some FetchWorld) {
        // What has gone out of a stream is not there to be compared.
        guard !isOver, !setup.isLeftAlone, world.canReadBack,
            let source = sources.join(mirror)
        else { return }
        govern(world)
        take(1, for: source, world)
        pump(world)
    }

    /// Gives a server connections that others have, as long as these keep one each.
    private mutating func take(_ count: Int, for source: Int, _ world: some FetchWorld) {
        for _ in 0..<max(0, count) {
            guard let index = sources.donated(to: source, slots) else { return }
            move(index, to: source, world)
        }
    }

    /// Has a connection work for another server; what it has under way is ended.
    private mutating func move(_ index: Int, to source: Int, _ world: some FetchWorld) {
        end(index, world)
        slots[index] = Slot(source: source)
    }

    // MARK: Samples

    /// Has a server send bytes that are there already, if any are.
    private mutating func compare(_ index: Int, _ world: some FetchWorld) {
        for index in slots.indices where slots[index].request.body != nil {
            if let position = world.position(of: index) {
                scheduler.advance(index, to: position)
            }
        }
        let source = slots[index].source
        record(world)
        guard !isOver else { return }
        switch sources.sample(scheduler.done, slots, world) {
        case .wait: break
        case .nothing where sources[source].dates.doubted != nil:
            drop(source, sources[source].changedByDate, world)
        case .nothing: prove(source, world)
        case .compare(let range):
            sources[source].sampling = index
            let expected = world.canReadBack ? nil : world.recorded.first { $0.range == range }
            slots[index].sample = Slot.Sample(range: range, expected: expected)
            request(index, range, world)
        }
    }

    /// Ends the sample that a connection fetched, if it did.
    ///
    /// - Returns: The sample, when the reply was accepted.
    mutating func endSample(_ index: Int) -> Slot.Sample? {
        let source = slots[index].source
        if sources[source].sampling == index { sources[source].sampling = nil }
        return slots[index].endSample()
    }

    /// Compares a sample that has come whole.
    mutating func sampled(_ index: Int, _ sample: Slot.Sample, _ world: some FetchWorld) {
        let source = slots[index].source
        let (asked, got) = (sample.range, world.sample(of: index))
        if got.count < min(asked.count, Self.leastCompared) {
            giveUp(source, .contract(.otherRange(asked: asked, got: got)), world)
        } else if world.sampleAgrees(index, sample.expected) {
            slots[index].backoff.clear()
            prove(source, by: got.count, world)
            pump(world)
        } else if sources[source].dates.doubted != nil {
            drop(source, sources[source].changedByDate, world)
        } else {
            drop(source, .otherData(got), world)
        }
    }

    /// Uses a server's bytes from now on.
    private mutating func prove(_ source: Int, by count: Int64 = 0, _ world: some FetchWorld) {
        let joins = sources.prove(source)
        if sources[source].dates.vouch() { world.report(.sampleAgreed(bytes: count)) }
        guard joins else { return }
        world.report(.mirrorJoined(url: sources[source].mirror.shownURL))
        let mine = slots.count { $0.source == source }
        take(sources.balance(slots).fairShare(of: slots.count) - mine, for: source, world)
    }

    // MARK: Who goes

    /// A server cannot serve the file any more: others go on, if there are any.
    mutating func giveUp(
        _ source: Int, _ reason: DownloadError.Reason, _ world: some FetchWorld
    ) {
        drop(source, .failed(reason), world)
    }

    /// Drops a server and gives its work and its connections to others, if there are any.
    mutating func drop(_ source: Int, _ fault: MirrorFault, _ world: some FetchWorld) {
        guard !isOver, sources[source].standing != .dropped else { return }
        let end = sources.drop(source, fault)
        if sources[source].standing == .dropped {
            if sources[source].link.isResolving { world.cancelResolving(source) }
            world.report(.mirrorDropped(url: sources[source].mirror.shownURL, why: fault))
        }
        if let end {
            finish(end, world)
            return
        }
        for index in slots.indices(of: source) {
            move(index, to: source, world)
            if let next = sources.balance(slots).place(from: nil) {
                slots[index] = Slot(source: next)
            }
        }
        pump(world)
    }
}
