// The checks at each tick: received bytes, and slow, late or stalled connections.
extension FetchMachine {
    // MARK: Received bytes

    /// Returns the number of bytes of the file that were received over the network.
    package func received(_ world: some FetchWorld) -> Int64 {
        sources.received + slots.written(world)
    }

    /// Returns the number of bytes of the file that a server has sent.
    package func received(from source: Int, _ facts: some FetchFacts) -> Int64 {
        sources[source].received + slots.written(from: source, facts)
    }

    /// Returns the progress of the fetch.
    package func progress(_ world: some FetchWorld) -> Progress {
        Progress(
            done: scheduler.done, verifying: scheduler.verifying, received: received(world),
            connections: slots.busy)
    }

    // MARK: Slow and stalled connections

    /// Checks the speed, the links, the digests, the connections and the servers' limits.
    package mutating func watch(_ world: some FetchWorld) {
        watchRate(world)
        guard !isOver else { return }
        watchExpired(world)
        settleProofs(world)
        for index in sources.indices { sources[index].trust.wait(now: world.now) }
        guard !isOver else { return }
        // After a refused link, running transfers continue: their bytes could not be requested
        // again.
        if !sources.isAnyRefused {
            watchAddresses(world)
            watchStalls(world)
            watchLaggards(world)
        }
        guard !isOver else { return }
        for origin in Set(sources.map(\.origin)).sorted() {
            if let news = world.watchLimit(of: origin, own: load(at: origin, world)) {
                world.report(.serverLimit(connections: news.limit, cause: news.cause))
            }
        }
    }

    /// Enforces the minimum speed.
    private mutating func watchRate(_ world: some FetchWorld) {
        // Time does not count if the cause is the rate limit, a slow reader, extents that are being
        // verified, or a server that may not be sent a request yet.
        let awaitsTurn = sources.contains { !isDue($0.origin, world) }
        let counts =
            !slots.isHeldBack && window?.isBehind != true && scheduler.awaitsNetwork
            && (!awaitsTurn || slots.busy > 0 && scheduler.unassigned.ranges.isEmpty)
        switch account.watch(received(world), counts: counts) {
        case .goOn: break
        case .changeConnections: changeConnections(world)
        case .giveUp(let rate):
            fail(
                .tooSlow(
                    bytesPerSecond: rate, minimum: setup.limits.minRate ?? 0,
                    period: setup.limits.minRatePeriod),
                world)
        }
    }

    /// Closes all connections; `pump` opens new ones.
    ///
    /// A single stream would have to start over, so it continues.
    private mutating func changeConnections(_ world: some FetchWorld) {
        guard !setup.isLeftAlone else { return }
        world.report(.changingConnections(minimum: setup.limits.minRate ?? 0))
        for index in slots.indices { reopen(index, world) }
        // Any address of a host may be used next, because the present ones were slow.
        for source in sources.indices { sources[source].places.forgetGood() }
    }

    /// Gives up servers with an expired link once no connection receives bytes from them any more.
    private mutating func watchExpired(_ world: some FetchWorld) {
        for source in sources.indices where sources[source].standing != .dropped {
            guard let reason = sources[source].link.expired, !slots.isServed(source) else {
                continue
            }
            sources[source].link.expired = nil
            giveUp(source, reason, world)
        }
    }

    /// Compares complete ranges with their digests, even if their transfers have not ended.
    private mutating func settleProofs(_ world: some FetchWorld) {
        for index in slots.indices where slots[index].request.body?.proof != nil {
            guard !isOver else { return }
            _ = settleProof(index, world)
        }
    }

    /// Returns the connections that are receiving a body and that nothing on this side delays.
    private func flowing(_ world: some FetchWorld) -> [Int: Rescue.Connection] {
        setup.isLeftAlone || window?.isBehind == true ? [:] : slots.flowing(sources, world)
    }

    /// Reopens connections that are far slower than their peers.
    ///
    /// Stalled connections are handled by `watchStalls`. A connection that this side delays is not
    /// slow.
    private mutating func watchLaggards(_ world: some FetchWorld) {
        let laggards = rescue.step(
            flowing(world), roundTrip: scheduler.roundTrip, now: world.now)
        for laggard in laggards {
            if let rest = scheduler.segments[laggard.connection]?.rest {
                world.report(.outpaced(rest, rate: laggard.rate, peers: laggard.peers))
            }
            reopen(laggard.connection, world)
        }
    }

