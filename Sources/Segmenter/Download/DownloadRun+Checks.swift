import Assembler

// What is looked at before a file is asked for, and once it is complete.
extension DownloadRun {
    /// Seconds of a download from which on the file may well have changed meanwhile.
    private static let longEnough = 1.0

    /// The regular file that stands at a place which is this download's: in a list, no earlier file's.
    func existing(
        _ target: FileTarget?
    ) async throws(DownloadError.Reason) -> Plan.StandingFacts? {
        guard var target else { return nil }
        if let batch {
            guard let name = try await batch.existing(target) else { return nil }
            target.name = name
        }
        return try await Disk.run { [folders, target] () throws(AssemblyError) in
            guard try folders.parent(ofMissing: target.folder) == nil else { return nil }
            return try Survey.existing(at: target)
        }
    }

    /// Begins to ask whether the complete file is still the server's; `nil` where a digest shows
    /// it, the server was given up for other mirrors, hardly any time has passed, or each request may count.
    func endCheck(
        _ primary: Primary, _ started: Double, _ state: DownloadState
    ) throws(DownloadError.Reason) -> EndCheck? {
        let finding = primary.finding
        guard monotonicSeconds() - started > Self.longEnough, job.destination != .null,
            !primary.probe.asksOnce, !finding.file.isDecoded, try !isShownByDigest(primary, state)
        else { return nil }
        if let book = state.mirrors?.book, !book.usable.contains(primary.number) { return nil }
        let vouchedDates = state.attempts.samples.vouchedDates
        return EndCheck {
            await primary.probe.recheck(finding, vouchedDates: vouchedDates)
        } report: { [report] in
            report(.notice($0))
        }
    }

    /// Whether a digest decides on the file.
    func isShownByDigest(
        _ primary: Primary, _ state: DownloadState
    ) throws(DownloadError.Reason) -> Bool {
        guard job.options.checksum == nil, primary.finding.file.digests.isEmpty else { return true }
        guard state.target != nil else { return false }
        let request = try state.request(primary)
        return !request.advertised.isEmpty || !request.required.isEmpty
    }

    /// Compares the complete file with the server's once more, where its date changed on the way while its
    /// strong tag stayed.
    ///
    /// The sample that spoke for the other date may have been taken while the file was still being written
    /// into: what came before and after are then of two versions.
    ///
    /// - Returns: What the server contradicts; `nil` when it sends the same, or nothing is to be compared.
    /// - Throws: `cancelled`, and why the server's bytes cannot be had.
    func contradiction(
        of output: any Output, _ size: Int64, _ primary: Primary, _ state: DownloadState
    ) async throws(DownloadError.Reason) -> ContractBreach? {
        let (identity, samples) = (primary.finding.file.identity, state.attempts.samples)
        guard let date = samples.datesMidway.max(), try !isShownByDigest(primary, state) else {
            return nil
        }
        let places: [ByteRange]
        let agrees: @Sendable (Extent) -> Bool
        if let part = output as? Assembly {
            places = ResumeSample.places(in: RangeSet(ByteRange(0, size))) {
                .random(in: 0..<1)
            }
            agrees = { part.agrees(with: $0) }
        } else {
            // What has gone out cannot be read again; the beginning came first.
            let first = output.recorded.extents.first
            places = first.map { [$0.range] } ?? []
            agrees = { $0 == first }
        }
        for place in places
        where !(try await primary.agrees(at: place, vouchedDates: samples.vouchedDates, agrees)) {
            return .otherLastModified(expected: identity.lastModified, got: date)
        }
        return nil
    }
}
