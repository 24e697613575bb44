import CLinux
import Glibc

/// Copies bytes of an open file to the same place of another one.
struct FileCopy {
    /// Where the bytes are.
    let source: Int32
    let sourcePath: String
    /// Where they go.
    let target: Int32
    let targetPath: String

    /// Most bytes between two looks at whether it is cancelled.
    private static let step: Int64 = 64 << 20

    /// Copies bytes, which both files share afterwards where the file system can.
    ///
    /// - Parameters:
    ///   - range: The bytes, all of which are there.
    ///   - isCancelled: Asked again and again meanwhile.
    /// - Returns: Whether all are copied: not after cancelling.
    /// - Throws: `io`.
    func callAsFunction(
        _ range: ByteRange, isCancelled: () -> Bool = { false }
    ) throws(AssemblyError) -> Bool {
        var position = range.start
        while position < range.end {
            guard !isCancelled() else { return false }
            let length = Int(min(range.end - position, Self.step))
            let count = segget_copy_range(source, target, off_t(position), length)
            if count < 0, errno == EINTR { continue }
            // Between some file systems, and on old kernels, the kernel does not copy.
            if count < 0, errno == EXDEV || isUnsupported(errno: errno) {
                return try copyByHand(ByteRange(position, range.end), isCancelled)
            }
            guard count > 0 else {
                throw .io(
                    operation: "copy_file_range", path: count < 0 ? targetPath : sourcePath,
                    errno: count < 0 ? errno : ENODATA)
            }
            position += Int64(count)
        }
        return true
    }

    private func copyByHand(
        _ range: ByteRange, _ isCancelled: () -> Bool
    ) throws(AssemblyError) -> Bool {
        let buffer = ReadBuffer()
        var position = range.start
        while position < range.end {
            guard !isCancelled() else { return false }
            guard let bytes = buffer.read(source, from: position, to: range.end) else {
                throw .io(operation: "pread", path: sourcePath, errno: errno)
            }
            let error = writeFully(target, bytes, at: position)
            guard error == 0 else {
                throw .io(operation: "pwrite", path: targetPath, errno: error)
            }
            position += Int64(bytes.count)
        }
        return true
    }
}
