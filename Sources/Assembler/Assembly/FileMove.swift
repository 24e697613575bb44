import CLinux
import Glibc

/// Moves a finished file and the manifest that is kept for it; see ``Relocation``.
struct FileMove {
    let place: Relocation
    let source: Folder
    /// The expected version of the file.
    let version: FileVersion

    init(_ place: Relocation, _ source: Folder, _ version: FileVersion) {
        self.place = place
        self.source = source
        self.version = version
    }

    func run(_ isCancelled: () -> Bool) throws(AssemblyError) -> Assembly.Moved {
        let (old, new, target) = (place.old, place.new, place.target)
        let there = try Assembly.Standing(old, in: source, owner: place.owner)
        let here = try Assembly.Standing(new, in: target, owner: place.owner)
        let kept = try keptManifest(there)
        guard case .regular(let status) = there.destination, status.version.isSame(as: version)
        else { return try settle(kept, here) }
        if let copied = here.published, copied.version.hasSameContent(as: version),
            copied.identity != status.identity
        {
            return try finish(kept, copied)
        }
        try checkFree(here, kept, status)
        if source.identity?.device == target.identity?.device {
            if let kept {
                try place.write(kept.bytes, over: here.manifest)
                try place.after(.manifestWritten)
            }
            if try place.rename(old.destination, to: new.destination, in: source) {
                return try settle(
                    kept, try Assembly.Standing(new, in: target, owner: place.owner))
            }
        }
        guard let copied = try copy(status, isCancelled) else { return .cancelled }
        return try finish(kept, copied)
    }

    // MARK: Existing files

    /// The manifest at the old path that describes the file.
    private struct Kept {
        let manifest: Manifest
        let bytes: [UInt8]

        /// Returns the manifest's bytes for a file that may be a copy.
        func bytes(for file: FileIdentity) -> [UInt8] {
            guard let publishing = manifest.publishing, !publishing.isSame(as: file) else {
                return bytes
            }
            let seed = Manifest.seed(generation: manifest.header.generation)
            let records =
                JournalRewrite.records(for: manifest.extents.extents)
                + [.init(publishing: file, digests: manifest.digests)]
            return records.reduce(SealedLine.of(manifest.header, seed: seed)) {
                $0 + SealedLine.of($1, seed: seed)
            }
        }
    }

    private func keptManifest(_ there: Assembly.Standing) throws(AssemblyError) -> Kept? {
        guard let record = there.record,
            record.finished != nil || record.publishing?.isSame(as: version.identity) == true,
            case .success(let bytes)? = try Manifest.bytes(of: place.old.manifest, in: source),
            let manifest = try? Manifest(reading: bytes)
        else { return nil }
        return Kept(manifest: manifest, bytes: bytes)
    }

    /// - Throws: `destinationExists`.
    private func checkFree(
        _ here: Assembly.Standing, _ kept: Kept?, _ status: FileStatus
    ) throws(AssemblyError) {
        switch here.destination {
        case .none: break
        // A second link to the file: an earlier call stopped between link(2) and unlink(2).
        case .regular(let other)
        where other.identity == status.identity && source.hasOtherNames(place.old.destination):
            break
        default:
            throw .destinationExists(path: place.target.path(of: place.new.destination))
        }
        try place.checkFree(here) {
            $0.isOfCopy || $0.generation == kept?.manifest.header.generation
        }
    }

    // MARK: Cleanup

    /// Completes the move once the file no longer exists at the old path.
    private func settle(
        _ kept: Kept?, _ here: Assembly.Standing
    ) throws(AssemblyError) -> Assembly.Moved {
        guard case .regular(let status) = here.destination,
            status.version.isSame(as: version)
                || here.published != nil && status.version.hasSameContent(as: version)
                || place.finished != nil && status.version.hasSameContent(as: version)
        else { return .nothing }
        if let kept {
            let isThere = here.record?.generation == kept.manifest.header.generation
            if here.manifest == .none || here.record?.isOfCopy == true, !isThere {
                try place.write(kept.bytes(for: status.identity), over: here.manifest)
            }
            try source.remove(place.old.manifest)
            try source.sync()
        } else if let record = here.record, record.isOfCopy,
            record.publishing?.isSame(as: status.identity) == true
        {
            // Remove the manifest under which the copy was made.
            try place.target.remove(place.new.manifest)
            try place.target.sync()
        }
        return .finished(status)
    }

    /// Removes the old file after its copy has been published.
    private func finish(
        _ kept: Kept?, _ copied: FileStatus
    ) throws(AssemblyError) -> Assembly.Moved {
        try place.target.sync()
        try source.remove(place.old.destination)
        try source.sync()
        try place.after(.oldRemoved)
        let here = try Assembly.Standing(place.new, in: place.target, owner: place.owner)
        return try settle(kept, here)
    }

    // MARK: Copying

    /// Copies the file to another file system and renames the copy to its final name, durably.
    ///
    /// - Returns: The status of the copy; `nil` after cancellation.
    private func copy(
        _ status: FileStatus, _ isCancelled: () -> Bool
    ) throws(AssemblyError) -> FileStatus? {
        let (old, new, target) = (place.old, place.new, place.target)
        let path = source.path(of: old.destination)
        guard let descriptor = source.open(old.destination, O_RDONLY) else {
            throw .cannotCreate(path: path, errno: errno)
        }
        defer { close(descriptor) }
        guard FileStatus(of: descriptor)?.version == status.version else {
            throw .partChanged(path: path)
        }
        let header = Manifest.Header(
            identity: RemoteIdentity(size: nil), url: "", fullURL: place.owner.urls.first ?? "",
            generation: UInt64.random(in: 0...UInt64.max))
        let part = try place.newPart()
        defer { part.unlock() }
        let journal = try Journal(folder: target, names: new, header: header, records: [])
        try place.after(.manifestWritten)
        try part.checkSpace(for: status.size)
        let copying = FileCopy(
            source: descriptor, sourcePath: path, target: part.descriptor, targetPath: part.path)
        guard try copying(ByteRange(0, status.size), isCancelled: isCancelled) else { return nil }
        try copyAttributes(of: descriptor, path, to: part)
        try part.sync()
        try place.after(.copied)
        guard FileStatus(of: descriptor)?.version == status.version,
            try source.status(of: old.destination)?.version == status.version
        else { throw .partChanged(path: path) }
        try journal.append(Manifest.Record(publishing: part.identity))
        try journal.synchronize()
        try place.after(.copyRecorded)
        try target.renameWithoutReplacing(new.part, to: new.destination)
        try place.after(.moved)
        try target.sync()
        try place.after(.synchronized)
        return try FileStatus(of: part.descriptor, part.path)
    }

    /// Copies the mode, the modification time and segget's extended attributes.
    private func copyAttributes(
        of descriptor: Int32, _ path: String, to part: PartialFile
    ) throws(AssemblyError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw .io(operation: "fstat", path: path, errno: errno)
        }
        if let facts = FinishedFacts(attributesOf: descriptor) {
            _ = facts.write(to: part.descriptor, includesOrigin: !facts.header.url.isEmpty)
        }
        guard fchmod(part.descriptor, status.st_mode & 0o7777) == 0 || isUnsupported(errno: errno)
        else { throw part.failure("fchmod") }
        guard
            segget_set_modified(part.descriptor, version.modified) == 0
                || isUnsupported(errno: errno)
        else { throw part.failure("futimens") }
    }
}
