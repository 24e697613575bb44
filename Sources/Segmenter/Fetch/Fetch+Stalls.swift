import Assembler

// Connections from which nothing comes any more.
extension Fetch {
    /// A small request on a new connection, to learn whether the server can be reached.
    struct Canary {
        var transfer: Int
        /// The server that it goes to.
        var source: Int
        /// What was made of the head of its reply.
        var end: StallDetector.CanaryEnd = .lost
        /// Seconds that the server asks to wait for.
        var retryAfter: Double?
    }

    /// Once a tick: does what is to be done about silent connections.
    ///
    /// A single stream cannot be continued: it has the stall timeout only.
    func watchStalls(_ now: Double) {
        guard !setup.isOneStream else { return }
        let connections = silentOrNot(now)
        let wasNoticed = stalls.noticed != nil
        switch stalls.step(connections, received: receivedSoFar, now: now) {
        case .nothing: break
        case .endCanary: dropCanary()
        case .rescue(let indices):
            for index in indices {
                let seconds = connections[index]?.quiet ?? 0
                if let rest = scheduler.segments[index]?.rest {
                    report(.rescued(rest, silentFor: seconds))
                }
                reopen(index)
            }
        case .sendCanary:
            if !wasNoticed {
                // Not those that had failed before.
                let quiet = connections.values.map(\.quiet).filter { $0 < .infinity }
                report(.silence(seconds: quiet.min() ?? 0))
            }
            sendCanary(Array(connections.keys))
        }
    }

    /// The connections that have a request under way, and those whose last one failed without a
    /// reply and that wait to try again.
    private func silentOrNot(_ now: Double) -> [Int: StallDetector.Connection] {
        var connections: [Int: StallDetector.Connection] = [:]
        for (index, slot) in slots.enumerated() where slot.sample == nil {
            if let transfer = slot.transfer.flatMap(worker.transfer) {
                connections[index] = StallDetector.Connection(
                    quiet: now - transfer.heard, isAnswered: transfer.reply != nil,
                    isConnected: transfer.isConnected,
                    longestWait: sources[slot.source].longestWait)
            } else if slot.failures > 0, waitsForNetwork(slot, now) {
                connections[index] = StallDetector.Connection(
                    quiet: .infinity, isAnswered: false, isConnected: false)
            }
        }
        return connections
    }

    /// Whether a connection waits to try again what failed without a reply.
    private func waitsForNetwork(_ slot: Slot, _ now: Double) -> Bool {
        slot.transfer == nil && slot.refusal == nil && slot.retryAfter == nil
            && slot.waitsUntil > now && slot.waitsUntil < .infinity
    }

    // MARK: The canary

    /// Sends a canary to the server of one of these connections, in turn.
    private func sendCanary(_ indices: [Int]) {
        let candidates = Set(indices.map { slots[$0].source }).sorted()
        let last = canary?.source ?? -1
        guard let number = candidates.first(where: { $0 > last }) ?? candidates.first else {
            return
        }
        let source = sources[number]
        var request = TransferRequest(url: source.url, connecting: setup.connecting)
        request.range = Probe.firstByte
        request.wantsFreshConnection = true
        // It needs no name server, which may be as silent.
        request.address = source.goodAddress
        // The kernel's SYN back-off would have one that begins in vain wait for seconds.
        let patience = max(StallDetector.patience, StallDetector.factor * (source.longestWait ?? 0))
        request.connecting.connectTimeout = min(request.connecting.connectTimeout, patience)
        request.connecting.stallTimeout = min(request.connecting.stallTimeout, patience)
        let check = check(number, request)
        let transfer = worker.start(request) { [unowned self] reply in
            if case .accept = check.verdict(on: reply) {
                canary?.end = .answered
            } else {
                canary?.end = .refused
                canary?.retryAfter = reply.retryAfter
            }
            // It is closed: a server may allow no more connections than we want to use.
            return .decline
        } onEnd: { [unowned self] end in
            if case .failed(.stalled) = end { canary?.end = .refused }
            canaryEnded()
        }
        transfer.owner = id
        canary = Canary(transfer: transfer.id, source: number)
    }

    private func canaryEnded() {
        guard let ended = canary else { return }
        // The next one may go to another server.
        canary?.transfer = 0
        // It holds for all that would ask the server anew.
        let due = ended.retryAfter.map {
            monotonicSeconds() + min($0, setup.policy.longestRetryAfter)
        }
        if let due { sources[ended.source].restsUntil = due }
        guard stalls.canaryEnded(ended.end, received: receivedSoFar, due: due) else { return }
        replaceSilent(of: ended.source)
    }

    /// Drops the canary, if there is one.
    func dropCanary() {
        if let canary { worker.drop(canary.transfer) }
        canary = nil
    }

    /// Gives up the connections to a server that are silent, for new ones.
    private func replaceSilent(of source: Int) {
        let now = monotonicSeconds()
        let connections = silentOrNot(now)
        var count = 0
        for index in slots.indices where slots[index].source == source {
            // Whatever is kept idle is as dead.
            slots[index].wantsFreshConnection = true
            guard let connection = connections[index], slots[index].sample == nil,
                !connection.isAnswered || connection.quiet >= StallDetector.patience
            else { continue }
            let quiet = slots[index].transfer.flatMap(worker.transfer)?.silence(now) ?? 0
            reopen(index)
            slots[index].silentBefore = stalls.isInVain ? quiet : 0
            slots[index].failures = 0
            slots[index].waitsUntil = 0
            count += 1
        }
        report(.silenceOver(connections: count))
        pump(now)
    }

    /// Ends what a connection has under way, and takes its work back; its next request goes out on a
    /// new connection.
    func reopen(_ index: Int) {
        if let transfer = slots[index].transfer { worker.drop(transfer) }
        _ = endSample(index)
        _ = retire(index)
        scheduler.release(index)
        slots[index].forgetRate()
        scheduler.measured(index, rate: nil, now: lastTick)
        slots[index].wantsFreshConnection = true
    }
}
