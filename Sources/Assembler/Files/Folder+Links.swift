import CLinux
import Glibc

// Symbolic links, and folders as a whole.
extension Folder {
    /// Returns the text of a symbolic link; `nil` with `errno` set if there is none.
    package func linkText(of name: String) -> String? {
        var text = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = withDescriptor { readlinkat($0, name, &text, text.count - 1) }
        guard count >= 0 else { return nil }
        return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Creates a symbolic link.
    ///
    /// - Parameters:
    ///   - name: The name of the link, which must be free.
    ///   - text: The path that the link contains.
    /// - Returns: 0, or `errno`.
    package func makeLink(_ name: String, to text: String) -> Int32 {
        withDescriptor { symlinkat(text, $0, name) == 0 ? 0 : errno }
    }

    /// Creates a folder in this one.
    ///
    /// - Returns: 0, or `errno`.
    package func makeFolder(_ name: String) -> Int32 {
        withDescriptor { mkdirat($0, name, 0o777) == 0 ? 0 : errno }
    }

    /// Renames a folder in this one; fails if `new` is a folder that is not empty.
    ///
    /// - Returns: 0, or `errno`.
    package func renameFolder(_ old: String, to new: String) -> Int32 {
        withDescriptor { renameat($0, old, $0, new) == 0 ? 0 : errno }
    }

    /// Returns the names of all entries.
    package var entryNames: [String] {
        var names: [String] = []
        forEachEntry { name, _, _ in
            let name = String(decoding: name, as: UTF8.self)
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Removes a folder in this one with all that is in it, as far as possible; follows no link.
    package func removeAll(_ name: String) {
        if let inside = folder(name) {
            for name in inside.entryNames { inside.removeAll(name) }
            removeFolder(name)
        } else {
            try? remove(name)
        }
    }

    /// Reads a small file; `nil` if it does not exist, is longer, or cannot be read.
    package func read(_ name: String, most: Int) -> [UInt8]? {
        guard let file = open(name, O_RDONLY) else { return nil }
        defer { close(file) }
        return Self.read(file, most: most)
    }

    /// Reads a small file, as ``read(_:most:)``, at any path; follows symbolic links.
    package static func read(at path: String, most: Int) -> [UInt8]? {
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return read(file, most: most)
    }

    private static func read(_ file: Int32, most: Int) -> [UInt8]? {
        // The file may be far smaller than the limit.
        let size = FileStatus(of: file).map { Int(clamping: $0.size) } ?? 0
        guard size <= most else { return nil }
        var bytes = [UInt8](repeating: 0, count: size)
        let count = bytes.withUnsafeMutableBytes { readFully(file, into: $0, at: 0) }
        return count.map { Array(bytes[..<$0]) }
    }

    /// Writes a small file that does not exist yet, durably.
    ///
    /// - Throws: `destinationExists`, `cannotCreate`, `io`.
    package func create(_ name: String, _ bytes: [UInt8]) throws(AssemblyError) {
        guard let file = open(name, O_WRONLY | O_CREAT | O_EXCL) else {
            if errno == EEXIST { throw .destinationExists(path: path(of: name)) }
            throw .cannotCreate(path: path(of: name), errno: errno)
        }
        defer { close(file) }
        let code = writeFully(file, bytes)
        guard code == 0 else {
            try? remove(name)
            throw .io(operation: "write", path: path(of: name), errno: code)
        }
        fchmod(file, 0o666 & ~processUmask())
        fsync(file)
    }

    /// Replaces a small file atomically and durably; several processes may do so at once.
    ///
    /// - Throws: `cannotCreate`, `io`.
    package func replace(_ name: String, _ bytes: [UInt8]) throws(AssemblyError) {
        let temporary = "\(name)~" + String(UInt64.random(in: 0...UInt64.max), radix: 16)
        do throws(AssemblyError) {
            try create(temporary, bytes)
            try rename(temporary, to: name)
        } catch {
            try? remove(temporary)
            throw error
        }
    }

    /// Returns the size of the file at a path, in bytes; `nil` with `errno` set if there is none.
    package static func size(at path: String) -> Int64? {
        var status = stat()
        return stat(path, &status) == 0 ? FileStatus(status).size : nil
    }

    /// Whether the folder belongs to the user of this process.
    package var isOwn: Bool {
        get throws(AssemblyError) {
            guard let status = withDescriptor({ FileStatus(of: $0) }) else {
                throw .io(operation: "fstat", path: path, errno: errno)
            }
            return status.isOwn
        }
    }

    /// Copies a file to another folder, sharing its blocks if the file system can do that.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - target: The other folder.
    ///   - new: The name there, which must be free; `nil` for the same one.
    /// - Returns: Whether it was copied. If not, a part of the copy may exist.
    package func copy(_ name: String, to target: Folder, as new: String? = nil) -> Bool {
        let new = new ?? name
        guard let source = open(name, O_RDONLY) else { return false }
        defer { close(source) }
        guard let size = FileStatus(of: source)?.size,
            let copy = target.open(new, O_RDWR | O_CREAT | O_EXCL)
        else { return false }
        defer { close(copy) }
        let copying = FileCopy(
            source: source, sourcePath: path(of: name), target: copy,
            targetPath: target.path(of: new))
        return (try? copying(ByteRange(0, size))) ?? false
    }

    /// Whether a process on this machine has a file open for writing, as far as this user can see.
    package func isBeingWritten(_ name: String) -> Bool {
        guard let file = open(name, O_RDONLY) else { return false }
        defer { close(file) }
        return segget_is_being_written(file) != 0
    }

    /// The time at which a file in the folder was last changed, in nanoseconds since 1970; `nil` if
    /// there is none.
    package var lastChange: Int64? {
        entryNames.compactMap { (try? status(of: $0))??.modifiedTotal }.max()
    }

    /// The time that the file system gives to a file now, in nanoseconds since 1970; `nil` if no
    /// file can be created.
    ///
    /// Times of files are compared with it, because the clock of a file server may differ.
    package var serverTime: Int64? {
        let name = ".segget-now-" + String(UInt64.random(in: 0...UInt64.max), radix: 16)
        guard let file = open(name, O_WRONLY | O_CREAT | O_EXCL) else { return nil }
        defer {
            close(file)
            try? remove(name)
        }
        guard writeFully(file, [0]) == 0 else { return nil }
        return FileStatus(of: file)?.modifiedTotal
    }
}
