import CLinux
import Glibc

/// Turns another program's incomplete download into a segget part with a manifest.
///
/// An interruption leaves the other program's file either unchanged or completely moved. The same
/// command then continues.
package struct Adoption: Sendable {
    /// How the part was created.
    package enum Way: Sendable, Hashable {
        /// The other program's file was renamed.
        case moved
        /// The other program's file was copied and still exists.
        case copied
        /// The file already had the part's name; `size` is its former length in bytes.
        case inPlace(size: Int64)
    }

    /// A part that was created from another program's file.
    package struct Taken: Sendable {
        /// The path of the other program's file, as the user specified it.
        package let path: String
        package let way: Way
        /// The generation in the part's manifest.
        package let generation: String
        /// The number of bytes that the manifest records.
        package let bytes: Int64
        let folder: Folder
        let names: PartNames
        let identity: FileIdentity
    }

    private let found: ForeignPart
    private let request: Assembly.Request
    private let folder: Folder
    private let names: PartNames
    private let header: Manifest.Header

    /// Returns whether an earlier run has already started or adopted a part.
    ///
    /// If so, there is nothing to adopt. Changes nothing.
    ///
    /// - Parameters:
    ///   - request: The parameters of the download.
    ///   - path: The path of the file to adopt.
    /// - Returns: Whether such a part exists.
    /// - Throws: `foreignPart` if a part can be neither continued nor replaced, unless it is the
    ///   file at `path`; `folderUnavailable`, `notARegularFile`, `cannotCreate`, `io`.
    package static func isBegun(
        _ request: Assembly.Request, path: String
    ) throws(AssemblyError) -> Bool {
        switch try Assembly.preview(request) {
        case .begin, .startOver(.partMissing), .startOver(.manifestUnreadable): return false
        case .resume(let manifest):
            return !manifest.extents.extents.isEmpty || manifest.rejected != nil
        case .startOver: return true
        case .refuse(let place):
            let part = try Folder(request.folder).status(of: PartNames(request.name).part)
            guard place == partPath(request), let part,
                Folder.identity(at: path) == part.identity
            else { throw .foreignPart(path: place) }
            return false
        }
    }

    private static func partPath(_ request: Assembly.Request) -> String {
        FileTarget(folder: request.folder, name: PartNames(request.name).part).path
    }

    /// Prepares the adoption of a file.
    ///
    /// - Parameters:
    ///   - found: The file; a sample of it was compared with the server's bytes.
    ///   - request: The parameters of the download.
    ///   - deciding: The digests that the whole file must have, in this run and in later ones.
    /// - Throws: `folderUnavailable`.
    package init(
        _ found: ForeignPart, for request: Assembly.Request, deciding: [Digest]
    ) throws(AssemblyError) {
        self.found = found
        self.request = request
        folder = try Folder(request.folder)
        names = PartNames(request.name)
        var header = OpenedPart.header(request, nil)
        header.require(deciding)
        header.isSampled = deciding.isEmpty ? true : nil
        self.header = header
    }

    /// Adopts the file; blocks while it reads and, if necessary, copies the file.
    ///
    /// - Parameters:
    ///   - moves: Whether the file may be moved, because it needs no further verification.
    ///   - isCancelled: Called repeatedly while the file is read or copied.
    /// - Returns: The part; `nil` after cancellation.
    /// - Throws: `notAdopted`, `noSpace`, `busy`, `cannotCreate`, `io`. The file is then unchanged.
    package func take(
        moves: Bool, isCancelled: () -> Bool
    ) throws(AssemblyError) -> Taken? {
        if try folder.status(of: names.part)?.identity == found.identity {
            return try takeInPlace(moves: moves, isCancelled)
        }
        if moves, let taken = try move(isCancelled) { return taken.value }
        return try copy(isCancelled)
    }

    private func takeInPlace(
        moves: Bool, _ isCancelled: () -> Bool
    ) throws(AssemblyError) -> Taken? {
        let part = try PartialFile(folder: folder, name: names.part)
        defer { part.unlock() }
        guard let extents = try extents(in: part.descriptor, part.path, isCancelled) else {
            return nil
        }
        try found.checkUnchanged()
        try part.sync()
        try folder.sync()
        try writeManifest(extents)
        if moves { try? found.removeControlFile() }
        return taken(.inPlace(size: found.size), part.identity)
    }

    // MARK: Moving

    /// The outcome of moving the file; `value` is `nil` after cancellation.
    private struct Moved { let value: Taken? }

    /// Renames the file; returns `nil` if the file can only be copied.
    ///
    /// The manifest is written first, because a part without a manifest counts as foreign. A
    /// manifest without a part has no effect.
    private func move(_ isCancelled: () -> Bool) throws(AssemblyError) -> Moved? {
        guard folder.identity?.device == found.identity.device else { return nil }
        try found.lock()
        // The lock belongs to the file, so it remains valid after the rename.
        defer { found.unlock() }
        guard let extents = try extents(in: found.descriptor, found.path, isCancelled) else {
            return Moved(value: nil)
        }
        try found.sync()
        // The existing part is empty, but a process that has just started may hold its lock.
        let old = try PartialFile(folder: folder, name: names.part)
        try checkNothingBegun(old)
        try folder.remove(names.part)
        try found.checkUnchanged()
        let journal = try writeManifest(extents)
        old.unlock()
        let code = folder.withDescriptor { target in
            found.folder.withDescriptor {
                segget_move($0, found.name, target, names.part) == 0 ? 0 : errno
            }
        }
        guard code == 0 else {
            try? journal.remove()
            if code == EEXIST { throw .busy(path: folder.path(of: names.part)) }
            // Another mount of the same device, or a folder from which no file may be removed.
            guard [EXDEV, EACCES, EPERM, EROFS].contains(code) else {
                throw .io(operation: "rename", path: found.path, errno: code)
            }
            return nil
        }
        try folder.sync()
        // A failed cleanup of the source folder does no harm.
        try? found.folder.sync()
        try? found.removeControlFile()
        return Moved(value: taken(.moved, found.identity))
    }

    /// Checks, under the part's lock, that no process has started a part since the first check.
    ///
    /// - Throws: `busy`, `foreignPart`, and what `isBegun` throws.
    private func checkNothingBegun(_ part: PartialFile) throws(AssemblyError) {
        // If the part was missing, its manifest is from a killed run.
        guard part.initialSize != nil else { return }
        guard try !Self.isBegun(request, path: found.path) else {
            throw .busy(path: folder.path(of: names.part))
        }
    }

    // MARK: Copying

    private func copy(_ isCancelled: () -> Bool) throws(AssemblyError) -> Taken? {
        var part = try PartialFile(folder: folder, name: names.part)
        try checkNothingBegun(part)
        if (part.initialSize ?? 0) > 0 {
            try folder.remove(names.part)
            part.unlock()
            part = try PartialFile(folder: folder, name: names.part)
        }
        defer { part.unlock() }
        var journal: Journal?
        do throws(AssemblyError) {
            try part.checkSpace(for: request.identity.size ?? found.size)
            // Written before the first byte: if killed now, the run leaves an empty segget part.
            journal = try writeManifest([])
            if let extents = try copied(to: part, isCancelled) {
                try part.sync()
                try folder.sync()
                try writeManifest(extents)
                return taken(.copied, part.identity)
            }
        } catch {
            // Throw the first error; an error of the cleanup is less informative.
            try? folder.remove(names.part)
            try? journal?.remove()
            throw error
        }
        try folder.remove(names.part)
        try journal?.remove()
        return nil
    }

    /// Copies the existing ranges and returns their extents; `nil` after cancellation.
    private func copied(
        to part: PartialFile, _ isCancelled: () -> Bool
    ) throws(AssemblyError) -> [Extent]? {
        let copy = FileCopy(
            source: found.descriptor, sourcePath: found.path, target: part.descriptor,
            targetPath: part.path)
        for range in found.ranges.ranges {
            guard try copy(range, isCancelled: isCancelled) else { return nil }
        }
        let extents = try extents(in: part.descriptor, part.path, isCancelled)
        try found.checkUnchanged()
        return extents
    }

    // MARK: Common helpers

    /// Returns the existing ranges as extents with their CRC-32; `nil` after cancellation.
    ///
    /// The extents are small, so that a damaged one costs little.
    private func extents(
        in descriptor: Int32, _ path: String, _ isCancelled: () -> Bool
    ) throws(AssemblyError) -> [Extent]? {
        var extents: [Extent] = []
        for range in found.ranges.ranges {
            var position = range.start
            while position < range.end {
                guard !isCancelled() else { return nil }
                let end = min(
                    range.end,
                    (position / ExtentMap.mergeLimit + 1) * ExtentMap.mergeLimit)
                let piece = ByteRange(position, end)
                guard let crc = crc32(of: piece, in: descriptor) else {
                    // The file is shorter than before: another process truncated it.
                    if errno == ENODATA { throw .notAdopted(path: found.path, .changed) }
                    throw .io(operation: "pread", path: path, errno: errno)
                }
                extents.append(Extent(piece, crc: crc))
                position = end
            }
        }
        return extents
    }

    @discardableResult
    private func writeManifest(_ extents: [Extent]) throws(AssemblyError) -> Journal {
        try Journal(
            folder: folder, names: names, header: header,
            records: JournalRewrite.records(for: extents))
    }

    private func taken(_ way: Way, _ identity: FileIdentity) -> Taken {
        Taken(
            path: found.path, way: way, generation: header.generation, bytes: found.ranges.count,
            folder: folder, names: names, identity: identity)
    }
}

extension Adoption.Taken {
    /// Truncates a file that was adopted in place to its former length and removes the manifest.
    ///
    /// Does nothing if the file was copied, because the original still exists.
    ///
    /// - Throws: `busy`, `cannotCreate`, `io`.
    package func undo() throws(AssemblyError) {
        guard case .inPlace(let size) = way else { return }
        let part = try PartialFile(folder: folder, name: names.part)
        defer { part.unlock() }
        guard part.identity == identity else { return }
        guard ftruncate(part.descriptor, off_t(size)) == 0 else { throw part.failure("ftruncate") }
        try part.sync()
        try folder.remove(names.manifest)
    }
}