    /// Abandons addresses that are slow, or that stall while others do not.
    private mutating func watchAddresses(_ world: some FetchWorld) {
        guard sources.contains(where: { $0.places.book != nil }) else { return }
        let flowing = flowing(world)
        for index in flowing.keys {
            sources[slots[index].source].places.served(slots[index].route)
        }
        for source in sources.indices where sources[source].places.book != nil {
            let slow = sources[source].places.leaveSlow(
                flowing, of: source, slots, roundTrip: scheduler.roundTrip, now: world.now)
            reopen(slow, of: source, world)
            let stalled = sources[source].leaveStalled(flowing, of: source, slots, world)
            reopen(stalled, of: source, world)
            reportAddresses(of: source, world)
        }
    }

    private mutating func reopen(
        _ addresses: [String], of source: Int, _ world: some FetchWorld
    ) {
        for address in addresses {
            for index in slots.indices(of: source, at: address) { reopen(index, world) }
        }
    }

    /// Carries out the decision about stalled connections.
    ///
    /// A single stream cannot be resumed, so only the stall timeout applies to it.
    private mutating func watchStalls(_ world: some FetchWorld) {
        guard !setup.isLeftAlone else { return }
        let connections = slots.stalledOrNot(sources, world)
        switch stalls.step(connections, slots, received: received(world), now: world.now) {
        case .nothing: break
        case .dropCanary: dropCanary(world)
        case .reopen(let indices):
            for index in indices {
                let seconds = connections[index]?.quiet ?? 0
                if let rest = scheduler.segments[index]?.rest {
                    world.report(.rescued(rest, stalledFor: .init(seconds: seconds)))
                }
                reopen(index, world)
            }
        case .sendCanary(let source, let seconds):
            if let seconds { world.report(.stalled(for: .init(seconds: seconds))) }
            guard isDue(sources[source].origin, world) else {
                stalls.canaryWithheld(received: received(world), now: world.now)
                return
            }
            sendCanary(to: sources[source], world)
        }
    }

    // MARK: Canaries

    private func sendCanary(to source: Source, _ world: some FetchWorld) {
        var ask = source.ask(
            ByteRange(0, 1), skipsIfRange: true, isDecoded: setup.isDecoded)
        ask.wantsFreshConnection = true
        // A known address avoids the name server, which may be unreachable too.
        ask.address = source.goodAddress
        world[quotaOf: source.origin]?.pace.asked(now: world.now)
        // If its first SYN is lost, the kernel's back-off would delay the connection for seconds.
        world.sendCanary(ask, patience: source.patience)
    }

    /// Judges the head of the response to the canary.
    package mutating func judgeCanary(_ head: Head) { stalls.judge(head) }

    /// Handles the end of the canary.
    package mutating func canaryEnded(_ end: TransferEnd, _ world: some FetchWorld) {
        let news = stalls.ended(
            end, received: received(world), longestWait: setup.policy.longestRetryAfter,
            now: world.now)
        if setup.endsWithNetwork, let loss = stalls.loss(of: sources.count) {
            fail(.transfer(loss, attempts: 1), world)
            return
        }
        guard let news else { return }
        if let due = news.due { sources[news.source].restsUntil = due }
        if news.replaces { replaceStalled(of: news.source, world) }
    }

    /// Cancels the canary, if there is one.
    package mutating func dropCanary(_ world: some FetchWorld) {
        if stalls.dropCanary() { world.dropCanary() }
    }

    /// Replaces the stalled connections to a server by new ones.
    private mutating func replaceStalled(of source: Int, _ world: some FetchWorld) {
        let connections = slots.stalledOrNot(sources, world)
        var count = 0
        for index in slots.indices(of: source) {
            // Idle connections in libcurl's pool are probably dead too.
            slots[index].wantsFreshConnection = true
            guard let connection = connections[index],
                !connection.isAnswered || connection.quiet >= StallDetector.patience
            else { continue }
            let stall = world.state(of: index)?.stalledFor ?? 0
            reopen(index, world)
            slots[index].stalledBefore = stalls.isInVain ? stall : 0
            slots[index].backoff.failures = 0
            slots[index].backoff.until = 0
            count += 1
        }
        world.report(.stallOver(connections: count))
        pump(world)
    }

