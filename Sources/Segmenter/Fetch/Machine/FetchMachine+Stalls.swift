import Assembler

// Connections from which nothing comes any more.
extension FetchMachine {
    /// A small request on a new connection, to learn whether the server can be reached.
    struct Canary {
        /// The server that it goes to, or went to.
        var source: Int
        var isUnderWay = true
        /// What was made of the head of its reply.
        var end: StallDetector.CanaryEnd = .lost
        /// Seconds that the server asks to wait for.
        var retryAfter: Double?
    }

    /// Once a tick: does what is to be done about silent connections.
    ///
    /// A single stream cannot be continued: it has the stall timeout only.
    mutating func watchStalls(_ world: some FetchWorld) {
        guard !setup.isOneStream else { return }
        let connections = silentOrNot(world)
        let wasNoticed = stalls.noticed != nil
        switch stalls.step(connections, received: receivedSoFar(world), now: world.now) {
        case .nothing: break
        case .endCanary: dropCanary(world)
        case .rescue(let indices):
            for index in indices {
                let seconds = connections[index]?.quiet ?? 0
                if let rest = scheduler.segments[index]?.rest {
                    world.report(.rescued(rest, silentFor: seconds))
                }
                reopen(index, world)
            }
        case .sendCanary:
            if !wasNoticed {
                // Not those that had failed before.
                let quiet = connections.values.map(\.quiet).filter { $0 < .infinity }
                world.report(.silence(seconds: quiet.min() ?? 0))
            }
            sendCanary(Array(connections.keys), world)
        }
    }

    /// The connections that have a request under way, and those whose last one failed without a
    /// reply and that wait to try again.
    private func silentOrNot(_ world: some FetchWorld) -> [Int: StallDetector.Connection] {
        var connections: [Int: StallDetector.Connection] = [:]
        for (index, slot) in slots.enumerated() where slot.sample == nil {
            if let state = world.state(of: index) {
                connections[index] = StallDetector.Connection(
                    quiet: state.quiet, isAnswered: state.isAnswered,
                    isConnected: state.isConnected,
                    longestWait: sources[slot.source].longestWait)
            } else if slot.backoff.failures > 0, waitsForNetwork(slot, world.now) {
                connections[index] = StallDetector.Connection(
                    quiet: .infinity, isAnswered: false, isConnected: false)
            }
        }
        return connections
    }

    /// Whether a connection waits to try again what failed without a reply.
    private func waitsForNetwork(_ slot: Slot, _ now: Double) -> Bool {
        !slot.isBusy && slot.request.refusal == nil && slot.request.retryAfter == nil
            && slot.backoff.until > now && slot.backoff.until < .infinity
    }

    // MARK: The canary

    /// Sends a canary to the server of one of these connections, in turn.
    private mutating func sendCanary(_ indices: [Int], _ world: some FetchWorld) {
        let candidates = Set(indices.map { slots[$0].source }).sorted()
        let last = canary?.source ?? -1
        guard let number = candidates.first(where: { $0 > last }) ?? candidates.first else {
            return
        }
        var ask = ask(number, Probe.firstByte, skipsIfRange: true)
        ask.wantsFreshConnection = true
        // It needs no name server, which may be as silent.
        ask.address = sources[number].goodAddress
        // The kernel's SYN back-off would have one that begins in vain wait for seconds.
        world.sendCanary(ask, patience: sources[number].patience)
        canary = Canary(source: number)
    }

    /// Judges the head of the reply to the canary.
    mutating func judgeCanary(_ head: Head) {
        if case .accept = head.check.verdict(on: head.reply) {
            canary?.end = .answered
        } else {
            canary?.end = .refused
            canary?.retryAfter = head.reply.retryAfter
        }
    }

    /// The canary has ended.
    mutating func canaryEnded(_ end: TransferEnd, _ world: some FetchWorld) {
        if case .failed(.stalled) = end { canary?.end = .refused }
        guard let ended = canary else { return }
        // The next one may go to another server.
        canary?.isUnderWay = false
        // It holds for all that would ask the server anew.
        let due = ended.retryAfter.map { world.now + min($0, setup.policy.longestRetryAfter) }
        if let due { sources[ended.source].restsUntil = due }
        guard stalls.canaryEnded(ended.end, received: receivedSoFar(world), due: due) else {
            return
        }
        replaceSilent(of: ended.source, world)
    }

    /// Drops the canary, if there is one.
    mutating func dropCanary(_ world: some FetchWorld) {
        if canary?.isUnderWay == true { world.dropCanary() }
        canary = nil
    }

    /// Gives up the connections to a server that are silent, for new ones.
    private mutating func replaceSilent(of source: Int, _ world: some FetchWorld) {
        let connections = silentOrNot(world)
        var count = 0
        for index in slots.indices where slots[index].source == source {
            // Whatever is kept idle is as dead.
            slots[index].wantsFreshConnection = true
            guard let connection = connections[index], slots[index].sample == nil,
                !connection.isAnswered || connection.quiet >= StallDetector.patience
            else { continue }
            let silence = world.state(of: index)?.silence ?? 0
            reopen(index, world)
            slots[index].silentBefore = stalls.isInVain ? silence : 0
            slots[index].backoff.failures = 0
            slots[index].backoff.until = 0
            count += 1
        }
        world.report(.silenceOver(connections: count))
        pump(world)
    }

    /// Ends what a connection has under way, and takes its work back; its next request goes out on a
    /// new connection.
    mutating func reopen(_ index: Int, _ world: some FetchWorld) {
        end(index, world)
        slots[index].flow.forget()
        scheduler.measured(index, rate: nil, now: account.lastTick)
        slots[index].wantsFreshConnection = true
    }

    /// Ends what a connection has under way, and takes its work back.
    mutating func end(_ index: Int, _ world: some FetchWorld) {
        if slots[index].isBusy { world.drop(index) }
        _ = endSample(index)
        _ = retire(index, world)
        scheduler.release(index)
    }
}
