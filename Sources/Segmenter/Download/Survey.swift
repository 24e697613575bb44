import Assembler
import Glibc
import SegmenterRules
import SegmenterTransport

/// The check of what exists at the destination, before the first request.
///
/// Reads files and decides nothing: ``Preparation`` decides.
struct Survey: Sendable {
    /// The result, as the preparation receives it.
    let sight: Preparation.Sight
    /// The existing regular file, open.
    var file: StandingFile?
    /// The plan to repair the file's damaged bytes.
    var repair: RepairPlan?

    /// Looks at the destination; blocks, and may read the whole file.
    ///
    /// - Parameters:
    ///   - target: The destination.
    ///   - job: The request of the caller. A file that will be replaced is not opened.
    ///   - isCancelled: Called repeatedly while the data is read; returns whether to stop.
    /// - Returns: The survey; `nil` after cancellation.
    /// - Throws: `folderUnavailable`, `destinationExists`, `notARegularFile`, `cannotCreate`, `io`;
    ///   `noPart` and `foreignPart` if a part must exist.
    static func look(
        at target: FileTarget, for job: DownloadJob, _ isCancelled: () -> Bool
    ) throws(AssemblyError) -> Survey? {
        if job.isRepair { return try lookForDamage(at: target, for: job, isCancelled) }
        let options = job.options
        if options.files.skipsExisting, let facts = try existing(at: target) {
            return Survey(sight: .file(facts, nil))
        }
        let file =
            options.overwrite && !options.files.timestamping && !job.mayTakeOver(target)
            ? nil : try StandingFile.open(folder: target.folder, name: target.name)
        guard let file else {
            try Assembly.checkDestination(
                folder: target.folder, name: target.name, overwrite: options.overwrite)
            if options.continuesOtherURL {
                try Assembly.checkPart(folder: target.folder, name: target.name)
            }
            return Survey(sight: .nothing)
        }
        var content: Preparation.Content?
        if let expected = options.checksum {
            content = file.content(like: expected, isCancelled)
            guard content != nil || !isCancelled() else { return nil }
        }
        var facts = Preparation.StandingFacts(file)
        if options.takesOver > .nothing || facts.known == nil {
            facts.controlledSize = ForeignPart.controlledSize(of: target)
        }
        facts.isAdopted = options.adopt.map { file.isSame(as: $0) } ?? false
        return Survey(sight: .file(facts, content), file: file)
    }

    /// Returns the existing regular file without opening it; blocks.
    ///
    /// - Throws: `folderUnavailable`, `cannotCreate`.
    static func existing(at target: FileTarget) throws(AssemblyError) -> Preparation.StandingFacts?
    {
        guard let status = try Folder(target.folder).status(of: target.name), status.isRegular
        else { return nil }
        return Preparation.StandingFacts(
            path: target.path, size: status.size, modified: status.modified, known: nil)
    }

    /// Looks for the damaged bytes of a file; blocks, and reads the whole file.
    private static func lookForDamage(
        at target: FileTarget, for job: DownloadJob, _ isCancelled: () -> Bool
    ) throws(AssemblyError) -> Survey? {
        let finding = try RepairPlan.survey(
            folder: target.folder, name: target.name, isCancelled: isCancelled)
        switch finding {
        case nil: return nil
        case .noManifest(let isFileThere)?:
            return Survey(sight: .noManifest(isFileThere: isFileThere))
        case .part(let manifest)?:
            return Survey(sight: .begun(required: manifest.header.required))
        case .damaged(let plan)?:
            return Survey(sight: .damaged(had: plan.facts.digests), repair: plan)
        case .intact(let facts, let file)?:
            let wanted = job.options.checksum ?? facts.digests.first ?? Digest(crc32: 0)
            guard let content = file.content(like: wanted, isCancelled) else {
                guard !isCancelled() else { return nil }
                throw .io(operation: "pread", path: file.path, errno: EIO)
            }
            var standing = Preparation.StandingFacts(file)
            standing.known = facts
            return Survey(sight: .intact(standing, content), file: file)
        }
    }
}

extension Preparation.StandingFacts {
    /// Describes an open file.
    fileprivate init(_ file: StandingFile) {
        self.init(
            path: file.path, size: file.status.size, modified: file.status.modified,
            known: file.facts)
    }
}

extension StandingFile {
    /// Returns the digests of the file's bytes; `nil` if they differ from the record of an earlier
    /// run.
    ///
    /// - Throws: `cancelled`.
    func checkedContent() async throws(DownloadError.Reason) -> Preparation.Content? {
        try await Disk.runUntilCancelled {
            [self] (isCancelled: () -> Bool) throws(AssemblyError) -> Preparation.Content?? in
            if let check = check(isCancelled: isCancelled) {
                return .some(Preparation.Content(digests: check.verified, crc32: check.crc32))
            }
            return isCancelled() ? nil : .some(nil)
        }
    }

    /// Returns the digest of the file's bytes, computed by the same algorithm.
    ///
    /// `nil` if not all bytes can be read, or after cancellation.
    func content(like digest: Digest, _ isCancelled: () -> Bool) -> Preparation.Content? {
        self.digest(like: digest, isCancelled: isCancelled).map {
            Preparation.Content(digests: [$0.digest], crc32: $0.crc32)
        }
    }
}
