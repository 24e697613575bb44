import Assembler

// Several servers for one file.
extension Fetch {
    /// Fewest bytes that a comparison may rest on, where more were asked for.
    static let leastCompared: Int64 = 1 << 10

    /// Whether no other server is in use.
    func isLast(_ source: Int) -> Bool {
        !sources.indices.contains { $0 != source && sources[$0].standing != .dropped }
    }

    /// Whether another server has brought bytes since all others had brought so many, or would if it
    /// were asked: when none does, the trouble is not this server's.
    func othersWork(_ source: Int, since received: Int64) -> Bool {
        guard receivedSoFar - self.received(from: source) <= received else { return true }
        return sources.indices.contains { other in
            guard other != source, sources[other].standing == .unproven else { return false }
            return slots.allSatisfy { $0.source != other || $0.failures == 0 }
        }
    }

    // MARK: Coming

    /// Takes another server that has the file: it begins with a sample.
    func join(_ mirror: Mirror) {
        // What has gone out of a stream is not there to be compared.
        guard !isOver, !setup.isOneStream, assembly is Assembly,
            !sources.contains(where: { $0.mirror.number == mirror.number })
        else { return }
        sources.append(Source(mirror))
        govern(monotonicSeconds())
        take(1, for: sources.count - 1)
        pump(monotonicSeconds())
    }

    /// Gives a server connections that others have, as long as these keep one each.
    private func take(_ count: Int, for source: Int) {
        for _ in 0..<max(0, count) {
            guard let donor = balance.donor(for: source) else { return }
            let theirs = slots.indices.filter {
                slots[$0].source == donor && sources[donor].sampling != $0
            }
            guard let index = theirs.first(where: { slots[$0].transfer == nil }) ?? theirs.last
            else { return }
            move(index, to: source)
        }
    }

