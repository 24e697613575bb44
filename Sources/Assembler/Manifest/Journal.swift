import CLinux
import Glibc

/// The open manifest file `NAME.segget`, to which records are appended during the download.
///
/// Used by one thread at a time.
final class Journal {
    private let folder: Folder
    /// The names of the part and of the files beside it.
    let names: PartNames
    /// The header: the first line of the file.
    let header: Manifest.Header
    private let seed: UInt32
    /// The descriptor of the file, open for appending.
    let descriptor: Int32
    /// The length of the file in bytes.
    private(set) var length: Int
    /// Whether the rename of this manifest is durable.
    ///
    /// If not, a power cut may restore the previous manifest.
    private var isNameDurable = true

    /// The path, for messages.
    var path: String { folder.path(of: names.manifest) }

    /// Creates a manifest, or replaces the existing one atomically: temporary file, fsync, rename.
    ///
    /// - Throws: `cannotCreate`, `io`. After an error, the previous manifest is unchanged.
    init(
        folder: Folder, names: PartNames, header: Manifest.Header, records: [Manifest.Record]
    ) throws(AssemblyError) {
        self.folder = folder
        self.names = names
        self.header = header
        seed = Manifest.seed(generation: header.generation)
        let rewrite = try JournalRewrite(
            folder: folder, names: names, header: header, records: records)
        descriptor = rewrite.descriptor
        length = rewrite.length
        do throws(AssemblyError) {
            try folder.rename(names.rewrite, to: names.manifest)
            // After a power cut, a part must never exist without its manifest.
            try folder.sync()
        } catch {
            close(descriptor)
            // Report the first failure, not one of the clean-up.
            try? folder.remove(names.rewrite)
            throw error
        }
    }

    deinit { close(descriptor) }

    /// Appends a record with one write(2), without fsync.
    func append(_ record: Manifest.Record) throws(AssemblyError) {
        let line = SealedLine.of(record, seed: seed)
        let error = writeFully(descriptor, line)
        guard error == 0 else {
            // Remove a torn line; otherwise the next record would be appended to it.
            _ = ftruncate(descriptor, off_t(length))
            throw .io(operation: "write", path: path, errno: error)
        }
        length += line.count
    }

    /// Truncates the manifest to an earlier length, in bytes, durably if possible.
    func takeBack(to length: Int) {
        guard ftruncate(descriptor, off_t(length)) == 0 else { return }
        self.length = length
        _ = fdatasync(descriptor)
    }

    /// Replaces this manifest with a rewritten one, and appends the extents that arrived meanwhile.
    ///
    /// The descriptor's number stays the same. A concurrent `synchronize` on another thread
    /// therefore never uses a closed descriptor, nor one of another file. The permissions stay, too.
    ///
    /// - Parameters:
    ///   - rewrite: The rewritten manifest.
    ///   - since: The extents that were recorded after the rewrite was requested.
    /// - Throws: `io`.
    func adopt(_ rewrite: JournalRewrite, since: [Extent]) throws(AssemblyError) {
        defer { close(rewrite.descriptor) }
        let line = since.isEmpty ? [] : SealedLine.of(Manifest.Record(extents: since), seed: seed)
        let error = writeFully(rewrite.descriptor, line)
        guard error == 0 else { throw .io(operation: "write", path: path, errno: error) }
        var status = stat()
        if fstat(descriptor, &status) == 0 { fchmod(rewrite.descriptor, status.st_mode & 0o777) }
        try folder.rename(names.rewrite, to: names.manifest)
        isNameDurable = false
        guard segget_replace_descriptor(rewrite.descriptor, descriptor) == 0 else {
            throw .io(operation: "dup3", path: path, errno: errno)
        }
        length = rewrite.length + line.count
    }

    /// Makes the appended records and the manifest's name durable.
    func synchronize() throws(AssemblyError) {
        guard fdatasync(descriptor) == 0 || isUnsupported(errno: errno) else {
            throw .io(operation: "fdatasync", path: path, errno: errno)
        }
        guard !isNameDurable else { return }
        try folder.sync()
        isNameDurable = true
    }

    /// Renames the pending rewrite over this manifest, durably.
    ///
    /// If another file has the manifest's name by now, only the rewrite is removed.
    func replace() throws(AssemblyError) {
        guard try isInPlace() else {
            try folder.remove(names.rewrite)
            return
        }
        try folder.rename(names.rewrite, to: names.manifest)
        try folder.sync()
    }

    /// Removes the manifest, unless another file has its name by now.
    func remove() throws(AssemblyError) {
        guard try isInPlace() else { return }
        try folder.remove(names.manifest)
    }
}

extension Journal {
    /// Returns whether the manifest's name still refers to this file.
    private func isInPlace() throws(AssemblyError) -> Bool {
        let mine = try FileStatus(of: descriptor, path)
        guard let there = try folder.status(of: names.manifest) else { return false }
        if there.identity == mine.identity { return true }
        // On some file systems (FUSE), a rename changes the inode number.
        guard there.size == mine.size,
            case .success(let manifest)? = try Manifest.read(names.manifest, in: folder)
        else { return false }
        return manifest.header.generation == header.generation
    }
}
