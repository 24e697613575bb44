import Assembler

// Continuing a part although no validator proves that the file is still the same.
extension DownloadState {
    /// Compares a sample of the part with what the server sends, where that is wanted and nothing
    /// else can prove that the file is still the same; notes whether it is continued.
    ///
    /// - Throws: `cancelled`, and why the server's bytes cannot be had.
    mutating func compareSample(
        _ primary: Primary, report: (DownloadEvent) -> Void
    ) async throws(DownloadError.Reason) {
        attempts.samples.forgetPart()
        guard let target, plan.missingFolder == nil else { return }
        var request = try request(primary)
        let offered = primary.finding.file.identity
        let header = Assembly.headerRecorded(folder: target.folder, name: target.name)
        let begun = header?.identity
        let isDoubted = begun?.isDoubted(by: offered) == true
        let isNewLink = request.isNewLink && header?.isFor(fullURL: request.fullURL) == false
        let obstacle = try Self.loss(request)
        if isNewLink {
            // A digest says so when all is there, and a date is no more than the same second: what a sample
            // can show, it shows before anything is written.
            guard obstacle != nil || begun?.hasSameStrongETag(as: offered) == false else { return }
            let isSame = begun?.obstacle(toContinuingWith: offered) == nil
            guard obstacle == nil || isDoubted || isSame || job.options.resumeUnverified else {
                return
            }
        } else {
            guard obstacle != nil,
                isDoubted
                    || obstacle == .otherServer && hasSameStrongDate(header, offered)
                    || (obstacle == .noValidator || obstacle == .otherServer)
                        && acceptsSample(of: header) && !job.isRepair
            else { return }
        }
        let wanted = request
        let part = try await Disk.run { () throws(AssemblyError) in try EarlierPart(wanted) }
        // What has another obstacle besides is not worth comparing.
        request.sampled = part?.generation
        guard let part else { return }
        if let other = try Self.loss(request) {
            // What is reported is what stands in the way, not that nothing proves the file.
            if other != obstacle { attempts.startOver(because: other) }
            return
        }
        let places = try await ResumeProof.intactPlaces(of: part)
        for place in places where !(try await primary.agrees(at: place, part.agrees)) {
            attempts.startOver(because: .sampleDiffers(place))
            return
        }
        guard !places.isEmpty else { return }
        let count = places.reduce(0) { $0 + $1.count }
        if isNewLink {
            report(.notice(.partAgreed(bytes: count)))
            // It is the digest that decides.
            guard obstacle != nil else { return }
        } else if obstacle == .otherServer {
            report(.notice(.partAgreed(bytes: count)))
        } else {
            report(
                .notice(isDoubted ? .sampleAgreed(bytes: count) : .resumedUnverified(bytes: count)))
        }
        attempts.samples.agree(
            generation: part.generation, date: isDoubted ? begun?.lastModified : nil)
    }
}

extension DownloadState {
    /// Whether another server states the date of a part, and it is a strong validator at both.
    private func hasSameStrongDate(
        _ header: Manifest.Header?, _ offered: RemoteIdentity
    ) -> Bool {
        guard let begun = header?.identity, let date = begun.lastModified else { return false }
        return begun.lastModifiedIsStrong && offered.lastModifiedIsStrong
            && date == offered.lastModified
    }

    /// Whether a sample of a part is enough to continue it: also where it was taken over from another program
    /// for the digests that decide in the end.
    private func acceptsSample(of header: Manifest.Header?) -> Bool {
        job.options.resumeUnverified || header?.isSampled == true
            || job.options.adopt != nil && header?.required.isEmpty == false
    }
}

/// Where the server's bytes are compared with what is there.
private enum ResumeProof {
    /// Only what is as it was written: what is damaged differs in any case, and is fetched again.
    static func intactPlaces(
        of part: EarlierPart
    ) async throws(DownloadError.Reason) -> [ByteRange] {
        try await Disk.runUntilCancelled { (isCancelled: () -> Bool) throws(AssemblyError) in
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

extension Primary {
    /// Whether what a file holds at several places is what the server sends there.
    func agrees(with file: StandingFile) async throws(DownloadError.Reason) -> Bool {
        let all = RangeSet(ByteRange(0, file.status.size))
        for place in ResumeSample.places(in: all, random: { .random(in: 0..<1) })
        where !(try await agrees(at: place, file.agrees)) {
            return false
        }
        return true
    }

    /// Whether the server sends zeros too where the file has some that nobody may have written.
    ///
    /// - Throws: `cancelled`; why the bytes cannot be had.
    func agreesInBlanks(
        of target: FileTarget, _ file: StandingFile
    ) async throws(DownloadError.Reason) -> Bool {
        let blanks = try await Disk.runUntilCancelled {
            (isCancelled: () -> Bool) throws(AssemblyError) in
            try WrittenRanges.blanks(of: target, isCancelled: isCancelled)
        }
        for place in ResumeSample.places(inBlanks: blanks, random: { .random(in: 0..<1) })
        where !(try await agrees(at: place, file.agrees)) {
            return false
        }
        return true
    }

    /// Whether what the server sends at a place is what `compares` says is there; not when it is of another
    /// version.
    func agrees(
        at place: ByteRange, vouchedDates: Set<String> = [],
        _ compares: @escaping @Sendable (Extent) -> Bool
    ) async throws(DownloadError.Reason) -> Bool {
        let sent = try await probe.sample(
            place, of: finding.file.identity, vouchedDates: vouchedDates,
            least: FetchMachine.leastCompared)
        return await offLoop("sample") { sent.map(compares) ?? false }
    }
}
