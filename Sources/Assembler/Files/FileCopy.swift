import CLinux
import Glibc

/// Copies bytes of an open file to another file.
struct FileCopy {
    /// The file descriptor of the source.
    let source: Int32
    let sourcePath: String
    /// The file descriptor of the target.
    let target: Int32
    let targetPath: String
    /// How many bytes further on the target has the bytes.
    var shift: Int64 = 0

    /// The maximum number of bytes to copy between two checks for cancellation.
    private static let step: Int64 = 64 << 20

    /// Copies a range, sharing its blocks between both files if the file system supports that.
    ///
    /// - Parameters:
    ///   - range: The bytes to copy, all of which exist in the source.
    ///   - isCancelled: Called before each step.
    /// - Returns: `true` if all bytes were copied, `false` if the copy was cancelled.
    /// - Throws: `io`.
    func callAsFunction(
        _ range: ByteRange, isCancelled: () -> Bool = { false }
    ) throws(AssemblyError) -> Bool {
        var position = range.start
        while position < range.end {
            guard !isCancelled() else { return false }
            let length = Int(min(range.end - position, Self.step))
            let count = segget_copy_range(
                source, off_t(position), target, off_t(position + shift), length)
            if count < 0, errno == EINTR { continue }
            // Some pairs of file systems and old kernels do not support copy_file_range(2).
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
            let error = writeFully(target, bytes, at: position + shift)
            guard error == 0 else {
                throw .io(operation: "pwrite", path: targetPath, errno: error)
            }
            position += Int64(bytes.count)
        }
        return true
    }
}
