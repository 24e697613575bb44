import Glibc

/// A manifest written anew beside the one in use, durable but not yet in its place.
struct JournalRewrite: Sendable {
    /// Open for appending.
    let descriptor: Int32
    /// Bytes in the file.
    let length: Int

    /// Checks that what stands where the manifest of `names` is written anew is a rewrite that was broken
    /// off, or nothing: whatever it is will be removed.
    ///
    /// Beside a manifest it is one whatever is in it: a power cut may leave anything in its place.
    ///
    /// - Throws: `foreignPart`, unless it may be overwritten; `notARegularFile`, `cannotCreate`, `io`.
    static func checkPlace(
        of names: PartNames, in folder: Folder, overwrite: Bool = false
    ) throws(AssemblyError) {
        let path = folder.path(of: names.rewrite)
        guard let status = try folder.status(of: names.rewrite) else { return }
        guard status.isRegular else { throw .notARegularFile(path: path) }
        guard !overwrite else { return }
        do throws(AssemblyError) {
            if Manifest.mayBegin(with: try start(of: names.rewrite, in: folder)) { return }
        } catch {
            // Another run may have given it its name meanwhile.
            if case .cannotCreate(_, ENOENT) = error { return }
            throw error
        }
        guard try folder.status(of: names.manifest)?.isRegular == true else {
            throw .foreignPart(path: path)
        }
        let manifest = try start(of: names.manifest, in: folder)
        guard !manifest.isEmpty, Manifest.mayBegin(with: manifest) else {
            throw .foreignPart(path: path)
        }
    }

    /// Removes a second name that the manifest of `names` has where a new one is written.
    ///
    /// A power cut leaves it where a file system does not rename in one step. Nothing else is removed, for
    /// another process may be writing.
    static func removeSecondName(
        of names: PartNames, in folder: Folder
    ) throws(AssemblyError) {
        guard let second = try folder.status(of: names.rewrite)?.identity,
            try folder.status(of: names.manifest)?.identity == second,
            Manifest.mayBegin(with: try start(of: names.manifest, in: folder))
        else { return }
        try folder.remove(names.rewrite)
    }

    /// The first bytes of a file.
    private static func start(
        of name: String, in folder: Folder
    ) throws(AssemblyError) -> ArraySlice<UInt8> {
        let path = folder.path(of: name)
        guard let descriptor = folder.open(name, O_RDONLY) else {
            throw .cannotCreate(path: path, errno: errno)
        }
        defer { close(descriptor) }
        var start = [UInt8](repeating: 0, count: 64)
        let count = start.withUnsafeMutableBytes { readFully(descriptor, into: $0, at: 0) }
        guard let count else { throw .io(operation: "pread", path: path, errno: errno) }
        return start.prefix(count)
    }

    /// Number of extents in one line.
    private static let extentsPerLine = 64

    /// Records for `extents`, a bounded number in each.
    static func records(for extents: [Extent]) -> [Manifest.Record] {
        stride(from: 0, to: extents.count, by: extentsPerLine).map {
            Manifest.Record(extents: extents[$0..<min(extents.count, $0 + extentsPerLine)])
        }
    }

    /// Writes a manifest where a new one stands until it is renamed, and makes it durable.
    ///
    /// - Throws: `cannotCreate`, `io`; nothing of it is left then.
    init(
        folder: Folder, names: PartNames, header: Manifest.Header, records: [Manifest.Record]
    ) throws(AssemblyError) {
        let seed = Manifest.seed(generation: header.generation)
        var bytes = Manifest.line(header, seed: seed)
        for record in records { bytes += Manifest.line(record, seed: seed) }
        try self.init(folder: folder, names: names, bytes: bytes)
    }

    /// The same with the bytes of a manifest.
    init(folder: Folder, names: PartNames, bytes: [UInt8]) throws(AssemblyError) {
        let temporary = names.rewrite
        let path = folder.path(of: temporary)
        try folder.remove(temporary)
        guard let descriptor = folder.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_APPEND) else {
            throw .cannotCreate(path: path, errno: errno)
        }
        var operation = "write"
        var error = writeFully(descriptor, bytes)
        if error == 0, fsync(descriptor) != 0, !isUnsupported(errno: errno) {
            (operation, error) = ("fsync", errno)
        }
        guard error == 0 else {
            close(descriptor)
            try? folder.remove(temporary)
            throw .io(operation: operation, path: path, errno: error)
        }
        self.descriptor = descriptor
        length = bytes.count
    }
}
