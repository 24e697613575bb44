// The number of connections, their servers, and how servers join, are compared and are dropped.
extension FetchMachine {
    /// The minimum length of a compared sample, in bytes, unless fewer bytes were requested.
    package static let leastCompared: Int64 = 1 << 10

    // MARK: The number of connections

    /// Adapts the number of connections to the goodput.
    mutating func govern(_ world: some FetchWorld) {
        guard width.isFound else { return }
        let origin = sources[0].origin
        let remaining = setup.identity.size.map { $0 - scheduler.done.count }
        let isHeldBack = window?.isBehind == true || slots.isHeldBack
        if width.isGranted {
            let use = HostGovernor.Use(
                received: received(world), remaining: remaining, busy: slots.busy,
                isHeldBack: isHeldBack, most: setup.connections,
                isFixed: !setup.findsConnections)
            width.grant(world.share(of: origin, use))
        } else if let news = width.step(
            received: received(world), remaining: remaining, used: slots.busy,
            isHeldBack: isHeldBack, world.network(to: origin),
            limit: sources.count == 1 ? world[limitOf: origin]?.limit : nil, now: world.now)
        {
            world.report(.connections(news.connections, bytesPerSecond: news.bytesPerSecond))
        }
        slots.resize(to: used, &scheduler, now: world.now)
    }

    /// The number of connections in use.
    ///
    /// A connection beyond this number stays idle once its request has ended.
    package var used: Int { width.count(servers: sources.count) }

    /// Returns the number of connections that the scheduler should expect when it cuts shares.
    func workers(_ world: some FetchWorld) -> Int {
        let isLimited = sources.contains { world.isLimited($0.origin) }
        return isLimited ? slots.busy + 1 : width.expected(slots.count)
    }

    /// Returns the number of connections while the governor is still increasing it; otherwise
    /// `nil`.
    func searchers(_ world: some FetchWorld) -> Int? {
        let isLimited = sources.contains { world.isLimited($0.origin) }
        return !isLimited && width.isSearching(slots.count) ? slots.count : nil
    }

    /// Whether one connection requests all remaining bytes in one request.
    ///
    /// The transfer is paused while the output cannot take more bytes.
    var asksForAll: Bool { setup.isLeftAlone || setup.connections == 1 && sources.count == 1 }

    /// Returns the number of connections among which all remaining bytes are divided at once; `nil`
    /// if shares are cut one after the other.
    ///
    /// If a link expires, requests sent in time succeed, and later ones are refused. Each
    /// connection therefore requests all of its share at once.
    func sharers(with index: Int, _ world: some FetchWorld) -> Int? {
        if asksForAll { return 1 }
        let source = slots[index].source
        guard window == nil else { return nil }
        if let quota = world[quotaOf: sources[source].origin], quota.isKnown {
            // The first connection requests half, and the next one the rest. If that is not
            // possible, the first requests all.
            let isHalf =
                !quota.isStrict && slots.asking(source, now: world.now) == 0
                && scheduler.unassigned.count >= 2 * RequestQuota.leastRequest
            return isHalf ? 2 : 1
        }
        guard sources[source].link.expiry != nil else { return nil }
        return slots.indices(of: source).count { isFree($0, world) }
    }

    /// Returns whether a server may be sent a request now.
    ///
    /// Only servers that count requests, or demand a wait, require one.
    package func isDue(_ origin: String, _ world: some FetchWorld) -> Bool {
        world.isDue(origin, beside: load(at: origin, world))
    }

    /// Returns whether a server is left alone for a while.
    package func isResting(_ origin: String, _ world: some FetchWorld) -> Bool {
        world[quotaOf: origin]?.isResting(now: world.now) ?? false
    }

    /// Returns whether a free connection may take work from another.
    func maySteal(_ index: Int, _ world: some FetchWorld) -> Bool {
        guard window?.isBehind != true, sources.maySteal(date: world.date) else { return false }
        return world[quotaOf: sources[slots[index].source].origin]?.isStrict != true
    }

    /// Returns the minimum time that taking work has to save, in seconds.
    func leastSaving(_ index: Int, _ world: some FetchWorld) -> Double {
        let isCounted = world.isCounted(sources[slots[index].source].origin)
        if isCounted { return RequestQuota.leastSaving }
        return width.isGranted ? HostGovernor.leastSaving : SegmentScheduler.shortestSaving
    }

    /// Returns whether a connection in use is idle and need not wait.
    package func isFree(_ index: Int, _ world: some FetchWorld) -> Bool {
        index < used && slots[index].isFree(world.now)
    }

    // MARK: The division of the bytes

    /// Shortens a connection's request to the start of the range that another connection has taken.
    mutating func steal(
        _ range: ByteRange, from victim: Int, for thief: Int, _ world: some FetchWorld
    ) {
        // The call has no effect if the victim has not requested these bytes yet.
        let reached = world.shorten(victim, to: range.start)
        slots[victim].request.body?.proof = nil
        world.report(.stole(range, rate: scheduler.rates[victim]))
        // Bytes that the victim's writer has already written are not downloaded again.
        if let reached, reached > range.start { scheduler.advance(thief, to: reached) }
    }

    /// Returns the bytes that a connection requests next; `nil` if it has no work.
    mutating func nextRange(_ index: Int, _ world: some FetchWorld) -> ByteRange? {
        let source = sources[slots[index].source]
        return scheduler.ask(
            index,
            isWhole: asksForAll || source.link.expiry != nil || world.isCounted(source.origin),
            least: width.isGranted ? SegmentScheduler.longWindow : 0,
            most: source.trust.longestRange)
    }