    /// Has a connection work for another server; what it has under way is ended.
    private func move(_ index: Int, to source: Int) {
        if let transfer = slots[index].transfer { worker.drop(transfer) }
        _ = endSample(index)
        _ = retire(index)
        scheduler.release(index)
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
    func prepare(_ index: Int) -> Bool {
        if sources.count > 1, let better = balance.place(from: slots[index].source),
            better != slots[index].source
        {
            slots[index] = Slot(source: better)
        }
        let source = slots[index].source
        if sources[source].standing == .unproven, sources[source].sampling == nil,
            hasRoom(source, monotonicSeconds())
        {
            compare(index)
        }
        return sources[source].standing == .proven
            && slots[index].transfer == nil
    }

    /// Has a server send bytes that are there already, if any are.
    private func compare(_ index: Int) {
        for index in slots.indices {
            if let writer = slots[index].writer {
                scheduler.advance(index, to: writer.position)
            }
        }
        let source = slots[index].source
        record()
        guard !isOver else { return }
        let moreComes =
            sources.contains { $0.standing == .proven } || slots.contains { $0.writer != nil }
        switch chooseSample(moreComes) {
        case .wait: break
        case .nothing where sources[source].doubted != nil: another(source)
        case .nothing: prove(source)
        case .compare(let range):
            sources[source].sampling = index
            slots[index].sample = range
            slots[index].expectedSample =
                assembly.recorded.extents.first { $0.range == range && !(assembly is Assembly) }
            request(index, range)
        }
    }

    /// Chooses bytes to compare: any that can be read again, else an extent whose checksum is known.
    private func chooseSample(_ moreComes: Bool) -> MirrorSample {
        assembly is Assembly
            ? MirrorSample(
                done: scheduler.done, moreComes: moreComes, random: .random(in: 0..<1))
            : MirrorSample(extents: assembly.recorded.extents, moreComes: moreComes)
    }

    /// What to do with the body of a sample.
    func sampling(_ index: Int, _ served: ByteRange, _ reply: Reply) -> Transfer.Verdict {
        if let doubted = sources[slots[index].source].doubted,
            reply["last-modified"] != doubted.date
        {
            // It is of the date that is not doubted, and tells nothing.
            slots[index].missedSample = true
            slots[index].refusal = .breach(
                .otherLastModified(expected: doubted.date, got: reply["last-modified"]))
            return .decline
        }
        let sampler = ExtentWriter(samplingAt: served.start)
        slots[index].sampler = sampler
        return .write(sampler, limit: served.end, replyEnd: served.end)
    }

    /// Ends the sample that a connection fetched, if it did.
    ///
    /// - Returns: What was asked for and what took it, when the reply was accepted.
    func endSample(_ index: Int) -> (asked: ByteRange, sampler: ExtentWriter)? {
        guard let asked = slots[index].sample else { return nil }
        let source = slots[index].source
        if sources[source].sampling == index { sources[source].sampling = nil }
        defer {
            slots[index].sample = nil
            slots[index].sampler = nil
        }
        return slots[index].sampler.map { (asked, $0) }
    }

    /// Compares a sample that has come whole.
    func sampled(_ index: Int, _ asked: ByteRange, _ sampler: ExtentWriter) {
        let source = slots[index].source
        let got = ByteRange(sampler.start, sampler.position)
        if got.count < min(asked.count, Self.leastCompared) {
            giveUp(source, .contract(.otherRange(asked: asked, got: got)))
        } else if agrees(sampler, slots[index].expectedSample) {
            slots[index].failures = 0
            slots[index].barren = 0
            prove(source, by: got.count)
            pump(monotonicSeconds())
        } else if sources[source].doubted != nil {
            another(source)
        } else {
            let fault = MirrorFault.otherData(got)
            drop(source, fault, orFinish: .failed(fault.reason))
        }
    }

    private func agrees(_ sampler: ExtentWriter, _ expected: Extent?) -> Bool {
        if let part = assembly as? Assembly { return part.agrees(with: sampler) }
        return expected != nil && sampler.takeUnrecorded() == expected
    }

    /// Uses a server's bytes from now on.
    private func prove(_ source: Int, by count: Int64 = 0) {
        sources[source].standing = .proven
        if let doubted = sources[source].doubted {
            sources[source].vouchedDates.insert(doubted.date)
            sources[source].doubted = nil
            report(.sampleAgreed(bytes: count))
        }
        guard !sources[source].hasJoined else { return }
        sources[source].hasJoined = true
        report(.mirrorJoined(url: sources[source].mirror.shownURL))
        let mine = slots.count { $0.source == source }
        take(balance.fairShare(of: slots.count) - mine, for: source)
    }

    // MARK: Going

    /// A server cannot serve the file any more: others go on, if there are any.
    func giveUp(_ source: Int, _ reason: DownloadError.Reason) {
        drop(source, .failed(reason), orFinish: .failed(reason))
    }

    /// Drops a server and gives its work and its connections to others.
    ///
    /// - Parameters:
    ///   - source: The server.
    ///   - fault: What is wrong with it.
    ///   - outcome: How the fetch ends when no other server is left.
    func drop(_ source: Int, _ fault: MirrorFault, orFinish outcome: Outcome) {
        guard !isOver, sources[source].standing != .dropped else { return }
        guard sources.count > 1 else {
            finish(outcome)
            return
        }
        let isLast = isLast(source)
        // The one that leads may yet be asked what it offers now.
        if isLast, source == 0, !outcome.isFailure {
            finish(outcome)
            return
        }
        sources[source].standing = .dropped
        sources[source].resolving?.cancel()
        ledger.faults[sources[source].mirror.number] = fault
        report(.mirrorDropped(url: sources[source].mirror.shownURL, why: fault))
        if isLast {
            finish(outcome.isFailure ? outcome : .failed(fault.reason))
            return
        }
        for index in slots.indices where slots[index].source == source {
            move(index, to: source)
            if let next = balance.place(from: nil) { slots[index] = Slot(source: next) }
        }
        pump(monotonicSeconds())
    }
}
