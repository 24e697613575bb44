import Glibc
import TestSupport

/// A segget whose standard output is a pipe that a test reads as it likes.
final class PipedSegget {
    let process: ChildProcess
    private let sandbox: Sandbox
    private let reader: Int32

    /// Starts `segget ARGUMENTS` in `folder`; nobody reads yet.
    init(_ arguments: [String], in folder: String) throws {
        sandbox = try Sandbox("segget-pipe")
        let path = sandbox.path("fifo")
        guard mkfifo(path, 0o600) == 0 else { throw SystemCallError("mkfifo") }
        // Without waiting for the writer, which waits for a reader.
        reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard reader >= 0 else { throw SystemCallError("open \(path)") }
        process = try ChildProcess(
            "/bin/sh", ["-c", "exec \"$0\" \"$@\" >'\(path)'", Segget.binary()] + arguments,
            in: folder)
    }

    deinit { close(reader) }

    /// Reads `count` bytes, or fewer when the stream ends before.
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
                    // Nothing is there, or nobody has opened the pipe yet.
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

    /// Reads to the end.
    func readToEnd() throws -> [UInt8] { try read(.max) }
}
