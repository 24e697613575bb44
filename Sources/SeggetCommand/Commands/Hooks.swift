import Assembler
import CLinux
import Glibc
package import SeggetReports
package import Segmenter

/// The commands that are run when the download of a file has ended.
package struct Hooks: Sendable {
    /// The command for a complete file, and its arguments.
    package var onComplete: [String]?
    /// The command for a file that failed, and its arguments.
    package var onError: [String]?

    /// What the name of every variable begins with that describes its file to a command.
    ///
    /// No option's variable begins so: a segget that the command runs takes none of them for one.
    package static let prefix = "SEGGET_TASK_"

    private let begun = monotonicSeconds()

    package init(onComplete: [String]? = nil, onError: [String]? = nil) {
        self.onComplete = onComplete
        self.onError = onError
    }

    /// Whether there is any command.
    package var areWanted: Bool { onComplete != nil || onError != nil }

    /// Runs the command that is meant for the end of a file, waits for it, and reports its failure.
    ///
    /// Nothing is run when a signal, or the caller, stopped the download.
    ///
    /// - Parameters:
    ///   - result: How the download ended.
    ///   - url: What was downloaded, in full.
    ///   - status: What segget makes of it.
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

    /// Runs a command to its end, without blocking.
    ///
    /// - Parameters:
    ///   - command: Its name and its arguments.
    ///   - facts: What the environment says beside what ours says.
    ///   - input: What it reads.
    /// - Returns: What went wrong, in words.
    package static func carryOut(
        _ command: [String], facts: [String: String], input: String
    ) async -> String? {
        await offLoop("hook") { () throws(Never) -> String? in
            run(command, environment: environment(with: facts), input: input)
        }
    }

    /// What the environment says of a file.
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

    /// What a command reads: the object of `--json`, on a line; `time` is in seconds since the run began.
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

    /// Our environment without what is meant for us, which may hold secrets, and with the facts.
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

    /// Runs a command to its end.
    ///
    /// It gets `input` as standard input, our standard error for all that it prints, no other
    /// descriptor, no blocked signal, and none of the signals that we ignore ignored.
    ///
    /// - Returns: What went wrong, in words.
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

    /// How a command has ended, in words, by its status of wait(2); `nil` when well.
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
