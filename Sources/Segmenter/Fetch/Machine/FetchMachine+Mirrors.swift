import Assembler

// Several servers for one file.
extension FetchMachine {
    /// Fewest bytes that a comparison may rest on, where more were asked for.
    static let leastCompared: Int64 = 1 << 10

    /// Whether no other server is in use.
    func isLast(_ source: Int) -> Bool {
        !sources.indices.contains { $0 != source && sources[$0].standing != .dropped }
    }

    /// Whether another server has brought bytes since all others had brought so many, or would if it
    /// were asked: when none does, the trouble is not this server's.
    func othersWork(_ source: Int, since received: Int64, _ world: some FetchWorld) -> Bool {
        let others = receivedSoFar(world) - self.received(from: source, world)
        guard others <= received else { return true }
        return sources.indices.contains { other in
            guard other != source, sources[other].standing == .unproven else { return false }
            return slots.allSatisfy { $0.source != other || $0.backoff.failures == 0 }
        }
    }

    // MARK: Coming

    /// Takes another server that has the file: it begins with a sample.
    mutating func join(_ mirror: Mirror, _ world: some FetchWorld) {
        // What has gone out of a stream is not there to be compared.
        guard !isOver, !setup.isOneStream, world.canReadBack,
            !sources.contains(where: { $0.mirror.number == mirror.number })
        else { return }
        sources.append(Source(mirror))
        govern(world)
        take(1, for: sources.count - 1, world)
        pump(world)
    }

    /// Gives a server connections that others have, as long as these keep one each.
    private mutating func take(_ count: Int, for source: Int, _ world: some FetchWorld) {
        for _ in 0..<max(0, count) {
            guard let donor = balance.donor(for: source) else { return }
            let theirs = slots.indices.filter {
                slots[$0].source == donor && sources[donor].sampling != $0
            }
            guard let index = theirs.first(where: { !slots[$0].isBusy }) ?? theirs.last
            else { return }
            move(index, to: source, world)
        }
    }

    /// Has a connection work for another server; what it has under way is ended.
    private mutating func move(_ index: Int, to source: Int, _ world: some FetchWorld) {
        end(index, world)
        slots[index] = Slot(source: source)
    }

    /// The servers that are in use, with their connections and rates.
    private var balance: MirrorBalance {
        var shares: [Int: MirrorBalance.Share] = [:]
        for source in sources.indices where sources[source].standing != .dropped {
            let mine = slots.filter { $0.source == source }
            let rates = mine.map(\.rate).filter { $0 > 0 }
            shares[source] = MirrorBalance.Share(
                connections: mine.count,
                rate: rates.isEmpty ? nil : rates.reduce(0, +) / Double(rates.count),
                isProven: sources[source].standing == .proven)
        }
        return MirrorBalance(shares: shares)
    }

    // MARK: Work

    /// Makes a free connection ready for work: with the server that it does most for.
    ///
    /// - Returns: Whether it may take bytes of the file.
    mutating func prepare(_ index: Int, _ world: some FetchWorld) -> Bool {
        if sources.count > 1, let better = balance.place(from: slots[index].source),
            better != slots[index].source
        {
            slots[index] = Slot(source: better)
        }
        let source = slots[index].source
        if sources[source].standing == .unproven, sources[source].sampling == nil,
            hasRoom(source, world)
        {
            compare(index, world)
        }
        return sources[source].standing == .proven && !slots[index].isBusy
    }

    /// Has a server send bytes that are there already, if any are.
    private mutating func compare(_ index: Int, _ world: some FetchWorld) {
        for index in slots.indices where slots[index].request.body != nil {
            if let position = world.position(of: index) {
                scheduler.advance(index, to: position)
            }
        }
        let source = slots[index].source
        record(world)
        guard !isOver else { return }
        let moreComes =
            sources.contains { $0.standing == .proven } || slots.contains { $0.request.body != nil }
        switch chooseSample(moreComes, world) {
        case .wait: break
        case .nothing where sources[source].dates.doubted != nil: another(source, world)
        case .nothing: prove(source, world)
        case .compare(let range):
            sources[source].sampling = index
            let expected = world.canReadBack ? nil : world.recorded.first { $0.range == range }
            slots[index].sample = Sample(range: range, expected: expected)
            request(index, range, world)
        }
    }

