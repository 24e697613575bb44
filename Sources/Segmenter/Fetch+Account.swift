import Assembler

// What has come, and how fast.
extension Fetch {
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
            let rate = Double(writer.position - before) / (now - lastTick)
            let old = slots[index].rate
            slots[index].rate = old == 0 ? rate : 0.7 * old + 0.3 * rate
        }
        slots[index].positionAtTick = writer.position
    }

    /// The connections' speeds, as far as they are known.
    ///
    /// One that has been silent for long since its request went out is known to be slow: far longer
    /// than this server has ever taken to answer, or its work would go round among connections that
    /// all wait. One that the session's limit of rate holds back is not known to be slow.
    func rates(_ now: Double) -> [Int: Double] {
        var rates: [Int: Double] = [:]
        for (index, slot) in slots.enumerated() {
            let isSilent =
                slot.transfer != nil && slot.sample == nil
                && (slot.writer == nil || slot.rate == 0)
            let isWaiting = slot.writer != nil && slot.isHeldBack
            if isSilent, !isWaiting, now - slot.requested > sources[slot.source].silenceLimit {
                rates[index] = 1
            } else if slot.rate > 0, !slot.isHeldBack {
                rates[index] = slot.rate
            }
        }
        return rates
    }
}
