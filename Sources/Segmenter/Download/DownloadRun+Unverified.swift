import Assembler

// Continuing a part although no validator proves that the file is still the same.
extension DownloadRun {
    /// Compares a sample of the part with what the server sends, where that is wanted and nothing
    /// else can prove that the file is still the same; notes whether it is continued.
    ///
    /// - Throws: `cancelled`, and why the server's bytes cannot be had.
    func compareSample(_ primary: Primary, _ state: inout State) async throws(DownloadError.Reason)
    {
        state.attempts.samples.forgetPart()
        guard let target = state.target else { return }
        var request = try request(primary.finding, primary.probe.url, state)
        let offered = primary.finding.file.identity
        let begun = Assembly.headerRecorded(folder: target.folder, name: target.name)?.identity
        let isDoubted = begun?.isDoubted(by: offered) == true
        let obstacle = try loss(request)
        guard obstacle != nil,
            isDoubted || obstacle == .noValidator && options.resumeUnverified && !isRepair
        else { return }
        let wanted = request
        let part = try await onDisk { () throws(AssemblyError) in try EarlierPart(wanted) }
        // What has another obstacle besides is not worth comparing.
        request.sampled = part?.generation
        guard let part else { return }
        if let other = try loss(request) {
            // What is told is what stands in the way, not that nothing proves the file.
            if other != obstacle { state.attempts.startOver(because: other) }
            return
        }
        let places = try await intactPlaces(of: part)
        for place in places {
            let sent = try await primary.probe.sample(place, of: primary.finding.file.identity)
            let isSame = await offLoop("sample") { sent.map(part.agrees) ?? false }
            guard isSame else {
                state.attempts.startOver(because: .sampleDiffers(place))
                return
            }
        }
        guard !places.isEmpty else { return }
        let count = places.reduce(0) { $0 + $1.count }
        report(.notice(isDoubted ? .sampleAgreed(bytes: count) : .resumedUnverified(bytes: count)))
        state.attempts.samples.agree(
            generation: part.generation, date: isDoubted ? begun?.lastModified : nil)
    }

    /// Where to compare: only what is as it was written, since what is damaged differs in any case,
    /// and is fetched again.
    private func intactPlaces(
        of part: EarlierPart
    ) async throws(DownloadError.Reason) -> [ByteRange] {
        try await onDiskUntilCancelled { (isCancelled: () -> Bool) throws(AssemblyError) in
            var done = RangeSet()
            for extent in part.extents { done.insert(extent.range) }
            while !isCancelled() {
                let places = ResumeSample.places(in: done) { .random(in: 0..<1) }
                let damaged = part.damaged(in: places)
                guard !damaged.isEmpty else { return places }
                for range in damaged { done.remove(range) }
            }
            return nil
        }
    }
}

extension DownloadRun {
    /// Whether what a file holds at several places is what the server sends there.
    func agrees(
        _ file: StandingFile, _ finding: Probe.Finding, _ probe: Probe
    ) async throws(DownloadError.Reason) -> Bool {
        let all = RangeSet(ByteRange(0, file.status.size))
        for place in ResumeSample.places(in: all, random: { .random(in: 0..<1) }) {
            let sent = try await probe.sample(place, of: finding.file.identity)
            guard await offLoop("sample", { sent.map(file.agrees) ?? false }) else { return false }
        }
        return true
    }
}

extension Probe {
    /// Replies of another date in a row after which a sample is given up.
    private static let mostMisses = 8

    /// Has the server send bytes again, and keeps their checksum only.
    ///
    /// Trouble that may pass is waited out, as in every other request.
    ///
    /// - Returns: What came: at least the first KiB of what was asked for. `nil` when the reply is of
    ///   another version.
    func sample(
        _ asked: ByteRange, of identity: RemoteIdentity
    ) async throws(DownloadError.Reason) -> Extent? {
        let check = ResponseCheck(asked: asked, identity: identity, sentIfRange: false)
        var (attempts, misses) = (0, 0)
        while true {
            var exchange = try await follow(.get, range: asked, fresh: misses > 0).exchange
            let failure: TransferFailure
            switch exchange.reply.map(check.verdict) {
            case .accept(let served?)?:
                guard let paused = exchange.paused else { continue }
                let (taken, end) = await loop.readAway(paused, served)
                if let taken, taken.range.count >= min(asked.count, FetchMachine.leastCompared) {
                    return taken
                }
                if end == .cancelled || Task.isCancelled { throw .cancelled }
                failure =
                    if case .failed(let reason) = end { reason } else {
                        .breach(.otherRange(asked: asked, got: taken?.range ?? served))
                    }
            case .breach(let breach)?
            where breach.isDoubt(of: identity) && misses < Self.mostMisses:
                // One of several servers, which differ in the date: another one is to answer.
                misses += 1
                continue
            case .breach(let breach)?:
                exchange.paused = nil
                guard !breach.isAnotherVersion else { return nil }
                failure = .breach(breach)
            default: failure = try Self.failure(of: exchange)
            }
            attempts += 1
            guard policy.allows(attempts) else { throw .transfer(failure, attempts: attempts) }
            try await pause(attempts, exchange.reply?.retryAfter, failure)
        }
    }
}
