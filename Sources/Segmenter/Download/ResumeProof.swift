import Assembler
import SegmenterRules
import SegmenterTransport

// Resuming a part although no validator proves that the file is still the same.
extension DownloadWork {
    /// Compares a sample of the part with the bytes of the server, if the user wants that and
    /// nothing else can prove that the file is still the same.
    ///
    /// - Throws: `cancelled`, and why the server does not send the bytes.
    mutating func comparedPart() async throws(DownloadError.Reason)
        -> DownloadMachine.PartComparison
    {
        guard target != nil else { return .none }
        var request = try request()
        let offered = primary.finding.file.identity
        let header = begunHeader
        let begun = header?.identity
        let isDoubted = begun?.isDoubted(by: offered) == true
        let isNewLink = request.isNewLink && header?.isFor(fullURL: request.fullURL) == false
        let obstacle = try Self.loss(request)
        if isNewLink {
            // A digest decides only when all bytes have arrived, and a date is exact to the second only: a
            // sample decides before anything is written.
            guard obstacle != nil || begun?.hasSameStrongETag(as: offered) == false else {
                return .none
            }
            let isSame = begun?.obstacle(toContinuingWith: offered) == nil
            guard obstacle == nil || isDoubted || isSame || job.options.resumeUnverified else {
                return .none
            }
        } else {
            guard obstacle != nil,
                isDoubted
                    || obstacle == .otherServer && hasSameStrongDate(header, offered)
                    || (obstacle == .noValidator || obstacle == .otherServer)
                        && acceptsSample(of: header) && !job.isRepair
            else { return .none }
        }
        let wanted = request
        let part = try await Disk.run { () throws(AssemblyError) in try EarlierPart(wanted) }
        // A part with another obstacle besides is not compared.
        request.sampled = part?.generation
        guard let part else { return .none }
        if let other = try Self.loss(request) {
            // The other obstacle is reported, not that nothing proves the file.
            return other == obstacle ? .none : .startOver(other)
        }
        let places = try await ResumeProof.intactPlaces(of: part)
        release()
        for place in places where !(try await primary.agrees(at: place, part.agrees)) {
            return .startOver(.sampleDiffers(place))
        }
        guard !places.isEmpty else { return .none }
        let count = places.reduce(0) { $0 + $1.count }
        if isNewLink {
            report(.notice(.partAgreed(bytes: count)))
            // The digest decides.
            guard obstacle != nil else { return .none }
        } else if obstacle == .otherServer {
            report(.notice(.partAgreed(bytes: count)))
        } else {
            report(
                .notice(isDoubted ? .sampleAgreed(bytes: count) : .resumedUnverified(bytes: count)))
        }
        return .agrees(generation: part.generation, date: isDoubted ? begun?.lastModified : nil)
    }

    /// Whether another server states the date of a part, and it is a strong validator at both.
    private func hasSameStrongDate(
        _ header: Manifest.Header?, _ offered: RemoteIdentity
    ) -> Bool {
        guard let begun = header?.identity, let date = begun.lastModified else { return false }
        return begun.lastModifiedIsStrong && offered.lastModifiedIsStrong
            && date == offered.lastModified
    }

    /// Whether a sample of a part is enough to resume it; also of one that was taken over from another program
    /// because digests decide in the end.
    private func acceptsSample(of header: Manifest.Header?) -> Bool {
        job.options.resumeUnverified || header?.isSampled == true
            || job.options.adopt != nil && header?.required.isEmpty == false
    }
}

/// Chooses where the server's bytes are compared with the part.
private enum ResumeProof {
    /// Places in the intact extents; damaged ones differ in any case, and are downloaded again.
    fileprivate static func intactPlaces(
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
    /// Whether a file has at several places the bytes that the server sends.
    func agrees(with file: StandingFile) async throws(DownloadError.Reason) -> Bool {
        let all = RangeSet(ByteRange(0, file.status.size))
        for place in ResumeSample.places(in: all, random: { .random(in: 0..<1) })
        where !(try await agrees(at: place, file.agrees)) {
            return false
        }
        return true
    }

    /// Whether the server also sends zeros where the file has zeros that were perhaps never written.
    ///
    /// - Throws: `cancelled`; why the server does not send the bytes.
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

    /// Whether the server sends at a place the bytes that `compares` finds there, of the same version.
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
