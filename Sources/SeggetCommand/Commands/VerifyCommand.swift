package import ArgumentParser
import Assembler
import Glibc
import SeggetReports

/// The command `segget verify`, which checks a file on the disk.
package struct VerifyCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check a finished or partial file.",
        discussion: """
            Checks FILE against its kept manifest `FILE.segget`, its extended attributes, and the \
            digests that are given. If FILE does not exist, checks `FILE.part` against its \
            manifest. The file is only read, and may be in use by a download. Exit code 0: all \
            checks passed; 65: a check failed.
            """)

    @Argument(help: "The file to check.", transform: PathArgument.file)
    var file: String

    @Option(
        help: ArgumentHelp("Expected digest of the file.", valueName: "algo:hex"),
        transform: GetCommand.digest)
    var checksum: Digest?

    @Option(
        help: ArgumentHelp(
            "Read the expected digest from this list of checksums, such as `SHA256SUMS`.",
            valueName: "file"),
        transform: PathArgument.file)
    var sums: String?

    @Flag(name: .shortAndLong, help: "Print errors only.")
    var quiet = false

    @Flag(help: "Write the result as one JSON object to standard output (see docs/json.md).")
    var json: JSONFormat?

    package init() {}

    package func validate() throws {
        guard !file.isEmpty, sums != "" else {
            throw ValidationError("an empty path cannot be used")
        }
        guard !file.hasSuffix("/") else { throw ValidationError("the file to check is a folder") }
    }

    package func run() throws {
        StandardStreams.prepare()
        let terminal = Terminal.standardError
        var progress = VerificationProgress(isQuiet: quiet || json != nil)
        let status: ExitStatus
        do throws(FileVerification.Failure) {
            let found = try FileVerification(of: file, checksum: checksum, sums: sums) {
                progress.show($0, of: $1)
            }
            let report = VerificationReport(found)
            let lines =
                json.map { [JSONText.line(report, $0) ?? ""] } ?? (quiet ? [] : report.lines)
            let text = lines.map { $0 + "\n" }.joined()
            let isWritten = StandardStreams.write(text, to: STDOUT_FILENO)
            // The report is the only result, so a failure to write it is an error.
            status = isWritten ? report.status : .disk
            for message in report.messages {
                StandardStreams.write(
                    message.line(colour: terminal.colour) + "\n", to: STDERR_FILENO)
            }
        } catch {
            let diagnostic = Diagnostic(error)
            status = diagnostic.status
            if let json, let line = JSONText.line(VerificationReport.Failure(diagnostic), json) {
                StandardStreams.write(line + "\n", to: STDOUT_FILENO)
            }
            for message in diagnostic.messages {
                StandardStreams.write(
                    message.line(colour: terminal.colour) + "\n", to: STDERR_FILENO)
            }
        }
        Glibc.exit(status.rawValue)
    }
}

/// Prints the progress of a long check.
private struct VerificationProgress {
    /// The seconds between two lines.
    private static let interval = 2.0

    let isQuiet: Bool
    private let clock = ContinuousClock()
    private var last: ContinuousClock.Instant

    init(isQuiet: Bool) {
        self.isQuiet = isQuiet
        last = clock.now
    }

    mutating func show(_ done: Int64, of total: Int64) {
        guard !isQuiet, last.duration(to: clock.now) >= .seconds(Self.interval) else { return }
        last = clock.now
        let percent = Units.percent(done, of: total).map { "\($0) %, " } ?? ""
        StandardStreams.write(
            "checking: \(percent)\(Units.size(done)) of \(Units.size(total))\n", to: STDERR_FILENO)
    }
}
