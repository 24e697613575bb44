import Assembler

// What has come, and how fast.
extension FetchMachine {
    /// What has come over the network as a whole, and when it was looked at.
    struct Account {
        /// When the last tick was; 0 before the first.
        private(set) var lastTick = 0.0
        /// Bytes that had been received when any last came, and since when at the latest.
        private var arrival = (received: Int64(0), since: -Double.infinity)
        /// Bytes that had been received when the speed was last watched.
        private var receivedAtWatch: Int64 = 0
        /// The least speed that is put up with.
        private var floor: RateFloor?

        init(floor: RateFloor?) { self.floor = floor }

        /// When something came last, at the earliest.
        var arrivedSince: Double { arrival.since }

        /// A tick has come.
        ///
        /// - Returns: Seconds since the one before; 0 for the first.
        mutating func tick(_ now: Double) -> Double {
            defer { lastTick = now }
            return lastTick > 0 ? now - lastTick : 0
        }

        /// Takes how much has come by now.
        mutating func note(_ received: Int64) {
            if received > arrival.received { arrival = (received, lastTick) }
        }

        /// Watches the speed.
        ///
        /// - Parameters:
        ///   - received: Bytes that have come by now.
        ///   - seconds: Time that counts since the last call; `nil` when what came meanwhile does not
        ///     count either.
        /// - Returns: What is to be done about it.
        mutating func watch(_ received: Int64, _ seconds: Double?) -> RateFloor.Verdict {
            let fresh = received - receivedAtWatch
            receivedAtWatch = received
            guard let seconds else { return .goOn }
            return floor?.note(bytes: fresh, seconds: seconds) ?? .goOn
        }
    }

    /// Seconds that a body has to flow for to be measured as a whole.
    private static let shortestSample = 0.005

    /// Bytes of the file that came over the network.
    func receivedSoFar(_ world: some FetchWorld) -> Int64 {
        var sum = sources.reduce(0) { $0 + $1.received }
        for index in slots.indices { sum += written(index, world) }
        return sum
    }

    /// Bytes of the file that a server sent.
    func received(from source: Int, _ world: some FetchWorld) -> Int64 {
        var sum = sources[source].received
        for index in slots.indices where slots[index].source == source {
            sum += written(index, world)
        }
        return sum
    }

    /// Bytes that a connection has written of the present body.
    func written(_ index: Int, _ world: some FetchWorld) -> Int64 {
        guard let start = slots[index].request.body?.start else { return 0 }
        return (world.position(of: index) ?? start) - start
    }

    /// How far the fetch is.
    func progress(_ world: some FetchWorld) -> Progress {
        Progress(
            done: scheduler.done, verifying: scheduler.verifying,
            received: receivedSoFar(world), connections: slots.count { $0.isBusy })
    }

    /// Measures what a connection has brought since the last tick.
    mutating func measure(_ index: Int, _ world: some FetchWorld) {
        guard slots[index].request.body != nil, let position = world.position(of: index) else {
            return
        }
        let (now, isHeldBack) = (world.now, world.takeHeldBack(index))
        scheduler.advance(index, to: position)
        if let before = slots[index].flow.positionAtTick, now > account.lastTick {
            slots[index].flow.isHeldBack = isHeldBack
            slots[index].flow.note(
                rate: Double(position - before) / (now - account.lastTick),
                roundTrip: scheduler.roundTrip, now: now)
        }
        slots[index].flow.positionAtTick = position
    }

    /// Measures a body that is over as a whole, if it was too short to be measured in a tick.
    mutating func measureWhole(_ index: Int, _ count: Int64, _ world: some FetchWorld) {
        let flow = slots[index].flow
        guard let began = flow.unmeasuredSince, count > 0, !flow.isHeldBack else { return }
        let now = world.now
        guard now - began > Self.shortestSample else { return }
        slots[index].flow.note(
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
    mutating func noteRates(_ world: some FetchWorld) {
        let now = world.now
        account.note(receivedSoFar(world))
        for index in slots.indices {
            // Nor does one count that rests, because it is one too many.
            guard slots[index].isBusy || !isSurplus(index) else {
                scheduler.measured(index, rate: nil, now: now)
                continue
            }
            scheduler.measured(
                index, rate: isLate(slots[index], now) ? 1 : knownRate(slots[index]), now: now)
        }
        scheduler.asOf = now
    }

    private func knownRate(_ slot: Slot) -> Double? { slot.flow.isHeldBack ? nil : slot.rate }

    /// Whether a connection has been silent for so long that it is known to be slow.
    private func isLate(_ slot: Slot, _ now: Double) -> Bool {
        let isSilent =
            slot.isBusy && slot.sample == nil && slot.request.since < account.arrivedSince
            && (slot.request.body == nil || slot.rate == 0)
        let isWaiting = slot.request.body != nil && slot.flow.isHeldBack
        return isSilent && !isWaiting
            && now - slot.request.since > sources[slot.source].stallLimit
    }

    /// Notes how long a reply took, beside making the connection.
    mutating func noteWait(_ wait: Double) {
        let trip = max(0, wait)
        let old = scheduler.roundTrip
        // One that took long says little: the server had something else to do.
        let part = old == 0 ? 1 : trip < old ? 0.5 : 0.125
        scheduler.roundTrip = old + part * (trip - old)
    }

    /// The connections whose body flows, and that are held back by nobody on our side.
    func flowing(_ world: some FetchWorld) -> [Int: Rescue.Connection] {
        guard !setup.isOneStream, window?.isBehind != true else { return [:] }
        var flowing: [Int: Rescue.Connection] = [:]
        for (index, slot) in slots.enumerated() {
            guard slot.request.body != nil, slot.rate > 0, !slot.flow.isHeldBack,
                let since = slot.flow.since, let state = world.state(of: index),
                !state.isPaused, state.quiet < StallDetector.patience / 2
            else { continue }
            // Where there are several, what is slow may be the address.
            let isSpread = sources[slot.source].places.book != nil
            flowing[index] = Rescue.Connection(
                source: slot.source, address: isSpread ? slot.route?.address : nil,
                rate: slot.rate, age: world.now - since)
        }
        return flowing
    }

    /// Reopens connections that are far slower than their peers.
    ///
    /// Those that bring nothing are `watchStalls`'s, and whom we hold back ourselves is not slow.
    mutating func watchLaggards(_ world: some FetchWorld) {
        let laggards = rescue.step(
            flowing(world), roundTrip: scheduler.roundTrip, now: world.now)
        for laggard in laggards {
            if let rest = scheduler.segments[laggard.connection]?.rest {
                world.report(.outpaced(rest, rate: laggard.rate, peers: laggard.peers))
            }
            reopen(laggard.connection, world)
        }
    }
}
