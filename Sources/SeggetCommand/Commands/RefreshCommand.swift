import Assembler
import CLinux
import Glibc
import SeggetReports
package import Segmenter

/// The command of `--refresh-url`, which prints a new URL when a server refuses the old one.
package final class RefreshCommand: Sendable {
    /// The maximum length of the command's output, in bytes.
    private static let longest = 64 << 10

    private let words: [String]
    /// A description of the last failure.
    private let problem = Monitor<String?>(nil)

    /// Creates the command.
    ///
    /// - Parameter words: The command and its arguments.
    package init(_ words: [String]) { self.words = words }

    /// Returns a description of the last failure, and forgets it.
    package func takeProblem() -> String? {
        problem.withLock { problem in
            defer { problem = nil }
            return problem
        }
    }

    /// Runs the command, and returns the URL that it prints.
    ///
    /// Cancelling the task ends the command.
    ///
    /// - Parameters:
    ///   - url: The refused URL, in full.
    ///   - reason: The reason for the refusal.
    /// - Returns: The new URL; `nil` if the command failed or printed nothing.
    package func link(insteadOf url: String, _ reason: DownloadError.Reason) async -> String? {
        let process = Monitor<pid_t?>(nil)
        let status = Self.status(reason)
        let outcome = await withTaskCancellationHandler {
            await offLoop("refresh") { [words] () throws(Never) -> Result<String, RunError> in
                Self.run(words, url: url, status: status, process)
            }
        } onCancel: {
            Self.end(process)
        }
        switch outcome {
        case .success(let text): return text
        case .failure(let error):
            problem.withLock { $0 = error.text }
            return nil
        }
    }

    private struct RunError: Error { var text: String }

    private static func status(_ reason: DownloadError.Reason) -> Int {
        switch reason {
        case .refused(let status), .transfer(.status(let status), _): status
        default: 0
        }
    }

    /// Sends SIGTERM to the command's process group, and SIGKILL one second later.
    private static func end(_ process: Monitor<pid_t?>) {
        process.withLock { _ = $0.map { kill(-$0, SIGTERM) } }
        Task.detached {
            try await Task.sleep(for: .seconds(1))
            process.withLock { _ = $0.map { kill(-$0, SIGKILL) } }
        }
    }

    /// Runs the command, and blocks until it ends.
    private static func run(
        _ words: [String], url: String, status: Int, _ process: Monitor<pid_t?>
    ) -> Result<String, RunError> {
        let (input, output) = (
            open("/dev/null", O_RDONLY | O_CLOEXEC), segget_memory_file("segget-link")
        )
        defer {
            close(input)
            close(output)
        }
        guard input >= 0, output >= 0 else {
            return .failure(RunError(text: "cannot be run: \(Diagnostic.describe(errno: errno))"))
        }
        let environment = Hooks.environment(with: [
            Hooks.prefix + "EVENT": "refresh", Hooks.prefix + "URL": url,
            Hooks.prefix + "STATUS": "\(status)",
        ])
        // The lock is held until the process id is stored, so a concurrent cancellation can end it.
        let code = process.withLock { process in
            var pid: pid_t = 0
            let code = Hooks.withCStrings(words) { arguments in
                Hooks.withCStrings(environment) {
                    segget_spawn(arguments, $0, input, output, STDERR_FILENO, 1, &pid)
                }
            }
            if code == 0 { process = pid }
            return code
        }
        guard code == 0, let pid = process.withLock({ $0 }) else {
            return .failure(RunError(text: "cannot be run: \(Diagnostic.describe(errno: code))"))
        }
        // The process id cannot be reused until waitpid(2), so `end` never signals another process.
        var info = siginfo_t()
        while waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        process.withLock { $0 = nil }
        var end: Int32 = 0
        while waitpid(pid, &end, 0) < 0, errno == EINTR {}
        if let problem = Hooks.problem(end) { return .failure(RunError(text: problem)) }
        return link(in: output)
    }

    /// Reads the URL from the command's output.
    private static func link(in output: Int32) -> Result<String, RunError> {
        var bytes = [UInt8](repeating: 0, count: longest + 1)
        let count = pread(output, &bytes, bytes.count, 0)
        guard (0...longest).contains(count) else {
            return .failure(RunError(text: "printed more than a URL"))
        }
        let words = bytes[..<count].split { $0 <= 0x20 }
        switch words.count {
        case 0: return .failure(RunError(text: "printed nothing"))
        case 1: return .success(String(decoding: words[0], as: UTF8.self))
        default: return .failure(RunError(text: "printed more than a URL"))
        }
    }
}