    /// Chooses bytes to compare: any that can be read again, else an extent whose checksum is known.
    private func chooseSample(_ moreComes: Bool, _ world: some FetchWorld) -> MirrorSample {
        world.canReadBack
            ? MirrorSample(
                done: scheduler.done, moreComes: moreComes, random: world.random())
            : MirrorSample(extents: world.recorded, moreComes: moreComes)
    }

    /// What to do with the body of a sample.
    mutating func sampling(_ index: Int, _ served: ByteRange, _ reply: Reply) -> Verdict {
        if let doubted = sources[slots[index].source].dates.doubted,
            reply["last-modified"] != doubted
        {
            // It is of the date that is not doubted, and tells nothing.
            slots[index].request.missedSample = true
            slots[index].request.refusal = .breach(
                .otherLastModified(expected: doubted, got: reply["last-modified"]))
            return .decline
        }
        slots[index].sample?.isTaken = true
        return .sample(Body(start: served.start, limit: served.end, replyEnd: served.end))
    }

    /// Ends the sample that a connection fetched, if it did.
    ///
    /// - Returns: The sample, when the reply was accepted.
    mutating func endSample(_ index: Int) -> Sample? {
        guard let sample = slots[index].sample else { return nil }
        let source = slots[index].source
        if sources[source].sampling == index { sources[source].sampling = nil }
        slots[index].sample = nil
        return sample.isTaken ? sample : nil
    }

    /// Compares a sample that has come whole.
    mutating func sampled(_ index: Int, _ sample: Sample, _ world: some FetchWorld) {
        let source = slots[index].source
        let (asked, got) = (sample.range, world.sample(of: index))
        if got.count < min(asked.count, Self.leastCompared) {
            giveUp(source, .contract(.otherRange(asked: asked, got: got)), world)
        } else if world.sampleAgrees(index, sample.expected) {
            slots[index].backoff.clear()
            prove(source, by: got.count, world)
            pump(world)
        } else if sources[source].dates.doubted != nil {
            another(source, world)
        } else {
            let fault = MirrorFault.otherData(got)
            drop(source, fault, orFinish: .failed(fault.reason), world)
        }
    }

    /// Uses a server's bytes from now on.
    private mutating func prove(_ source: Int, by count: Int64 = 0, _ world: some FetchWorld) {
        sources[source].standing = .proven
        if sources[source].dates.vouch() { world.report(.sampleAgreed(bytes: count)) }
        guard !sources[source].hasJoined else { return }
        sources[source].hasJoined = true
        world.report(.mirrorJoined(url: sources[source].mirror.shownURL))
        let mine = slots.count { $0.source == source }
        take(balance.fairShare(of: slots.count) - mine, for: source, world)
    }

    // MARK: Going

    /// A server cannot serve the file any more: others go on, if there are any.
    mutating func giveUp(
        _ source: Int, _ reason: DownloadError.Reason, _ world: some FetchWorld
    ) {
        drop(source, .failed(reason), orFinish: .failed(reason), world)
    }

    /// Drops a server and gives its work and its connections to others.
    ///
    /// - Parameters:
    ///   - source: The server.
    ///   - fault: What is wrong with it.
    ///   - outcome: How the fetch ends when no other server is left.
    ///   - world: The present moment.
    mutating func drop(
        _ source: Int, _ fault: MirrorFault, orFinish outcome: Outcome, _ world: some FetchWorld
    ) {
        guard !isOver, sources[source].standing != .dropped else { return }
        guard sources.count > 1 else {
            finish(outcome, world)
            return
        }
        let isLast = isLast(source)
        // The one that leads may yet be asked what it offers now.
        if isLast, source == 0, !outcome.isFailure {
            finish(outcome, world)
            return
        }
        sources[source].standing = .dropped
        if sources[source].link.isResolving { world.cancelResolving(source) }
        ledger.faults[sources[source].mirror.number] = fault
        world.report(.mirrorDropped(url: sources[source].mirror.shownURL, why: fault))
        if isLast {
            finish(outcome.isFailure ? outcome : .failed(fault.reason), world)
            return
        }
        for index in slots.indices where slots[index].source == source {
            move(index, to: source, world)
            if let next = balance.place(from: nil) { slots[index] = Slot(source: next) }
        }
        pump(world)
    }
}
