import Assembler
import SegmenterRules
import SegmenterTransport

/// Resumes what another program has begun: its file becomes a part, which an ordinary download completes.
struct AdoptionRun: Sendable {
    /// The part that was made in this run.
    private let taken: Adoption.Taken

    /// The generation of that part.
    var generation: String { taken.generation }

    /// Returns what prevents resuming a file whose bytes agree with the server's.
    ///
    /// - Parameters:
    ///   - hasDigest: Whether the whole file is compared with a digest in the end.
    ///   - sampleSuffices: Whether the caller accepts a sample without a digest.
    ///   - isOfFullLength: Whether the file has its full length, which shows nothing of what was written.
    /// - Returns: The obstacle; `nil` when there is none.
    static func obstacle(
        hasDigest: Bool, sampleSuffices: Bool, isOfFullLength: Bool
    ) -> AdoptionObstacle? {
        if hasDigest { return nil }
        guard !isOfFullLength else { return .onlyDigestTells }
        return sampleSuffices ? nil : .noProof
    }

    /// Takes over a file of which a sample was compared.
    ///
    /// - Throws: `cancelled`; what the file system refuses.
    init(
        _ part: ForeignPart, for request: Assembly.Request, report: (DownloadEvent) -> Void
    ) async throws(DownloadError.Reason) {
        taken = try await Disk.runUntilCancelled {
            (isCancelled: () -> Bool) throws(AssemblyError) -> Adoption.Taken? in
            let deciding = request.expected
            // If a digest is still to decide, the file stays as it is.
            return try Adoption(part, for: request, deciding: deciding)
                .take(moves: deciding.isEmpty, isCancelled: isCancelled)
        }
        report(
            .notice(
                .adopted(path: taken.path, bytes: taken.bytes, moved: taken.way != .copied)))
    }

    /// Restores the length of a file that was taken over in place, if the whole file has the wrong digest.
    ///
    /// - Returns: The reason to report in place of `reason`.
    func undo(_ reason: DownloadError.Reason) async -> DownloadError.Reason {
        guard taken.way != .moved,
            case .assembly(.digestMismatch(let expected, let actual, let part)) = reason
        else { return reason }
        // The wrong digest is the error to report, whatever else fails.
        _ = await Disk.result { () throws(AssemblyError) in try taken.undo() }
        let isKept = taken.way == .copied
        return .assembly(
            .notAdopted(
                path: taken.path,
                .otherDigest(expected: expected, actual: actual, part: isKept ? part : nil)))
    }
}

extension DownloadWork {
    /// Opens what another program has begun, and compares a sample of it with the bytes of the server.
    ///
    /// - Returns: The file; `nil` if an earlier run has left a part, which is resumed.
    /// - Throws: `notAdopted`; why the server does not send the bytes; `cancelled`.
    private func foreignPart() async throws(DownloadError.Reason) -> ForeignPart? {
        guard let path = machine.preparation.adopts else { preconditionFailure("nothing to adopt") }
        let request = try request()
        let isThere = machine.preparation.missingFolder == nil
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

    /// Has `body` make a part of what another program has begun, as far as that is usable.
    mutating func adopt(
        _ body: (ForeignPart, inout Self) async throws(DownloadError.Reason) -> Void
    ) async throws(DownloadError.Reason) {
        do throws(DownloadError.Reason) {
            if let part = try await foreignPart() { try await body(part, &self) }
            machine.preparation.takeAdopted()
        } catch .assembly(.notAdopted(let path, let obstacle)) {
            let doubt =
                job.options.continuesExisting
                ? FinishedDoubt(continuing: obstacle) : FinishedDoubt(obstacle)
            guard job.options.adopt == nil, let doubt else {
                throw .assembly(.notAdopted(path: path, obstacle))
            }
            if !job.options.continuesExisting { report(.notice(.notFinished(doubt))) }
            machine.preparation.takeNotAdopted(doubt)
        }
    }
}
