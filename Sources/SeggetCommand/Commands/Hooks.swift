import Assembler
import CLinux
import Glibc
package import SeggetReports
package import Segmenter

/// The commands to run when the download of a file has ended.
package struct Hooks: Sendable {
    /// The command for a complete file, and its arguments.
    package var onComplete: [String]?
    /// The command for a file that failed, and its arguments.
    package var onError: [String]?

    /// The prefix of the environment variables that describe the file to a command.
    ///
    /// No option's variable has this prefix, so a segget that the command starts does not read them
    /// as options.
    package static let prefix = "SEGGET_TASK_"

    private let begun = monotonicSeconds()

    package init(onComplete: [String]? = nil, onError: [String]? = nil) {
        self.onComplete = onComplete
        self.onError = onError
    }

    /// Whether any command is set.
    package var areWanted: Bool { onComplete != nil || onError != nil }

    /// Runs the command for the result of a file, waits for it, and reports its failure.
    ///
    /// No command runs if a signal or the caller stopped the download.
    ///
    /// - Parameters:
    ///   - result: The result of the download.
    ///   - url: The full URL of the file.
    ///   - status: The exit status for the result.
    package func run(
        _ result: Result<DownloadedFile, DownloadError>, url: String, status: ExitStatus
    ) async {
        let option: String, command: [String]?
        switch result {
        case .success: (option, command) = ("--on-complete", onComplete)
        case .failure(let error) where error.reason == .cancelled: return
        case .failure: (option, command) = ("--on-error", onError)
        }
        guard let command else { return }
        let problem = await Self.carryOut(
            command, facts: Self.facts(result, url: url, status: status),
            input: Self.input(result, time: monotonicSeconds() - begun))
        guard let problem else { return }
        let message = Message(.note, "the command of `\(option)` \(problem)")
        StandardStreams.write(
            message.line(colour: Terminal.standardError.colour) + "\n", to: STDERR_FILENO)
    }

    /// Runs a command until it ends, without blocking the calling task.
    ///
    /// - Parameters:
    ///   - command: The command and its arguments.
    ///   - facts: The variables to add to the environment.
    ///   - input: The text for standard input.
    /// - Returns: A description of the failure, or `nil` on success.
    package static func carryOut(
        _ command: [String], facts: [String: String], input: String
    ) async -> String? {
        await offLoop("hook") { () throws(Never) -> String? in
            run(command, environment: environment(with: facts), input: input)
        }
    }

    /// Returns the environment variables that describe the result of a file.
    package static func facts(
        _ result: Result<DownloadedFile, DownloadError>, url: String, status: ExitStatus
    ) -> [String: String] {
        var facts = ["STATUS": "\(status.rawValue)"]
        switch result {
        case .success(let file):
            facts["EVENT"] = "complete"
            facts["URL"] = DownloadSession.redacted(url)
            facts["PATH"] = file.path
            facts["SIZE"] = "\(file.size)"
            facts["CRC32"] = file.crc32.map { Digest(crc32: $0).hex }
            facts["CHECKSUM"] = file.verified.map(\.description).joined(separator: " ")
        case .failure(let error):
            let diagnostic = Diagnostic(error)
            facts["EVENT"] = "error"
            facts["URL"] = error.url
            facts["PATH"] = error.path ?? ""
            facts["KEPT"] = "\(error.bytesKept)"
            facts["KIND"] = diagnostic.kind
            facts["MESSAGE"] = PrintableText.escape(diagnostic.message)
        }
        return Dictionary(uniqueKeysWithValues: facts.map { (prefix + $0, $1) })
    }

    /// Returns the line for a command's standard input: the object of `--json`.
    ///
    /// `time` is in seconds since the start of the run.
    package static func input(
        _ result: Result<DownloadedFile, DownloadError>, time: Double
    ) -> String {
        let line =
            switch result {
            case .success(let file):
                JSONText.line(
                    JSONLine(event: "finished", time: time, payload: JSONEvents.Finished(file)))
            case .failure(let error):
                JSONText.line(
                    JSONLine(
                        event: "error", time: time,
                        payload: JSONEvents.Failure(error, Diagnostic(error))))
            }
        return (line ?? "{}") + "\n"
    }

    /// Returns the environment for a command.
    ///
    /// It has no `SEGGET_…` variables of this process, which may contain secrets, and has `facts`.
    package static func environment(with facts: [String: String]) -> [String] {
        var variables: [String] = []
        var next = environ
        while let variable = next.pointee {
            let text = String(cString: variable)
            if !text.hasPrefix("SEGGET_") { variables.append(text) }
            next += 1
        }
        return variables + facts.map { "\($0)=\($1)" }.sorted()
    }

    /// Runs a command, and blocks until it ends.
    ///
    /// The command reads `input` from standard input. Its standard output and standard error are
    /// this process's standard error. It inherits no other descriptor, and no blocked or ignored
    /// signals.
    ///
    /// - Returns: A description of the failure, or `nil` on success.
    package static func run(_ command: [String], environment: [String], input: String) -> String? {
        let file = segget_memory_file("segget-task")
        guard file >= 0, StandardStreams.write(input, to: file), lseek(file, 0, SEEK_SET) == 0
        else { return "cannot be given its input: \(Diagnostic.describe(errno: errno))" }
        defer { close(file) }
        var pid: pid_t = 0
        let code = withCStrings(command) { arguments in
            withCStrings(environment) {
                segget_spawn(arguments, $0, file, STDERR_FILENO, STDERR_FILENO, 0, &pid)
            }
        }
        guard code == 0 else { return "cannot be run: \(Diagnostic.describe(errno: code))" }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 {
            guard errno == EINTR else { return nil }
        }
        return problem(status)
    }

    /// Describes a failure by its wait(2) status; returns `nil` for exit code 0.
    package static func problem(_ status: Int32) -> String? {
        // wait(2): the low seven bits name the signal, the byte above them is the exit code.
        if status & 0x7f != 0 { return "was ended by signal \(status & 0x7f)" }
        let exit = (status >> 8) & 0xff
        return exit == 0 ? nil : "ended with exit code \(exit)"
    }

    package static func withCStrings<Result>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) }
        defer { copies.forEach { free($0) } }
        return body(copies + [nil])
    }
}
