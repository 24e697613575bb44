import CLinux
import Glibc

/// The manifest on the disk: `NAME.segget`, appended to while the download runs.
///
/// Used by one thread at a time.
final class Journal {
    private let folder: Folder
    /// Its name in the folder.
    let name: String
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
    var path: String { folder.path(of: name) }

    /// Writes a new manifest and puts it at the name: temporary file, fsync, rename.
    init(
        folder: Folder, name: String, header: Manifest.Header, records: [Manifest.Record]
    ) throws(AssemblyError) {
        self.folder = folder
        self.name = name
        self.header = header
        seed = Manifest.seed(generation: header.generation)
        let rewrite = try JournalRewrite(
            folder: folder, name: name, header: header, records: records)
        descriptor = rewrite.descriptor
        length = rewrite.length
        do throws(AssemblyError) {
            try folder.rename(JournalRewrite.name(for: name), to: name)
            // The part must never outlive the manifest in a power cut.
            try folder.sync()
        } catch {
            close(descriptor)
            // The first failure says more than one of tidying up.
            try? folder.remove(JournalRewrite.name(for: name))
            throw error
        }
    }

    deinit { close(descriptor) }

    /// The name of the manifest of the file `name`.
    static func name(for name: String) -> String { name + ".segget" }

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

    /// Puts a rewritten manifest in this one's place.
    ///
    /// `since` is what was recorded after the rewrite was begun.
    ///
    /// The descriptor's number stays the same, so that a `synchronize` under way on another thread
    /// never meets a closed or a foreign descriptor.
    func adopt(_ rewrite: JournalRewrite, since: [Extent]) throws(AssemblyError) {
        defer { close(rewrite.descriptor) }
        let line = since.isEmpty ? [] : Manifest.line(Manifest.Record(extents: since), seed: seed)
        let error = writeFully(rewrite.descriptor, line)
        guard error == 0 else { throw .io(operation: "write", path: path, errno: error) }
        try folder.rename(JournalRewrite.name(for: name), to: name)
        isNameDurable = false
        guard segget_replace_descriptor(rewrite.descriptor, descriptor) == 0 else {
            throw .io(operation: "dup3", path: path, errno: errno)
        }
        length = rewrite.length + line.count
    }

    /// Makes what was appended durable, and that it is this manifest that stands at the name.
    func synchronize() throws(AssemblyError) {
        guard fdatasync(descriptor) == 0 else {
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
            try folder.remove(JournalRewrite.name(for: name))
            return
        }
        try folder.rename(JournalRewrite.name(for: name), to: name)
        try folder.sync()
    }

    /// Removes the manifest, if what stands at the name is still this one.
    func remove() throws(AssemblyError) {
        guard try isInPlace() else { return }
        try folder.remove(name)
    }
}

extension Journal {
    /// Whether what stands at the name is this one.
    private func isInPlace() throws(AssemblyError) -> Bool {
        let mine = try FileStatus(of: descriptor, path)
        return try folder.status(of: name)?.identity == mine.identity
    }
}

/// A manifest written anew beside the one in use, durable but not yet in its place.
struct JournalRewrite: Sendable {
    /// Open for appending.
    let descriptor: Int32
    /// Bytes in the file.
    let length: Int

    static func name(for manifest: String) -> String { manifest + "~" }

    /// Checks that what stands where the manifest `name` is written anew is a rewrite that was broken
    /// off, or nothing: whatever it is will be removed.
    ///
    /// Beside a manifest it is one whatever is in it: a power cut may leave anything in its place.
    ///
    /// - Throws: `foreignPart`, unless it may be overwritten; `notARegularFile`, `cannotCreate`, `io`.
    static func checkPlace(
        of name: String, in folder: Folder, overwrite: Bool = false
    ) throws(AssemblyError) {
        let temporary = Self.name(for: name)
        let path = folder.path(of: temporary)
        guard let status = try folder.status(of: temporary) else { return }
        guard status.isRegular else { throw .notARegularFile(path: path) }
        guard !overwrite else { return }
        if Manifest.mayBegin(with: try start(of: temporary, in: folder)) { return }
        guard try folder.status(of: name)?.isRegular == true else { throw .foreignPart(path: path) }
        let manifest = try start(of: name, in: folder)
        guard !manifest.isEmpty, Manifest.mayBegin(with: manifest) else {
            throw .foreignPart(path: path)
        }
    }

    /// Removes a second name that the manifest `name` has where a new one is written.
    ///
    /// A power cut leaves it where a file system does not rename in one step. Nothing else is removed, for
    /// another process may be writing.
    static func removeSecondName(of name: String, in folder: Folder) throws(AssemblyError) {
        let temporary = Self.name(for: name)
        guard let second = try folder.status(of: temporary)?.identity,
            try folder.status(of: name)?.identity == second,
            Manifest.mayBegin(with: try start(of: name, in: folder))
        else { return }
        try folder.remove(temporary)
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

    init(
        folder: Folder, name: String, header: Manifest.Header, records: [Manifest.Record]
    ) throws(AssemblyError) {
        let temporary = Self.name(for: name)
        let path = folder.path(of: temporary)
        try folder.remove(temporary)
        guard let descriptor = folder.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_APPEND) else {
            throw .cannotCreate(path: path, errno: errno)
        }
        let seed = Manifest.seed(generation: header.generation)
        var bytes = Manifest.line(header, seed: seed)
        for record in records { bytes += Manifest.line(record, seed: seed) }
        var operation = "write"
        var error = writeFully(descriptor, bytes)
        if error == 0, fsync(descriptor) != 0 { (operation, error) = ("fsync", errno) }
        guard error == 0 else {
            close(descriptor)
            try? folder.remove(temporary)
            throw .io(operation: operation, path: path, errno: error)
        }
        self.descriptor = descriptor
        length = bytes.count
    }
}
