import Glibc

// Files that processes on several machines make and read, without locks.
extension Folder {
    /// Creates a small file that does not exist yet, so that no reader sees a part of its content.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - bytes: The content.
    ///   - temporary: A name that no other process uses; it is free again afterwards.
    /// - Throws: `destinationExists`, `cannotCreate`, `io`. After an error the file may exist anyway,
    ///   because a file server can lose its reply.
    package func createWhole(
        _ name: String, _ bytes: [UInt8], temporary: String
    ) throws(AssemblyError) {
        try create(temporary, bytes)
        defer { try? remove(temporary) }
        let code = withDescriptor { linkat($0, temporary, $0, name, 0) == 0 ? 0 : errno }
        switch code {
        case 0: return
        case EEXIST: throw .destinationExists(path: path(of: name))
        case EPERM, ENOSYS, EOPNOTSUPP, EMLINK:
            // Without hard links, a reader may see the file before its content.
            try create(name, bytes)
        default: throw .cannotCreate(path: path(of: name), errno: code)
        }
    }

    /// Appends to a file, and creates it if it is missing; the file is closed afterwards.
    ///
    /// Closing makes a file server show the bytes to other machines. Errors are ignored.
    package func append(_ name: String, _ bytes: [UInt8]) {
        guard let file = open(name, O_WRONLY | O_APPEND | O_CREAT) else { return }
        fchmod(file, 0o666 & ~processUmask())
        _ = writeFully(file, bytes)
        close(file)
    }

    /// Gives a file the permissions that the umask allows.
    package func open(toOthers name: String) {
        withDescriptor { _ = fchmodat($0, name, 0o666 & ~processUmask(), 0) }
    }

    /// Takes a part and its manifest from another folder, unless this one has either.
    ///
    /// Whenever the process is killed, one of the folders has both: the manifest gets its name here
    /// when the part is there. The part is taken after the content of the manifest, so it has all bytes
    /// that the manifest states.
    ///
    /// - Parameters:
    ///   - parts: The names.
    ///   - source: The other folder.
    ///   - isOver: Whether no process writes there any more, so that the own files are moved if the
    ///     file system has hard links. Otherwise they are copied, sharing blocks if possible.
    /// - Returns: Whether they were taken.
    @discardableResult
    package func takePart(_ parts: PartNames, from source: Folder, isOver: Bool) -> Bool {
        guard isFree(parts.manifest), !source.isFree(parts.manifest), !source.isFree(parts.part)
        else { return false }
        // A run that was killed here may have left them.
        for name in [parts.part, parts.rewrite] { try? remove(name) }
        // A part of another user may not be writable.
        let isMoved = isOver && (try? source.status(of: parts.part))?.isOwn == true
        func take(_ name: String, as new: String) -> Bool {
            isMoved && (try? source.linkWithoutReplacing(name, to: new, in: self)) == true
                || source.copy(name, to: self, as: new)
        }
        guard take(parts.manifest, as: parts.rewrite), take(parts.part, as: parts.part),
            (try? renameWithoutReplacing(parts.rewrite, to: parts.manifest)) != nil
        else {
            for name in [parts.part, parts.rewrite] { try? remove(name) }
            return false
        }
        if isMoved { for name in [parts.manifest, parts.part] { try? source.remove(name) } }
        return true
    }

    /// Returns the size of a file in bytes after opening it; `nil` if it cannot be opened.
    ///
    /// A file server shows what another machine has written since then only to who opens the file.
    package static func openedSize(at path: String) -> Int64? {
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return FileStatus(of: file)?.size
    }

    /// Reads the last bytes of a file; `nil` if it cannot be read.
    package static func readEnd(at path: String, most: Int) -> [UInt8]? {
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        let size = FileStatus(of: file)?.size ?? 0
        let start = max(0, size - Int64(most))
        var bytes = [UInt8](repeating: 0, count: Int(size - start))
        let count = bytes.withUnsafeMutableBytes { readFully(file, into: $0, at: start) }
        return count.map { Array(bytes[..<$0]) }
    }

    /// Gives a file another name in another folder, and fails if that name exists.
    ///
    /// The file keeps its old name. Both names are of one file.
    ///
    /// - Returns: `false` if the file system cannot do that.
    /// - Throws: `destinationExists`, `io`.
    package func linkWithoutReplacing(
        _ name: String, to new: String, in target: Folder
    ) throws(AssemblyError) -> Bool {
        let code = withDescriptor { here in
            target.withDescriptor { linkat(here, name, $0, new, 0) == 0 ? 0 : errno }
        }
        switch code {
        case 0: return true
        case EEXIST: throw .destinationExists(path: target.path(of: new))
        case EXDEV, EPERM, ENOSYS, EOPNOTSUPP, EMLINK: return false
        default: throw .io(operation: "link", path: target.path(of: new), errno: code)
        }
    }
}

extension FileStatus {
    /// Whether the file belongs to the user of this process.
    package var isOwn: Bool { owner == geteuid() }
}
