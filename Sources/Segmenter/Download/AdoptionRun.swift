import Assembler

/// Going on with what another program has begun: its file becomes a part, which an ordinary download completes.
struct AdoptionRun: Sendable {
    /// The part that was made in this run.
    private var taken: Adoption.Taken?
    /// Bytes of the file that would be taken over, in a preview.
    private(set) var bytesFound: Int64?

    /// What is in the way of going on with a file whose bytes agree with the server's.
    ///
    /// - Parameters:
    ///   - hasDigest: Whether the whole file is compared with a digest in the end.
    ///   - sampleSuffices: Whether the caller wants to go on without one.
    ///   - isOfFullLength: Whether the file's length shows nothing of how much of it is there.
    /// - Returns: The obstacle; `nil` when there is none.
    static func obstacle(
        hasDigest: Bool, sampleSuffices: Bool, isOfFullLength: Bool
    ) -> AdoptionObstacle? {
        if hasDigest { return nil }
        guard !isOfFullLength else { return .onlyDigestTells }
        return sampleSuffices ? nil : .noProof
    }

    /// Takes a file over, of which a sample was compared.
    ///
    /// - Throws: `cancelled`; what the file system refuses.
    mutating func take(
        _ part: ForeignPart, for request: Assembly.Request, report: (DownloadEvent) -> Void
    ) async throws(DownloadError.Reason) -> Adoption.Taken {
        let taken = try await Disk.runUntilCancelled {
            (isCancelled: () -> Bool) throws(AssemblyError) -> Adoption.Taken? in
            let deciding = request.expected
            // Where a digest is still to decide, the file stays as it is.
            return try Adoption(part, for: request, deciding: deciding)
                .take(moves: deciding.isEmpty, isCancelled: isCancelled)
        }
        self.taken = taken
        report(
            .notice(
                .adopted(path: taken.path, bytes: taken.bytes, moved: taken.way != .copied)))
        return taken
    }

    /// Notes what would be taken over.
    mutating func look(at part: ForeignPart) { bytesFound = part.ranges.count }

    /// Gives a file its former length that was taken over in place, where the whole has the wrong digest.
    ///
    /// - Returns: What to report in place of `reason`.
    func undo(_ reason: DownloadError.Reason) async -> DownloadError.Reason {
        guard let taken, taken.way != .moved,
            case .assembly(.digestMismatch(let expected, let actual, let part)) = reason
        else { return reason }
        // That the digest is wrong is the error to report, whatever else fails.
        _ = await Disk.result { () throws(AssemblyError) in try taken.undo() }
        let isKept = taken.way == .copied
        return .assembly(
            .notAdopted(
                path: taken.path,
                .otherDigest(expected: expected, actual: actual, part: isKept ? part : nil)))
    }
}

extension DownloadRun {
    /// Opens what another program has begun, and compares a sample of it with what the server sends.
    ///
    /// - Returns: The file; `nil` where an earlier run has left a part, which is continued.
    /// - Throws: `notAdopted`; why the server's bytes cannot be had; `cancelled`.
    func foreignPart(
        _ primary: Primary, _ state: DownloadState
    ) async throws(DownloadError.Reason) -> ForeignPart? {
        guard let path = state.plan.adopts else { preconditionFailure("nothing to adopt") }
        let request = try state.request(primary)
        let isThere = state.plan.missingFolder == nil
        let isBegun = try await Disk.run { () throws(AssemblyError) -> Bool in
            guard isThere else { return false }
            return try Adoption.isBegun(request, path: path)
        }
        guard !isBegun else { return nil }
        guard request.servesRanges, let size = request.identity.size else {
            throw .assembly(.notAdopted(path: path, .noRanges))
        }
        let part = try await Disk.runUntilCancelled {
            (isCancelled: () -> Bool) throws(AssemblyError) in
            try ForeignPart.open(path, remote: size, isCancelled: isCancelled)
        }
        let obstacle = AdoptionRun.obstacle(
            hasDigest: !request.expected.isEmpty, sampleSuffices: job.options.resumeUnverified,
            isOfFullLength: part.isOfFullLength)
        if let obstacle { throw .assembly(.notAdopted(path: path, obstacle)) }
        let places = ResumeSample.places(in: part.ranges) { .random(in: 0..<1) }
        for place in places where !(try await primary.agrees(at: place, part.agrees)) {
            throw .assembly(.notAdopted(path: path, .sampleDiffers(place)))
        }
        return part
    }

    /// Makes a part of what another program has begun, as far as it can be used.
    func adopt<Carrier: PlanCarrier>(
        _ carrier: Carrier, _ primary: Primary, _ state: inout DownloadState
    ) async throws(DownloadError.Reason) {
        do throws(DownloadError.Reason) {
            if let part = try await foreignPart(primary, state) {
                try await carrier.adopt(part, primary, &state)
            }
            state.plan.takeAdopted()
        } catch .assembly(.notAdopted(let path, let obstacle)) {
            let doubt =
                job.options.continuesExisting
                ? FinishedDoubt(continuing: obstacle) : FinishedDoubt(obstacle)
            guard job.options.adopt == nil, let doubt else {
                throw .assembly(.notAdopted(path: path, obstacle))
            }
            if !job.options.continuesExisting { report(.notice(.notFinished(doubt))) }
            state.plan.takeNotAdopted(doubt)
        }
    }
}
