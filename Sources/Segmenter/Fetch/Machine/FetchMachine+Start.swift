import Assembler

// The reply that the probe has left.
extension FetchMachine {
    /// Takes the reply that waits, or what has come of it, if its bytes are wanted.
    mutating func take(_ offer: Offer, _ world: some FetchWorld) {
        guard let range = wanted(of: offer), setup.isOneStream == (offer.range == nil),
            scheduler.adopt(range, by: 0)
        else {
            world.declineOffer()
            return
        }
        let isOver = offer.end != nil || !offer.isWaiting
        slots[0].request = Request(
            asked: offer.range, since: world.now, isUnderWay: !isOver, hasReply: offer.isBegun)
        ignoredRange = offer.ignored
        slots[0].flow.since = world.now
        sources[0].accepted += 1
        sources[0].places.isAsked = true
        noteAddress(0, offer.route, world)
        if let range = offer.range { noteAccepted(0, range, world) }
        if !isOver, let reply = offer.reply { noteUnprovenEnd(reply, world) }
        let body = body(range, offer, isOver: isOver)
        slots[0].request.body = body
        let problem = world.adopt(
            0, body, upTo: setup.isOneStream ? window?.limit : nil, goesOn: !isOver)
        if problem != 0 {
            ended(0, .disk(problem), world)
        } else if isOver {
            ended(0, offer.end ?? .complete, world)
        }
    }

    /// The bytes that are taken of the reply; `nil` for none.
    private func wanted(of offer: Offer) -> ByteRange? {
        guard offer.isBegun else {
            guard offer.isWaiting else { return nil }
            return setup.isOneStream ? rest : offer.range?.clamped(below: window?.limit)
        }
        guard window == nil else { return nil }
        // Of a reply that is over although nothing was told of its end, what has come may be used.
        let isCut = offer.end == nil && !offer.isWaiting
        if setup.isOneStream { return isCut ? nil : rest }
        return isCut ? ByteRange(0, offer.count) : offer.range
    }

    /// Where the reply's body goes.
    private mutating func body(_ range: ByteRange, _ offer: Offer, isOver: Bool) -> Body {
        var body = Body(
            start: offer.isBegun ? 0 : offer.range?.start ?? 0,
            limit: min(range.end, writeLimit), replyEnd: offer.range?.end ?? range.end)
        if !isOver, let reply = offer.reply, offer.range?.end == body.limit {
            body.proof = proof(0, reply)
        }
        return body
    }

    /// Tells when nothing proves that a body is whole.
    func noteUnprovenEnd(_ reply: Reply, _ world: some FetchWorld) {
        let isChunked = reply["transfer-encoding"]?.lowercased().contains("chunked") ?? false
        if reply.contentLength == nil, !isChunked { world.report(.endUnproven) }
    }
}
