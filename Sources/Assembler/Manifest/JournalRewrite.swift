import Glibc

/// A new manifest in a temporary file: durable, but not yet renamed over the current manifest.
struct JournalRewrite: Sendable {
    /// The descriptor of the file, open for appending.
    let descriptor: Int32
    /// The length of the file in bytes.
    let length: Int

    /// Checks that the temporary name of the manifest may be overwritten.
    ///
    /// The file with that name will be removed. It must therefore be an interrupted rewrite of
    /// segget's. If a valid manifest is beside it, any content is accepted, since a power cut may
    /// leave anything.
    ///
    /// - Throws: `foreignPart`, unless it may be overwritten; `notARegularFile`, `cannotCreate`,
    ///   `io`.
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
            // Another run may have renamed the file meanwhile.
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

    /// Removes the temporary name if it is a hard link to the manifest.
    ///
    /// After a power cut, such a link may remain on file systems whose rename is not atomic. No
    /// other file is removed, since another process may be writing it.
    static func removeSecondName(
        of names: PartNames, in folder: Folder
    ) throws(AssemblyError) {
        guard let second = try folder.status(of: names.rewrite)?.identity,
            try folder.status(of: names.manifest)?.identity == second,
            Manifest.mayBegin(with: try start(of: names.manifest, in: folder))
        else { return }
        try folder.remove(names.rewrite)
    }

    /// Returns the first 64 bytes of a file.
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

    /// The maximum number of extents in one line.
    private static let extentsPerLine = 64

    /// Returns records for `extents`, with at most `extentsPerLine` in each.
    static func records(for extents: [Extent]) -> [Manifest.Record] {
        stride(from: 0, to: extents.count, by: extentsPerLine).map {
            Manifest.Record(extents: extents[$0..<min(extents.count, $0 + extentsPerLine)])
        }
    }

    /// Writes a manifest to the temporary name and makes it durable.
    ///
    /// - Throws: `cannotCreate`, `io`. After an error, the temporary file is removed.
    init(
        folder: Folder, names: PartNames, header: Manifest.Header, records: [Manifest.Record]
    ) throws(AssemblyError) {
        let seed = Manifest.seed(generation: header.generation)
        var bytes = SealedLine.of(header, seed: seed)
        for record in records { bytes += SealedLine.of(record, seed: seed) }
        try self.init(folder: folder, names: names, bytes: bytes)
    }

    /// Writes the encoded bytes of a manifest to the temporary name and makes them durable.
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
