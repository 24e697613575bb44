import CLinux
import Glibc

/// What of a finished file can be kept, and turning that into a part that an ordinary download
/// completes.
///
/// The file itself is only read: it is replaced, whole and verified, when the part is published.
package struct RepairPlan: Sendable {
    /// What stands at the names of a file, its part and its manifest.
    package enum Finding: Sendable {
        /// No manifest tells what the content should be.
        case noManifest(isFileThere: Bool)
        /// There is a part with its manifest, of a repair or a download that was stopped.
        case part(Manifest)
        /// The file is as its kept manifest says.
        case intact(FinishedFacts, StandingFile)
        /// Some of it is not.
        case damaged(RepairPlan)
    }

    /// What the kept manifest tells.
    package let facts: FinishedFacts
    /// Extents that are to be fetched again, in ascending order.
    package let damaged: [Extent]
    private let file: StandingFile
    private let folder: Folder
    private let name: String

    /// Looks at what is there, and checks the file against its kept manifest.
    ///
    /// Blocks on the disk for as long as reading the file takes.
    ///
    /// - Parameters:
    ///   - path: Folder of the file.
    ///   - name: Name of the file in it.
    ///   - isCancelled: Asked again and again while the data is checked.
    /// - Returns: What was found; `nil` after cancelling.
    /// - Throws: `folderUnavailable`, `notARegularFile`, `cannotCreate`, `io`.
    package static func survey(
        folder path: String, name: String, isCancelled: () -> Bool
    ) throws(AssemblyError) -> Finding? {
        let folder = try Folder(path)
        let file = try StandingFile.open(folder: path, name: name)
        guard
            case .success(let manifest)? = try Assembly.readManifest(
                Journal.name(for: name), in: folder)
        else { return .noManifest(isFileThere: file != nil) }
        guard let facts = FinishedFacts(manifest) else {
            let part = try folder.status(of: Assembly.partName(for: name))
            return part == nil ? .noManifest(isFileThere: file != nil) : .part(manifest)
        }
        guard let file else { return .noManifest(isFileThere: false) }
        let check = ContentCheck.run(
            file.descriptor, size: file.status.size, extents: facts.extents,
            algorithms: Set(facts.digests.map(\.algorithm))
        ) { _ in isCancelled() }
        guard let check else { return nil }
        if check.damaged.isEmpty, file.status.size == facts.size {
            if facts.digests.allSatisfy(check.digests.contains) { return .intact(facts, file) }
            // Where every piece seems right and the whole is wrong, no piece can be trusted.
            return .damaged(
                RepairPlan(
                    facts: facts, damaged: facts.extents, file: file, folder: folder, name: name))
        }
        return .damaged(
            RepairPlan(
                facts: facts, damaged: check.damaged, file: file, folder: folder, name: name))
    }

    /// Why the rest cannot be had from what is offered now; `nil` when it is the same version.
    ///
    /// - Parameter request: What would be downloaded.
    /// - Returns: The first condition for resuming that does not hold.
    package func obstacle(to request: Assembly.Request) -> StartOverReason? {
        var header = facts.header
        header.size = facts.size
        return ResumeDecision.obstacle(
            header,
            .init(
                manifest: nil, partSize: facts.size, offered: request.identity,
                fullURL: request.fullURL, url: request.url, servesRanges: request.servesRanges,
                checksum: request.checksum, wantsResume: true, mayOverwrite: true))
    }

    /// Makes the part of what is intact, with a manifest that tells of exactly that.
    ///
    /// Until the manifest is replaced, as the last step, the file counts as finished and its
    /// manifest as kept: whatever stops this in between changes nothing.
    ///
    /// - Throws: `busy`, `notARegularFile`, `cannotCreate`, `io`.
    package func prepare() throws(AssemblyError) {
        let partName = Assembly.partName(for: name)
        try JournalRewrite.checkPlace(of: Journal.name(for: name), in: folder)
        var part = try PartialFile(folder: folder, name: partName)
        if (part.initialSize ?? 0) > 0 {
            try folder.remove(partName)
            part = try PartialFile(folder: folder, name: partName)
        }
        let lost = Set(damaged)
        let intact = facts.extents.filter { !lost.contains($0) }
        do throws(AssemblyError) {
            var covered = RangeSet()
            for extent in intact { covered.insert(extent.range) }
            for range in covered.ranges { try copy(range, to: part) }
            // Before the manifest that vouches for it: once that has replaced the kept one, nothing
            // else tells what of the file is intact.
            try part.sync()
            try folder.sync()
            var header = facts.header
            header.size = facts.size
            header.require(facts.digests)
            _ = try Journal(
                folder: folder, name: Journal.name(for: name), header: header,
                records: JournalRewrite.records(for: intact))
        } catch {
            try? folder.remove(partName)
            throw error
        }
    }

    /// Undoes `prepare`, as far as it is about the manifest and the part.
    ///
    /// - Throws: `cannotCreate`, `io`.
    package func restore() throws(AssemblyError) {
        let manifest = Journal.name(for: name)
        try facts.prepareManifest(manifest, in: folder)
        try folder.rename(JournalRewrite.name(for: manifest), to: manifest)
        try folder.sync()
        try folder.remove(Assembly.partName(for: name))
    }

    private func copy(_ range: ByteRange, to part: PartialFile) throws(AssemblyError) {
        var position = range.start
        while position < range.end {
            let length = Int(min(range.end - position, 1 << 30))
            let count = segget_copy_range(
                file.descriptor, part.descriptor, off_t(position), length)
            if count < 0, errno == EINTR { continue }
            // Between some file systems, and on old kernels, the kernel does not copy.
            if count < 0, [EXDEV, EOPNOTSUPP, EINVAL, ENOSYS].contains(errno) {
                try copyByHand(ByteRange(position, range.end), to: part)
                return
            }
            guard count > 0 else {
                throw count < 0
                    ? part.failure("copy_file_range")
                    : .io(operation: "copy_file_range", path: file.path, errno: ENODATA)
            }
            position += Int64(count)
        }
    }

    private func copyByHand(_ range: ByteRange, to part: PartialFile) throws(AssemblyError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 4096)
        defer { buffer.deallocate() }
        let writer = ExtentWriter(descriptor: part.descriptor, at: range.start)
        while writer.position < range.end {
            let wanted = UnsafeMutableRawBufferPointer(
                rebasing: buffer[..<min(buffer.count, Int(range.end - writer.position))])
            guard readFully(file.descriptor, into: wanted, at: writer.position) == wanted.count,
                let base = wanted.baseAddress
            else { throw .io(operation: "pread", path: file.path, errno: ENODATA) }
            let error = writer.write(base, wanted.count)
            guard error == 0 else { throw .io(operation: "write", path: part.path, errno: error) }
        }
    }
}
