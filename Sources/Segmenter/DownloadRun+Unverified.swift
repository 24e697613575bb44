import Assembler

// Continuing a part although no validator proves that the file is still the same.
extension DownloadRun {
    /// Compares a sample of the part with what the server sends, where that is wanted and nothing
    /// else can prove that the file is still the same; notes whether it is continued.
    ///
    /// - Throws: `cancelled`, and why the server's bytes cannot be had.
    func compareSample(_ lead: Lead, _ state: inout State) async throws(DownloadError.Reason) {
        state.sampled = nil
        guard options.resumeUnverified, !isRepair, state.target != nil else { return }
        var request = try request(lead.finding, lead.probe.url, state)
        guard try loss(request) == .noValidator else { return }
        let wanted = request
        let part = try await onDisk { () throws(AssemblyError) in try EarlierPart(wanted) }
        // What has another obstacle besides is not worth comparing.
        request.sampled = part?.generation
        guard let part else { return }
        if let other = try loss(request) {
            // What is told is what stands in the way, not that nothing proves the file.
            if other != .noValidator { state.startOver = other }
            return
        }
        let places = try await intactPlaces(of: part)
        for place in places {
            let sent = try await lead.probe.sample(place, of: lead.finding.file.identity)
            let isSame = await offLoop("sample") { sent.map(part.agrees) ?? false }
            guard isSame else {
                state.startOver = .sampleDiffers(place)
                return
            }
        }
        guard !places.isEmpty else { return }
        tell(.notice(.resumedUnverified(bytes: places.reduce(0) { $0 + $1.count })))
        state.sampled = part.generation
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

extension Probe {
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
        var attempts = 0
        while true {
            let exchange = try await follow(.get, range: asked).exchange
            let failure: TransferFailure
            switch exchange.reply.map(check.verdict) {
            case .accept(let served?)?:
                guard let held = exchange.held else { continue }
                let (taken, end) = await loop.readAway(held, served)
                if let taken, taken.range.count >= min(asked.count, Fetch.leastCompared) {
                    return taken
                }
                if end == .cancelled || Task.isCancelled { throw .cancelled }
                failure =
                    if case .failed(let reason) = end { reason } else {
                        .breach(.otherRange(asked: asked, got: taken?.range ?? served))
                    }
            case .breach(let breach)?:
                release(exchange)
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
