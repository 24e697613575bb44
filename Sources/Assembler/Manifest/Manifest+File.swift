import Glibc

extension Manifest {
    /// Reads the manifest `name`; returns `nil` if the file does not exist.
    ///
    /// - Throws: `notARegularFile`; `foreignPart` for another user's file in a shared folder;
    ///   `cannotCreate`, `io`.
    static func read(
        _ name: String, in folder: Folder
    ) throws(AssemblyError) -> Result<Manifest, ReadError>? {
        guard let bytes = try bytes(of: name, in: folder) else { return nil }
        do throws(ReadError) {
            return .success(try Manifest(reading: try bytes.get()))
        } catch {
            return .failure(error)
        }
    }

    /// Returns the bytes of the manifest `name`, or `nil` if the file does not exist.
    ///
    /// - Throws: The errors of ``read(_:in:)``.
    static func bytes(
        of name: String, in folder: Folder
    ) throws(AssemblyError) -> Result<[UInt8], ReadError>? {
        let path = folder.path(of: name)
        guard let descriptor = folder.open(name, O_RDONLY) else {
            switch errno {
            case ENOENT: return nil
            case ELOOP, ENXIO: throw .notARegularFile(path: path)
            default: throw .cannotCreate(path: path, errno: errno)
            }
        }
        defer { close(descriptor) }
        let status = try FileStatus(of: descriptor, path)
        guard status.isRegular else { throw .notARegularFile(path: path) }
        guard try folder.trusts(status) else { throw .foreignPart(path: path) }
        guard status.size <= Int64(longest) else {
            return .failure(.unreadable(isOurs: false))
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.size))
        let count = bytes.withUnsafeMutableBytes { readFully(descriptor, into: $0, at: 0) }
        guard let count else { throw .io(operation: "pread", path: path, errno: errno) }
        bytes.removeLast(bytes.count - count)
        return .success(bytes)
    }
}