    /// Cancels a connection's request and releases its work; its next request uses a new
    /// connection.
    mutating func reopen(_ index: Int, _ world: some FetchWorld) {
        end(index, world)
        slots[index].flow.forget()
        scheduler.measured(index, rate: nil, now: account.lastTick)
        slots[index].wantsFreshConnection = true
    }

    /// Cancels a connection's request and releases its work.
    package mutating func end(_ index: Int, _ world: some FetchWorld) {
        if slots[index].isBusy { world.drop(index) }
        _ = endSample(index)
        _ = retire(index, world)
        scheduler.release(index)
    }

    // MARK: Hedges

    /// Sends second requests for the last missing bytes, over idle connections.
    mutating func hedge(_ world: some FetchWorld) {
        for index in hedges.late { dropHedge(index, world) }
        guard !setup.isLeftAlone, window == nil, scheduler.unassigned.ranges.isEmpty,
            !world.network(to: sources[0].origin).isRateLimited
        else { return }
        let free = slots.indices.count { isFree($0, world) }
        guard free > hedges.count else { return }
        let open = Set(
            sources.indices.filter {
                hasRoom($0, world) && !world.isCounted(sources[$0].origin)
            })
        let chosen = hedges.choose(free: free, slots, sources, scheduler, open: open, world)
        for index in chosen where isDue(sources[slots[index].source].origin, world) {
            sendHedge(index, world)
        }
    }

    private mutating func sendHedge(_ index: Int, _ world: some FetchWorld) {
        guard slots[index].isBusy, let rest = scheduler.segments[index]?.rest else { return }
        let source = slots[index].source
        var ask = sources[source].ask(
            rest, skipsIfRange: slots[index].skipsIfRange, isDecoded: setup.isDecoded)
        ask.address = sources[source].pin(forHedgeOf: slots[index], slots, world)
        reportAddresses(of: source, world)
        hedges.send(index, to: ask.url.origin, for: rest)
        world[quotaOf: sources[source].origin]?.pace.asked(now: world.now)
        world.sendHedge(index, ask)
        world.report(.hedged(rest))
    }

    /// Judges the head of the response to a hedge.
    ///
    /// - Returns: The number of bytes to keep; `nil` to reject the response.
    package mutating func judgeHedge(_ index: Int, _ head: Head) -> Int64? {
        hedges.judge(index, head)
    }

    /// Handles the end of a hedge: writes its bytes from the offset that the first request has
    /// reached.
    package mutating func hedgeEnded(_ index: Int, _ end: TransferEnd, _ world: some FetchWorld) {
        guard let hedge = hedges.ended(index, end), !hedge.isLate,
            slots.indices.contains(index), slots[index].isBusy
        else { return }
        // The bytes to copy must exist, whatever result libcurl reports.
        guard world.hedgeFits(index, hedge.range.count, hedge.digest) else {
            hedges.giveUp()
            return
        }
        if let position = world.position(of: index) { scheduler.advance(index, to: position) }
        guard let rest = scheduler.segments[index]?.rest,
            rest.start >= hedge.range.start, rest.end <= hedge.range.end
        else { return }
        reopen(index, world)
        guard scheduler.adopt(rest, by: index) else { return }
        slots[index].request.body = Body(start: rest.start, limit: rest.end, replyEnd: rest.end)
        sources[slots[index].source].accepted += 1
        if hedge.isUndated { sources[slots[index].source].dates.isUndated = true }
        let offset = Int(rest.start - hedge.range.start)
        let problem = world.writeHedge(index, from: offset, to: rest)
        guard problem == 0 else {
            fail(writing: problem, world)
            return
        }
        _ = retire(index, world)
        pump(world)
    }

    /// Cancels hedges until there are no more requests than connections.
    mutating func trimHedges(_ world: some FetchWorld) {
        while hedges.count > 0, slots.busy + hedges.count > slots.count,
            let index = hedges.connections.first
        {
            dropHedge(index, world)
        }
    }

    /// Cancels a hedge.
    package mutating func dropHedge(_ index: Int, _ world: some FetchWorld) {
        if hedges.remove(index) { world.dropHedge(index) }
    }
}
