// Display: progress and messages for users, and where they are printed. The code here knows
// terminals and events, but decides nothing about a download.

import Assembler
import FoundationEssentials
import Glibc
import SeggetReports
import Segmenter

/// Reports a download: messages and progress to standard error, JSON to standard output.
struct DownloadReport {
    /// The settings of a report.
    struct Settings: Sendable {
        /// The level of detail of messages.
        enum Detail {
            case errors, normal, all
        }

        var style: ProgressView.Style
        var terminal: Terminal
        var detail: Detail
        var json: JSONFormat?
        /// The requested number of connections.
        var connections: Int
        /// The URLs of the command line as typed; they belong to the first files.
        var typed: [String] = []
        /// Returns and forgets a description of the last failure of the command of `--refresh-url`.
        var refreshProblem: @Sendable () -> String? = { nil }
        /// The bytes of results that are ranges of remote files, by the paths of the results.
        var ranges: [String: ByteRange] = [:]
    }

    private let settings: Settings
    private let view: any ProgressDisplay
    private let output: JSONOutput
    /// The number of the file among several, from 1; `nil` for a single file.
    private let file: Int?
    private var lastTick: Int64 = -1
    private var lastPhase: DownloadProgress.Phase?
    private var name = ""
    private var endIsProven = true
    private var hasStarted = false

    /// Creates a report to the standard streams.
    init(_ settings: Settings) {
        let view = ProgressView(
            style: settings.style, terminal: settings.terminal,
            width: { Terminal.width(of: STDERR_FILENO) },
            isInForeground: { Terminal.isInForeground(of: STDERR_FILENO) },
            write: { StandardStreams.write($0, to: STDERR_FILENO) })
        self.init(settings, view: view) { StandardStreams.write($0, to: STDOUT_FILENO) }
    }

    /// Creates a report to a view and, for `--json`, to `writeJSON`.
    ///
    /// `writeJSON` returns whether its output is still open.
    init(_ settings: Settings, view: ProgressView, writeJSON: @escaping (String) -> Bool) {
        self.settings = settings
        self.view = view
        file = nil
        output = JSONOutput(settings.json, write: writeJSON)
        emit("run", JSONEvents.Run(at: Date()))
    }

    /// Creates a report of one of several files; `name` is shown until a better one is known.
    init(
        _ settings: Settings, view: any ProgressDisplay, output: JSONOutput, file: Int,
        name: String
    ) {
        self.settings = settings
        self.view = view
        self.output = output
        self.file = file
        self.name = name
    }

    /// Reports an event, except the result, which ``finish(_:signal:)`` reports.
    mutating func handle(_ event: DownloadEvent) {
        switch event {
        case .probed(let file): probed(file)
        case .started(let start): started(start)
        case .notice(let notice): noticed(notice)
        case .progress(let progress):
            view.show(progress, name: name)
            let tick = Units.whole(progress.elapsed.inSeconds * 10)
            // A new phase is reported immediately: the next event may follow much later.
            if tick != lastTick || progress.phase != lastPhase {
                emit("progress", JSONEvents.Progress(progress))
            }
            (lastTick, lastPhase) = (tick, progress.phase)
        case .finished: break
        }
    }

    /// Reports the result.
    ///
    /// - Returns: The exit status of segget.
    mutating func finish(
        _ result: Result<DownloadedFile, DownloadError>, signal: Int32?
    ) -> ExitStatus {
        view.clear()
        switch result {
        case .success(let file):
            emit("finished", JSONEvents.Finished(file))
            let range = settings.ranges[file.path]
            say(.none, Summary(file, endIsProven: endIsProven, range: range).text)
            return .done
        case .failure(let error):
            let diagnostic = Diagnostic(
                error, signal: signal, typed: settings.typed.dropFirst((file ?? 1) - 1).first)
            emit("error", JSONEvents.Failure(error, diagnostic))
            // For several files, the cancellation is reported once, at the end of the batch.
            if file == nil || diagnostic.kind != "cancelled" {
                for message in diagnostic.messages { view.print(message) }
            }
            return diagnostic.status
        }
    }

    private mutating func probed(_ file: RemoteFile) {
        name = file.suggestedName
        emit("probed", ProbeReport(file))
        guard settings.detail == .all else { return }
        for line in ProbeReport(file).lines(connections: settings.connections) { say(.none, line) }
    }

    private mutating func started(_ start: DownloadStart) {
        let isAgain = hasStarted
        hasStarted = true
        name = FileTarget(path: start.path).name
        emit("started", JSONEvents.Started(start))
        switch start.transfer {
        case .segments, .singleRequest: break
        case .oneStreamNoRanges:
            say(
                .note,
                "the server does not support byte ranges: downloading in one stream, which cannot be resumed"
            )
        case .oneStreamUnknownSize:
            say(.note, "the server does not state the size: downloading in one stream")
            endIsProven = false
        }
        if start.identity == "none", start.transfer == .segments {
            say(
                .note,
                "identity: none: the server sends no usable ETag or Last-Modified, so a stopped "
                    + "download starts over, unless `--checksum` or a digest from the server "
                    + "verifies the file, or `--resume-unverified` compares a sample")
        }
        if start.resumedBytes > 0 {
            let size = start.size.map { " of \(Units.size($0))" } ?? ""
            let bytes = Units.size(start.resumedBytes) + size
            say(
                .note,
                isAgain
                    ? "continuing: \(bytes) already received"
                    : "resuming: \(bytes) from an earlier run")
        }
    }

    private mutating func noticed(_ notice: DownloadNotice) {
        if notice == .endUnproven { endIsProven = false }
        if case .linkNotRefreshed = notice, let problem = settings.refreshProblem() {
            say(.note, "the command of `--refresh-url` \(problem)")
        }
        emit("notice", JSONEvents.Notice(notice))
        if notice.isAlwaysShown || settings.detail == .all || isWorthWaiting(notice) {
            say(.note, notice.text)
        }
    }

    /// Whether a notice is shown because nothing else explains a delay before the start.
    private func isWorthWaiting(_ notice: DownloadNotice) -> Bool {
        if case .retrying = notice { !hasStarted } else { false }
    }

    private func say(_ label: Message.Label, _ text: @autoclosure () -> String) {
        guard settings.detail != .errors else { return }
        let subject = file == nil || label != .note ? "" : "\(Diagnostic.quote(name)): "
        view.print(Message(label, subject + text()))
    }

    private func emit<Payload: Encodable>(
        _ event: String, _ payload: @autoclosure () -> Payload
    ) {
        output.emit(event, payload(), file: file)
    }
}
