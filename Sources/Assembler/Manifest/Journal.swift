import CLinux
import Glibc

/// The manifest on the disk: `NAME.segget`, appended to while the download runs.
///
/// Used by one thread at a time.
final class Journal {
    private let folder: Folder
    /// Its name in the folder, and those beside it.
    let names: PartNames
    /// The first line.
    let header: Manifest.Header
    private let seed: UInt32
    /// Open for appending.
    let descriptor: Int32
    /// Bytes in the file.
    private(set) var length: Int
    /// Whether a power cut leaves this manifest at the name, and not the one that stood there before.
    private var isNameDurable = true

    /// Its path, for messages.
    var path: String { folder.path(of: names.manifest) }

    /// Writes a new manifest and puts it at the name: temporary file, fsync, rename.
    ///
    /// - Throws: `cannotCreate`, `io`; what stood at the name still does then.
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
            // The part must never outlive the manifest in a power cut.
            try folder.sync()
        } catch {
            close(descriptor)
            // The first failure says more than one of tidying up.
            try? folder.remove(names.rewrite)
            throw error
        }
    }

    deinit { close(descriptor) }

    /// Appends a record: one write(2), no fsync.
    func append(_ record: Manifest.Record) throws(AssemblyError) {
        let line = Manifest.line(record, seed: seed)
        let error = writeFully(descriptor, line)
        guard error == 0 else {
            // No torn line for a later one to be glued to.
            _ = ftruncate(descriptor, off_t(length))
            throw .io(operation: "write", path: path, errno: error)
        }
        length += line.count
    }

    /// Takes back what was appended since the manifest was `length` bytes long, durably if it can be.
    func takeBack(to length: Int) {
        guard ftruncate(descriptor, off_t(length)) == 0 else { return }
        self.length = length
        _ = fdatasync(descriptor)
    }

    /// Puts a rewritten manifest in this one's place, and adds what was recorded `since` that was begun.
    ///
    /// The descriptor's number stays the same, so that a `synchronize` under way on another thread
    /// never meets a closed or a foreign descriptor.
    func adopt(_ rewrite: JournalRewrite, since: [Extent]) throws(AssemblyError) {
        defer { close(rewrite.descriptor) }
        let line = since.isEmpty ? [] : Manifest.line(Manifest.Record(extents: since), seed: seed)
        let error = writeFully(rewrite.descriptor, line)
        guard error == 0 else { throw .io(operation: "write", path: path, errno: error) }
        try folder.rename(names.rewrite, to: names.manifest)
        isNameDurable = false
        guard segget_replace_descriptor(rewrite.descriptor, descriptor) == 0 else {
            throw .io(operation: "dup3", path: path, errno: errno)
        }
        length = rewrite.length + line.count
    }

    /// Makes what was appended durable, and that it is this manifest that stands at the name.
    func synchronize() throws(AssemblyError) {
        guard fdatasync(descriptor) == 0 || isUnsupported(errno: errno) else {
            throw .io(operation: "fdatasync", path: path, errno: errno)
        }
        guard !isNameDurable else { return }
        try folder.sync()
        isNameDurable = true
    }

    /// Puts the rewrite that stands beside it in its place, durably, if what stands at the name is
    /// still this one.
    func replace() throws(AssemblyError) {
        guard try isInPlace() else {
            try folder.remove(names.rewrite)
            return
        }
        try folder.rename(names.rewrite, to: names.manifest)
        try folder.sync()
    }

    /// Removes the manifest, if what stands at the name is still this one.
    func remove() throws(AssemblyError) {
        guard try isInPlace() else { return }
        try folder.remove(names.manifest)
    }
}

extension Journal {
    /// Whether what stands at the name is this one.
    private func isInPlace() throws(AssemblyError) -> Bool {
        let mine = try FileStatus(of: descriptor, path)
        guard let there = try folder.status(of: names.manifest) else { return false }
        if there.identity == mine.identity { return true }
        // On some file systems (FUSE) a renamed file has another inode.
        guard there.size == mine.size,
            case .success(let manifest)? = try Manifest.read(names.manifest, in: folder)
        else { return false }
        return manifest.header.generation == header.generation
    }
}
