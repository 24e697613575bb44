import Assembler

// What has come, and how fast.
extension Fetch {
    /// Seconds that a body has to flow for to be measured as a whole.
    private static let shortestSample = 0.005

    /// Bytes of the file that came over the network.
    var receivedSoFar: Int64 { sources.indices.reduce(0) { $0 + received(from: $1) } }

    /// Bytes of the file that a server sent.
    func received(from source: Int) -> Int64 {
        slots.reduce(sources[source].received) { sum, slot in
            guard slot.source == source, let writer = slot.writer else { return sum }
            return sum + writer.position - writer.start
        }
    }

    /// Measures what a connection has brought since the last tick.
    func measure(_ index: Int, _ now: Double) {
        guard let writer = slots[index].writer else { return }
        let transfer = slots[index].transfer.flatMap(worker.transfer)
        let isHeldBack = transfer?.pace.takeHeldBack() ?? false
        syncPosition(index)
        if let before = slots[index].positionAtTick, now > lastTick {
            slots[index].isHeldBack = isHeldBack
            slots[index].note(
                rate: Double(writer.position - before) / (now - lastTick),
                roundTrip: scheduler.roundTrip, now: now)
        }
        slots[index].positionAtTick = writer.position
    }

    /// A body begins to flow.
    func noteBody(_ index: Int) {
        let now = monotonicSeconds()
        slots[index].unmeasuredSince = now
        slots[index].flowsSince = slots[index].flowsSince ?? now
    }

    /// Measures a body that is over as a whole, if it was too short to be measured in a tick.
    func measureWhole(_ index: Int, _ count: Int64) {
        guard let began = slots[index].unmeasuredSince, count > 0, !slots[index].isHeldBack else {
            return
        }
        let now = monotonicSeconds()
        guard now - began > Self.shortestSample else { return }
        slots[index].note(
            rate: Double(count) / (now - began), roundTrip: scheduler.roundTrip, now: now)
        scheduler.measured(index, rate: slots[index].rate, now: now)
    }

    /// Tells the scheduler the connections' speeds, as far as they are known.
    ///
    /// One that has been silent for long since its request went out is known to be slow: far longer
    /// than this server has ever taken to answer, or its work would go round among connections that
    /// all wait. One that the session's limit of rate holds back is not known to be slow, nor one
    /// since whose request no other has brought anything: whoever took its work would wait as long,
    /// and then the next one, and no stall timeout would ever end it.
    func noteRates(_ now: Double) {
        let received = receivedSoFar
        if received > arrival.received { arrival = (received, lastTick) }
        for (index, slot) in slots.enumerated() {
            // Nor does one count that rests, because it is one too many.
            guard slot.transfer != nil || !isSurplus(index) else {
                scheduler.measured(index, rate: nil, now: now)
                continue
            }
            let isSilent =
                slot.transfer != nil && slot.sample == nil && slot.requested < arrival.since
                && (slot.writer == nil || slot.rate == 0)
            let isWaiting = slot.writer != nil && slot.isHeldBack
            if isSilent, !isWaiting, now - slot.requested > sources[slot.source].stallLimit {
                scheduler.measured(index, rate: 1, now: now)
            } else {
                scheduler.measured(index, rate: slot.isHeldBack ? nil : slot.rate, now: now)
            }
        }
        scheduler.asOf = now
    }

    /// Notes how long a reply took, beside making the connection.
    func noteWait(_ index: Int, _ wait: Double) {
        guard let transfer = slots[index].transfer.flatMap(worker.transfer) else { return }
        let trip = max(0, wait - transfer.connectingSeconds)
        let old = scheduler.roundTrip
        // One that took long says little: the server had something else to do.
        let part = old == 0 ? 1 : trip < old ? 0.5 : 0.125
        scheduler.roundTrip = old + part * (trip - old)
    }

    /// The connections whose body flows, and that are held back by nobody on our side.
    func flowing(_ now: Double) -> [Int: Rescue.Connection] {
        guard !setup.isOneStream, window?.isBehind != true else { return [:] }
        var flowing: [Int: Rescue.Connection] = [:]
        for (index, slot) in slots.enumerated() {
            guard slot.writer != nil, slot.rate > 0, !slot.isHeldBack, let since = slot.flowsSince,
                let transfer = slot.transfer.flatMap(worker.transfer), !transfer.isPaused,
                now - transfer.heard < StallDetector.patience / 2
            else { continue }
            // Where there are several, what is slow may be the address.
            let isSpread = sources[slot.source].book != nil
            flowing[index] = Rescue.Connection(
                source: slot.source, address: isSpread ? slot.route?.address : nil,
                rate: slot.rate, age: now - since)
        }
        return flowing
    }

    /// Reopens connections that are far slower than their peers.
    ///
    /// Those that bring nothing are `watchStalls`'s, and whom we hold back ourselves is not slow.
    func watchLaggards(_ now: Double) {
        for laggard in rescue.step(flowing(now), roundTrip: scheduler.roundTrip, now: now) {
            if let rest = scheduler.segments[laggard.connection]?.rest {
                report(.outpaced(rest, rate: laggard.rate, peers: laggard.peers))
            }
            reopen(laggard.connection)
        }
    }
}
