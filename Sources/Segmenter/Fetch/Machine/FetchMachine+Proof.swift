import Assembler

// What is asked of a server's replies before more is asked for, and before their bytes count.
extension FetchMachine {
    /// Longest range that is asked for where digests of ranges come with them, in bytes.
    ///
    /// Nothing of it is recorded before all of it has come: that much a crash may cost each connection.
    static let longestProven: Int64 = 8 << 20

    /// The bytes that a connection asks for next; `nil` when it has no work.
    mutating func nextRange(_ index: Int) -> ByteRange? {
        let isProving = sources[slots[index].source].trust.provesRanges
        return scheduler.ask(
            index, isWhole: asksForAll(index), most: isProving ? Self.longestProven : .max)
    }

    // MARK: Lies

    /// Whether a server may be sent one more request.
    func isTrusted(_ source: Int, _ world: some FetchWorld) -> Bool {
        let confidence = sources[source].trust.confidence
        guard !confidence.isProven else { return true }
        // Those that were lied to and wait are among them: others would only be lied to in their place.
        let open = slots.count {
            $0.source == source
                && ($0.isBusy || $0.backoff.until > world.now && $0.backoff.failures > 0)
        }
        let roundTrip = world.network(to: sources[source].origin).roundTrip
        return open < confidence.most(roundTrip: roundTrip)
    }

    /// A reply was what had been asked for.
    mutating func noteAccepted(_ source: Int, _ served: ByteRange, _ world: some FetchWorld) {
        guard !sources[source].trust.confidence.isProven else { return }
        sources[source].trust.confidence.accepted(served, now: world.now)
        isEager = isEager || sources[source].trust.confidence.isProven
    }

    /// Replies about another version in a row, on new connections, before that is believed: fewer of who
    /// has contradicted himself from the start.
    func mismatchLimit(_ source: Int) -> Int {
        let isDoubtful = setup.hasContradicted && !sources[source].trust.confidence.isProven
        return isDoubtful ? 1 : Self.mismatchLimit
    }

    /// Whether a connection asks again after what has just failed: not for ever, where that was a lie.
    func bears(_ index: Int, _ failure: TransferFailure) -> Bool {
        guard case .breach(let breach) = failure else { return true }
        let failures = slots[index].backoff.failures
        if case .otherContentDigest = breach { return failures < Confidence.tries }
        return sources[slots[index].source].trust.confidence.bears(failures)
    }

    // MARK: Digests of ranges (`Content-Digest`, RFC 9530)

    /// Whether a range has a digest, and is longer than those are to be.
    mutating func isTooLongToProve(
        _ index: Int, _ reply: Reply, _ range: ByteRange?
    ) -> Bool {
        guard let range, range.count > Self.longestProven, !setup.isOneStream,
            AdvertisedDigests.content(of: reply) != nil
        else { return false }
        sources[slots[index].source].trust.provesRanges = true
        slots[index].request.asksAgain = true
        return true
    }

    /// Asks once more, for less.
    mutating func askShorter(_ index: Int, _ world: some FetchWorld) {
        slots[index].request.asksAgain = false
        guard let range = nextRange(index) else { return pump(world) }
        request(index, range, world)
    }

    /// The digest that came with a reply: its bytes count only when they have it.
    mutating func proof(_ index: Int, _ reply: Reply) -> Digest? {
        guard reply.status == 206, !setup.isOneStream,
            let digest = AdvertisedDigests.content(of: reply)
        else { return nil }
        sources[slots[index].source].trust.provesRanges = true
        return digest
    }

    /// Once a tick: compares what has come whole, though its transfer has not ended.
    mutating func settleProofs(_ world: some FetchWorld) {
        for index in slots.indices where slots[index].request.body?.proof != nil {
            guard !isOver else { return }
            _ = settleProof(index, world)
        }
    }

    /// Compares what a connection has brought, when it is whole.
    ///
    /// - Returns: Whether it was wrong: then it is asked for again.
    mutating func settleProof(_ index: Int, _ world: some FetchWorld) -> Bool {
        guard let body = slots[index].request.body, body.proof != nil,
            let isRight = world.settleProof(index)
        else { return false }
        sources[slots[index].source].trust.isForging = !isRight
        slots[index].request.body?.proof = nil
        guard !isRight else { return false }
        if slots[index].isBusy { world.drop(index) }
        endRequest(index)
        slots[index].request.body = nil
        let range = ByteRange(body.start, world.retire(index, dropping: true) ?? body.start)
        scheduler.advance(index, to: range.end)
        scheduler.takeBack(range)
        slots[index].flow.forget()
        sources[slots[index].source].received += range.count
        let breach = ContractBreach.otherContentDigest(range)
        world.report(.replyRefused(breach))
        retry(index, .breach(breach), world)
        return true
    }
}
