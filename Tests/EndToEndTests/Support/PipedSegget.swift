import Glibc
import TestSupport

/// A segget process whose standard output is a pipe that the test reads.
final class PipedSegget {
    let process: Run
    private let sandbox: Sandbox
    private let reader: Int32

    /// Starts `segget ARGUMENTS` in `folder`, without reading its output.
    init(_ arguments: [String], in folder: String) throws {
        sandbox = try Sandbox("segget-pipe")
        let path = sandbox.path("fifo")
        guard mkfifo(path, 0o600) == 0 else { throw SystemCallError("mkfifo") }
        // Nonblocking: a blocking open would wait for the writer, which waits for a reader.
        reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard reader >= 0 else { throw SystemCallError("open \(path)") }
        process = try Run(
            "/bin/sh", ["-c", "exec \"$0\" \"$@\" >'\(path)'", Segget.binary()] + arguments,
            in: folder)
    }

    deinit { close(reader) }

    /// Reads `count` bytes, or fewer if the stream ends earlier.
    func read(_ count: Int, timeout: Double = 120) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let inTime = eventually(timeout: timeout) {
            while bytes.count < count {
                let step = Glibc.read(reader, &buffer, min(buffer.count, count - bytes.count))
                if step > 0 {
                    bytes += buffer[..<step]
                } else if step == 0, !process.isRunning {
                    return true
                } else {
                    // The pipe is empty, or segget has not opened it yet.
                    return false
                }
            }
            return true
        }
        guard inTime else {
            throw Unexpected(text: "only \(bytes.count) bytes: \(process.errorOutput)")
        }
        return bytes
    }

    func readToEnd() throws -> [UInt8] { try read(.max) }
}
