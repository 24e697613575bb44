import CLinux
import Glibc

/// Makes a part of ours of what another program has begun, with a manifest that says what is in it.
///
/// Whatever stops it in between leaves the other program's file as it was, or moved whole; the same command
/// then goes on.
package struct Adoption: Sendable {
    /// How the part came about.
    package enum Way: Sendable, Hashable {
        /// The other program's file was renamed.
        case moved
        /// It was copied, and stands there still.
        case copied
        /// It had the name of the part already, and so many bytes.
        case inPlace(size: Int64)
    }

    /// A part that was made.
    package struct Taken: Sendable {
        /// The path that was given.
        package let path: String
        package let way: Way
        /// The generation of its manifest.
        package let generation: String
        /// Bytes that are in it.
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

    /// Whether there is a part already that an earlier run has begun, or taken over.
    ///
    /// There is nothing to take over then. Only looks.
    ///
    /// - Parameters:
    ///   - request: What is downloaded.
    ///   - path: Path of the file that is to be taken over.
    /// - Returns: Whether there is.
    /// - Throws: `foreignPart` for what may be neither continued nor replaced, unless it is the file at
    ///   `path` itself; `folderUnavailable`, `notARegularFile`, `cannotCreate`, `io`.
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

    /// Prepares taking a file over.
    ///
    /// - Parameters:
    ///   - found: The file, of which a sample was compared with what the server sends.
    ///   - request: What is downloaded.
    ///   - deciding: The digests that the whole file must have, in this run and in any later one.
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

    /// Takes it over; blocks for as long as reading and perhaps copying takes.
    ///
    /// - Parameters:
    ///   - moves: Whether the file may be moved, because nothing more is to be proved of it.
    ///   - isCancelled: Asked again and again meanwhile.
    /// - Returns: The part; `nil` after cancelling.
    /// - Throws: `notAdopted`, `noSpace`, `busy`, `cannotCreate`, `io`; the file is as it was then.
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

    /// What became of moving: `nil` inside after cancelling.
    private struct Moved { let value: Taken? }

    /// Renames the file; `nil` where it can only be copied.
    ///
    /// The manifest comes first: a part without one would be taken for somebody else's. One without a part
    /// says nothing.
    private func move(_ isCancelled: () -> Bool) throws(AssemblyError) -> Moved? {
        guard folder.identity?.device == found.identity.device else { return nil }
        try found.lock()
        // It is the same lock that the part has under its own name.
        defer { found.unlock() }
        guard let extents = try extents(in: found.descriptor, found.path, isCancelled) else {
            return Moved(value: nil)
        }
        try found.sync()
        // What stands there holds nothing, but whoever has just begun it has its lock.
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
            // Another mount of the same device, or a folder that nothing may be taken from.
            guard [EXDEV, EACCES, EPERM, EROFS].contains(code) else {
                throw .io(operation: "rename", path: found.path, errno: code)
            }
            return nil
        }
        try folder.sync()
        // What cannot be tidied up there does no harm here.
        try? found.folder.sync()
        try? found.removeControlFile()
        return Moved(value: taken(.moved, found.identity))
    }

    /// Checks, with the part's lock, that nobody has begun a part since that was looked at first.
    ///
    /// - Throws: `busy`, `foreignPart`, and what `isBegun` throws.
    private func checkNothingBegun(_ part: PartialFile) throws(AssemblyError) {
        // A manifest whose part is missing is what a killed run has left.
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
            // Before there is a byte in it: killed now, it is a part of ours that holds nothing.
            journal = try writeManifest([])
            if let extents = try copied(to: part, isCancelled) {
                try part.sync()
                try folder.sync()
                try writeManifest(extents)
                return taken(.copied, part.identity)
            }
        } catch {
            // The first failure says more than one of tidying up.
            try? folder.remove(names.part)
            try? journal?.remove()
            throw error
        }
        try folder.remove(names.part)
        try journal?.remove()
        return nil
    }

    /// Copies what is there, and says what was copied; `nil` after cancelling.
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

    // MARK: What all have in common

    /// The CRC-32 of what is there, as extents that cost little if one is damaged; `nil` after cancelling.
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
                    // It ended early: somebody has cut it off.
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
    /// Gives a file that was taken over in place its former length, and removes the manifest; does nothing
    /// to one that was copied, which stands where it was.
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
