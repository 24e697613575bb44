// Display: what a person sees while downloads run, and where messages go. It knows terminals and
// events; it never decides anything of a download.

import FoundationEssentials
import Glibc
import SeggetReports
import Segmenter

/// Tells what a download does: messages and progress to standard error, JSON to standard output.
struct DownloadReport {
    /// What is reported, and how.
    struct Settings: Sendable {
        /// How much is said in messages.
        enum Detail {
            case errors, normal, all
        }

        var style: ProgressView.Style
        var terminal: Terminal
        var detail: Detail
        var json: JSONFormat?
        /// Number of connections that were asked for.
        var connections: Int
        /// The URLs of the command line, as they were typed: the first files.
        var typed: [String] = []
        /// What went wrong with the command of `--refresh-url` since this was last asked, in words.
        var refreshProblem: @Sendable () -> String? = { nil }
    }

    private let settings: Settings
    private let view: any ProgressDisplay
    private let output: JSONOutput
    /// Which of several files it is, from 1; `nil` for the only one.
    private let file: Int?
    private var lastTick: Int64 = -1
    private var lastPhase: DownloadProgress.Phase?
    private var name = ""
    private var endIsProven = true
    private var hasStarted = false

    /// Reports to the standard streams.
    init(_ settings: Settings) {
        let view = ProgressView(
            style: settings.style, terminal: settings.terminal,
            width: { Terminal.width(of: STDERR_FILENO) },
            isInForeground: { Terminal.isInForeground(of: STDERR_FILENO) },
            write: { StandardStreams.write($0, to: STDERR_FILENO) })
        self.init(settings, view: view) { StandardStreams.write($0, to: STDOUT_FILENO) }
    }

    /// Reports to a view and, as far as wanted, to `writeJSON`, which says whether it takes more.
    init(_ settings: Settings, view: ProgressView, writeJSON: @escaping (String) -> Bool) {
        self.settings = settings
        self.view = view
        file = nil
        output = JSONOutput(settings.json, write: writeJSON)
        emit("run", JSONEvents.Run(at: Date()))
    }

    /// Reports one of several files; `name` is shown until a better one is known.
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

    /// Reports an event; the end is left to ``finish(_:signal:)``.
    mutating func handle(_ event: DownloadEvent) {
        switch event {
        case .probed(let file): probed(file)
        case .started(let start): started(start)
        case .notice(let notice): noticed(notice)
        case .progress(let progress):
            view.show(progress, name: name)
            let tick = Units.whole(progress.elapsed.inSeconds * 10)
            // A new phase is reported at once: it may be the last that is heard for long.
            if tick != lastTick || progress.phase != lastPhase {
                emit("progress", JSONEvents.Progress(progress))
            }
            (lastTick, lastPhase) = (tick, progress.phase)
        case .finished: break
        }
    }

    /// Reports the end.
    ///
    /// - Returns: What segget ends with.
    mutating func finish(
        _ result: Result<DownloadedFile, DownloadError>, signal: Int32?
    ) -> ExitStatus {
        view.clear()
        switch result {
        case .success(let file):
            emit("finished", JSONEvents.Finished(file))
            say(.none, Summary(file, endIsProven: endIsProven).text)
            return .done
        case .failure(let error):
            let diagnostic = Diagnostic(
                error, signal: signal, typed: settings.typed.dropFirst((file ?? 1) - 1).first)
            emit("error", JSONEvents.Failure(error, diagnostic))
            // That several files were stopped is said once, at the end.
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
        name = start.path.split(separator: "/").last.map(String.init) ?? start.path
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

    /// Whether it is all there is to see: before the start, nothing else says why segget waits.
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
