import Assembler

// What is asked of a server's replies before more is asked for, and before their bytes count.
extension Fetch {
    /// Longest range that is asked for where digests of ranges come with them, in bytes.
    ///
    /// Nothing of it is recorded before all of it has come: that much a crash may cost each connection.
    static let longestProven: Int64 = 8 << 20

    /// The bytes that a connection asks for next; `nil` when it has no work.
    func nextRange(_ index: Int) -> ByteRange? {
        let isProving = sources[slots[index].source].provesRanges
        return scheduler.ask(
            index, isWhole: asksForAll(index), most: isProving ? Self.longestProven : .max)
    }

    // MARK: Lies

    /// Whether a server may be sent one more request.
    func isTrusted(_ source: Int, _ now: Double) -> Bool {
        let confidence = sources[source].confidence
        guard !confidence.isProven else { return true }
        // Those that were lied to and wait are among them: others would only be lied to in their place.
        let open = slots.count {
            $0.source == source && ($0.transfer != nil || $0.waitsUntil > now && $0.failures > 0)
        }
        return open < confidence.most(roundTrip: worker.roundTrips[sources[source].url.origin])
    }

    /// A reply was what had been asked for.
    func noteAccepted(_ source: Int, _ served: ByteRange) {
        guard !sources[source].confidence.isProven else { return }
        sources[source].confidence.accepted(served, now: monotonicSeconds())
        isEager = isEager || sources[source].confidence.isProven
    }

    /// Replies about another version in a row, on new connections, before that is believed: fewer of who
    /// has contradicted himself from the start.
    func mismatchLimit(_ source: Int) -> Int {
        let isDoubtful = setup.hasContradicted && !sources[source].confidence.isProven
        return isDoubtful ? 1 : Self.mismatchLimit
    }

    /// Whether a connection asks again after what has just failed: not for ever, where that was a lie.
    func bears(_ index: Int, _ failure: TransferFailure) -> Bool {
        guard case .breach(let breach) = failure else { return true }
        if case .otherContentDigest = breach { return slots[index].failures < Confidence.tries }
        return sources[slots[index].source].confidence.bears(slots[index].failures)
    }

    // MARK: Digests of ranges (`Content-Digest`, RFC 9530)

    /// Whether a range has a digest, and is longer than those are to be.
    func isTooLongToProve(_ index: Int, _ reply: Reply, _ range: ByteRange?) -> Bool {
        guard let range, range.count > Self.longestProven, !setup.isOneStream,
            AdvertisedDigests.content(of: reply) != nil
        else { return false }
        sources[slots[index].source].provesRanges = true
        slots[index].asksAgain = true
        return true
    }

    /// Asks once more, for less.
    func askShorter(_ index: Int) {
        slots[index].asksAgain = false
        guard let range = nextRange(index) else { return pump(monotonicSeconds()) }
        request(index, range)
    }

    /// Has the bytes of a reply count only when they have the digest that came with it.
    func expectProof(_ index: Int, _ reply: Reply, _ served: ByteRange) {
        guard reply.status == 206, !setup.isOneStream,
            let digest = AdvertisedDigests.content(of: reply)
        else { return }
        sources[slots[index].source].provesRanges = true
        slots[index].writer?.expect(digest, end: served.end)
    }

    /// Ends waiting for a proof: what is not whole cannot be compared.
    ///
    /// It counts nevertheless, unless the last range that was compared was wrong.
    func endProof(_ index: Int, _ writer: ExtentWriter) {
        let isDropped = writer.awaitsProof && sources[slots[index].source].isForging
        if isDropped { writer.dropUnproven() } else { writer.waiveProof() }
        syncPosition(index)
        if isDropped, writer.position > writer.start {
            scheduler.takeBack(ByteRange(writer.start, writer.position))
        }
    }

    /// Once a tick: compares what has come whole, though its transfer has not ended.
    func settleProofs() {
        for index in slots.indices where slots[index].writer?.awaitsProof == true {
            guard !isOver else { return }
            _ = settleProof(index)
        }
    }

    /// Compares what a connection has brought, when it is whole.
    ///
    /// - Returns: Whether it was wrong: then it is asked for again.
    func settleProof(_ index: Int) -> Bool {
        guard let writer = slots[index].writer, let isRight = writer.settleProof() else {
            return false
        }
        sources[slots[index].source].isForging = !isRight
        guard !isRight else { return false }
        let range = ByteRange(writer.start, writer.position)
        if let transfer = slots[index].transfer { worker.drop(transfer) }
        syncPosition(index)
        scheduler.takeBack(range)
        assembly.retire(writer)
        slots[index].transfer = nil
        slots[index].writer = nil
        slots[index].forgetRate()
        sources[slots[index].source].received += range.count
        let breach = ContractBreach.otherContentDigest(range)
        report(.replyRefused(breach))
        retry(index, .breach(breach))
        return true
    }
}