    // MARK: The choice of the server

    /// Assigns a free connection to the server that needs it most.
    ///
    /// If that server is not proven yet, the connection may start to download a sample.
    ///
    /// - Returns: Whether the connection may download bytes of the file.
    package mutating func prepare(_ index: Int, _ world: some FetchWorld) -> Bool {
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

    /// Returns whether a free connection may send a request, moving it to another server if
    /// necessary.
    mutating func findRoom(_ index: Int, _ world: some FetchWorld) -> Bool {
        let source = slots[index].source
        if hasRoom(source, world) { return true }
        let others = sources.indices.filter { $0 != source && sources[$0].standing == .proven }
        guard let other = others.first(where: { hasRoom($0, world) }) else {
            let origin = sources[source].origin
            world.awaitsTurn(origin, beside: load(at: origin, world))
            return false
        }
        slots[index] = Slot(source: other)
        return true
    }

    /// Returns whether the connection of a single stream may send its request.
    func mayStream(_ index: Int, _ world: some FetchWorld) -> Bool {
        let origin = sources[slots[index].source].origin
        if isDue(origin, world) { return true }
        world.awaitsTurn(origin, beside: load(at: origin, world))
        return false
    }

    /// Returns whether a server may be sent one more request.
    ///
    /// The trust in the server, its known limits and its requested waits decide.
    package func hasRoom(_ source: Int, _ world: some FetchWorld) -> Bool {
        let (origin, trust) = (sources[source].origin, sources[source].trust)
        let isTrusted = trust.allows(
            beside: slots.asking(source, now: world.now),
            roundTrip: world.network(to: origin).roundTrip)
        guard world.now >= sources[source].restsUntil, isTrusted else { return false }
        return world.allows(origin, beside: load(at: origin, world))
    }

    /// Returns the requests of this fetch at an origin.
    package func load(at origin: String, _ world: some FetchWorld) -> ServerLimit.Load {
        var load = slots.load(at: origin, sources, world)
        load.asking += hedges.asking(origin)
        return load
    }

    // MARK: Addresses

    /// Records the address of an accepted response.
    ///
    /// - Parameters:
    ///   - index: The connection.
    ///   - route: The origin and address of the connection. The server's URL may have changed since
    ///     the request was sent.
    ///   - world: The facts and actions.
    mutating func noteRoute(_ index: Int, _ route: Route?, _ world: some FetchWorld) {
        guard let route, let address = route.address else { return }
        world.reached(address, of: route.origin)
        slots[index].route = route
        sources[slots[index].source].places.answered(route, from: address)
        reportAddresses(of: slots[index].source, world)
    }

    /// Reports the addresses that are used for the first time, or abandoned.
    mutating func reportAddresses(of source: Int, _ world: some FetchWorld) {
        for notice in sources[source].places.takeNews() { world.report(notice) }
    }

    // MARK: Joining

    /// Adds another server that has the file, and starts to download a sample from it.
    package mutating func join(_ mirror: Mirror, _ world: some FetchWorld) {
        // The bytes that a stream has written cannot be read back for comparison.
        guard !isOver, !setup.isLeftAlone, world.canReadBack,
            let source = sources.join(mirror)
        else { return }
        govern(world)
        take(1, for: source, world)
        pump(world)
    }

    /// Moves connections of other servers to a server.
    ///
    /// Each of the others keeps at least one.
    private mutating func take(_ count: Int, for source: Int, _ world: some FetchWorld) {
        for _ in 0..<max(0, count) {
            guard let index = sources.donated(to: source, slots) else { return }
            move(index, to: source, world)
        }
    }

    /// Moves a connection to another server; its request is cancelled.
    private mutating func move(_ index: Int, to source: Int, _ world: some FetchWorld) {
        end(index, world)
        slots[index] = Slot(source: source)
    }

    // MARK: Samples

    /// Requests a sample of bytes that are on the disk already, if any are.
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

    /// Ends the sample that a connection downloads, if there is one.
    ///
    /// - Returns: The sample, if the response was accepted.
    mutating func endSample(_ index: Int) -> Slot.Sample? {
        let source = slots[index].source
        if sources[source].sampling == index { sources[source].sampling = nil }
        return slots[index].endSample()
    }

    /// Compares a completely received sample.
    package mutating func sampled(_ index: Int, _ sample: Slot.Sample, _ world: some FetchWorld) {
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

    /// Starts to use a server's bytes.
    private mutating func prove(_ source: Int, by count: Int64 = 0, _ world: some FetchWorld) {
        let joins = sources.prove(source)
        if sources[source].dates.vouch() { world.report(.sampleAgreed(bytes: count)) }
        guard joins else { return }
        world.report(.mirrorJoined(url: sources[source].mirror.shownURL))
        let mine = slots.count { $0.source == source }
        take(sources.balance(slots).fairShare(of: slots.count) - mine, for: source, world)
    }

    // MARK: Dropping

    /// Drops a server that can no longer serve the file; the others continue.
    package mutating func giveUp(
        _ source: Int, _ reason: DownloadError.Reason, _ world: some FetchWorld
    ) {
        drop(source, .failed(reason), world)
    }

    /// Drops a server.
    ///
    /// The server's work and connections pass to other servers, if there are any.
    package mutating func drop(_ source: Int, _ fault: MirrorFault, _ world: some FetchWorld) {
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
