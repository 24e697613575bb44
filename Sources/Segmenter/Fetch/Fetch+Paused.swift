import Assembler

extension Fetch {
    /// Takes the reply that the probe left waiting, if its bytes are wanted.
    func adoptPaused() {
        guard let paused = setup.paused else { return }
        guard paused.body.isEmpty, paused.end == nil else {
            adoptBegun(paused)
            return
        }
        let range = setup.isOneStream ? rest : paused.range?.clamped(below: window?.limit)
        guard let transfer = worker.transfer(paused.transfer), transfer.isHeld, let range,
            setup.isOneStream == (paused.range == nil), scheduler.adopt(range, by: 0)
        else {
            worker.drop(paused.transfer)
            return
        }
        let writer = assembly.makeWriter(at: paused.range?.start ?? 0)
        sources[0].accepted += 1
        sources[0].isAsked = true
        noteAddress(0, transfer)
        transfer.owner = id
        worker.noteRoundTrip(transfer)
        slots[0].transfer = transfer.id
        slots[0].writer = writer
        slots[0].requested = monotonicSeconds()
        slots[0].asked = paused.range
        ignoredRange = paused.ignored
        slots[0].flowsSince = slots[0].requested
        if let reply = transfer.reply { noteUnprovenEnd(reply) }
        if let range = paused.range { noteAccepted(0, range) }
        if setup.isOneStream { allow(transfer.id) }
        let replyEnd = paused.range?.end ?? range.end
        let end = min(range.end, writeLimit)
        if let reply = transfer.reply, let served = paused.range, served.end == end {
            expectProof(0, reply, served)
        }
        worker.resume(transfer, .write(writer, limit: end, replyEnd: replyEnd)) {
            [unowned self] end in adoptedEnd(end)
        }
    }

    /// Takes what has come of the reply that the probe left, and has the rest of it come, if its bytes
    /// are wanted.
    ///
    /// - Parameter paused: A reply of which something has come, or that is over.
    private func adoptBegun(_ paused: Probe.PausedReply) {
        let waiting = worker.transfer(paused.transfer).flatMap { $0.isHeld ? $0 : nil }
        let isOver = paused.end != nil || waiting == nil
        // Of a reply that is over although nothing was told of its end, what has come may be used.
        let served = isOver && paused.end == nil ? ByteRange(0, Int64(paused.body.count)) : nil
        let range = setup.isOneStream ? rest : served ?? paused.range
        guard let range, setup.isOneStream == (paused.range == nil), window == nil,
            !(setup.isOneStream && served != nil), scheduler.adopt(range, by: 0)
        else {
            worker.drop(paused.transfer)
            return
        }
        let writer = assembly.makeWriter(at: 0)
        slots[0].writer = writer
        slots[0].requested = monotonicSeconds()
        slots[0].hasReply = true
        slots[0].asked = paused.range
        ignoredRange = paused.ignored
        slots[0].flowsSince = slots[0].requested
        sources[0].accepted += 1
        sources[0].isAsked = true
        if let range = paused.range { noteAccepted(0, range) }
        if !isOver, let reply = waiting?.reply, let served = paused.range,
            served.end == min(range.end, writeLimit)
        {
            expectProof(0, reply, served)
        }
        noteAddress(0, waiting)
        let problem = paused.body.withUnsafeBytes { bytes in
            bytes.baseAddress.map { writer.write($0, bytes.count) } ?? 0
        }
        guard problem == 0 else {
            worker.drop(paused.transfer)
            adoptedEnd(.disk(problem))
            return
        }
        guard let waiting, !isOver else {
            adoptedEnd(paused.end ?? .complete)
            return
        }
        waiting.owner = id
        slots[0].transfer = waiting.id
        if let reply = waiting.reply { noteUnprovenEnd(reply) }
        if setup.isOneStream { allow(waiting.id) }
        let verdict = Transfer.Verdict.write(
            writer, limit: min(range.end, writeLimit), replyEnd: paused.range?.end ?? range.end)
        worker.resume(waiting, verdict) { [unowned self] end in adoptedEnd(end) }
    }

    func noteUnprovenEnd(_ reply: Reply) {
        let isChunked = reply["transfer-encoding"]?.lowercased().contains("chunked") ?? false
        if reply.contentLength == nil, !isChunked { report(.endUnproven) }
    }
}
