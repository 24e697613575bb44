import FoundationEssentials
import Glibc
import SeggetReports
import Segmenter

/// Reports `segget bench`: lines to standard error, the result to standard output.
final class BenchVoice {
    private let options: BenchOutputOptions
    private let terminal = Terminal.standardError
    private let events: JSONOutput

    /// Creates a report to the standard streams.
    init(_ options: BenchOutputOptions) {
        self.options = options
        events = JSONOutput(options.json) { StandardStreams.write($0, to: STDOUT_FILENO) }
        events.emit("run", JSONEvents.Run(at: Date()))
    }

    /// Announces the measurements.
    func begin(_ run: BenchRun) {
        let sink = run.disk == nil ? "null" : "disk"
        events.emit(
            "schedule",
            BenchEvents.Schedule(
                url: run.file.url, finalUrl: run.file.effectiveURL, size: run.file.size,
                transfer: run.file.transfer.name, clients: run.plan.subjects.map(\.name),
                rounds: run.plan.rounds,
                measurements: run.plan.count, secondsAtMost: run.plan.maxTime.thousandths,
                bytesAtMost: run.plan.bytesAtMost(size: run.file.size),
                warmUp: run.plan.warmUp.thousandths, sink: sink))
        let place = run.disk.map { "to files in \(Diagnostic.quote($0))" } ?? "to /dev/null"
        let lines = run.plan.announcement(
            url: Diagnostic.quote(run.file.url), size: run.file.size, sink: place)
        for line in lines { say(.none, line) }
        for note in run.notes { say(.note, note) }
    }

    /// Reports the result of a measurement.
    func report(_ measurement: BenchMeasurement, of plan: BenchPlan) {
        events.emit("measured", BenchEvents.Measured(measurement))
        let rate = measurement.isGood ? measurement.rate.map(Units.speed) : nil
        let turn = measurement.turn
        say(.none, "round \(turn.round)/\(plan.rounds), \(turn.subject.name): \(rate ?? "failed")")
    }

    /// Writes the result.
    ///
    /// - Returns: The exit status of segget.
    func finish(_ measurements: [BenchMeasurement], _ run: BenchRun) -> ExitStatus {
        let summary = BenchSummary(measurements, subjects: run.plan.subjects)
        for note in summary.notes { say(.note, note) }
        var status = Self.status(measurements)
        let text: String
        if options.csv {
            text = BenchCSV.text(measurements)
        } else if options.json != nil {
            text = ""
        } else {
            let isTerminal = isatty(STDOUT_FILENO) == 1
            let width = isTerminal ? Terminal.width(of: STDOUT_FILENO) : 80
            text = BenchText(summary, unicode: terminal.unicode, width: width).lines
                .map { $0 + "\n" }.joined()
        }
        // The result is the only output, so a failure to write it is an error.
        if !StandardStreams.write(text, to: STDOUT_FILENO) { status = status.worse(.disk) }
        if let path = options.report {
            let page = BenchHTML(
                facts: facts(run), summary: summary, measurements: measurements)
            if let code = Self.write(page.text, to: path, overwrite: options.overwrite) {
                let why = Diagnostic.describe(errno: code)
                say(.error, "the report \(Diagnostic.quote(path)) cannot be written: \(why)")
                status = status.worse(code == EEXIST ? .cannotCreate : .disk)
            } else {
                say(.none, "report: \(Diagnostic.quote(path))")
            }
        }
        events.emit(
            "result", BenchEvents.Result(summary, notes: run.notes + summary.notes, status: status))
        return status
    }

    /// Returns the exit status, a failure only if all measurements of segget failed.
    static func status(_ measurements: [BenchMeasurement]) -> ExitStatus {
        let own = measurements.filter { $0.turn.subject.client == .segget }
        guard !own.contains(where: \.isGood) else { return .done }
        return own.reduce(.done) { worst, measurement in
            if case .failed(_, _, let status) = measurement.end { return worst.worse(status) }
            return worst.worse(.unavailable)
        }
    }

    private func facts(_ run: BenchRun) -> [(name: String, value: String)] {
        [
            ("URL", run.file.url), ("final URL", run.file.effectiveURL),
            ("size", run.file.size.map { Units.size($0) } ?? "unknown"),
            ("written", run.disk == nil ? "to /dev/null" : "to files"),
            ("rounds", "\(run.plan.rounds), \(run.plan.count) measurements"),
            (
                "bounds",
                "\(Units.elapsed(run.plan.secondsEach)) or \(Units.size(run.plan.bytesEach)) for each"
            ),
            ("warm-up", "\(Units.elapsed(run.plan.warmUp)), at most a third of each"),
            ("measured", Date().formatted(.iso8601)), ("segget", seggetVersion),
        ] + run.notes.map { ("note", $0) }
    }

    /// Writes a whole file, and replaces an existing one only with `overwrite`.
    ///
    /// - Returns: The `errno` of a failure, or `nil`.
    static func write(_ text: String, to path: String, overwrite: Bool) -> Int32? {
        let written = overwrite ? "\(path).\(getpid())~" : path
        let descriptor = open(written, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { return errno }
        var code: Int32?
        if !StandardStreams.write(text, to: descriptor) { code = errno }
        if close(descriptor) != 0, code == nil { code = errno }
        if code == nil, overwrite, rename(written, path) != 0 { code = errno }
        if code != nil { unlink(written) }
        return code
    }

    /// Prints a line on standard error, unless only errors are wanted.
    func say(_ label: Message.Label, _ text: String) {
        guard !options.quiet || label == .error else { return }
        Self.print(Message(label, text), terminal)
    }

    private static func print(_ message: Message, _ terminal: Terminal) {
        StandardStreams.write(message.line(colour: terminal.colour) + "\n", to: STDERR_FILENO)
    }

    /// Reports a failure, and ends the process.
    func fail(_ status: ExitStatus, _ kind: String, _ message: String, hint: String) -> Never {
        events.emit(
            "error",
            BenchEvents.Failure(code: status.rawValue, kind: kind, message: message, hint: hint))
        Self.print(Message(.error, message), terminal)
        Self.print(Message(.hint, hint), terminal)
        Glibc.exit(status.rawValue)
    }

    /// Reports why the probe of the server failed.
    ///
    /// - Returns: The exit status of segget.
    func report(_ error: DownloadError) -> ExitStatus {
        let diagnostic = Diagnostic(error)
        events.emit("error", JSONEvents.Failure(error, diagnostic))
        for message in diagnostic.messages { Self.print(message, terminal) }
        return diagnostic.status
    }
}
