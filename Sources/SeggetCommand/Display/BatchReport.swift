import FoundationEssentials
import Glibc
import SeggetReports
import Segmenter

/// Reports the progress and results of a batch, as ``DownloadReport`` does for one file.
struct BatchReport {
    private let settings: DownloadReport.Settings
    private let view: BatchView
    private let output: JSONOutput
    /// The reports of the active files, by their position in the list.
    private var reports: [Int: DownloadReport] = [:]
    private var summary: BatchSummary

    /// Creates a report to the standard streams: of `count` files, or of a set.
    init(_ settings: DownloadReport.Settings, count: Int, set: SetFigures? = nil) {
        let view = BatchView(
            style: settings.style, terminal: settings.terminal, count: count,
            set: set.map { BatchLines.SetBytes($0) },
            size: { Terminal.size(of: STDERR_FILENO) },
            isInForeground: { Terminal.isInForeground(of: STDERR_FILENO) },
            write: { StandardStreams.write($0, to: STDERR_FILENO) })
        self.init(settings, count: count, complete: set?.complete, view: view) {
            StandardStreams.write($0, to: STDOUT_FILENO)
        }
    }

    /// Creates a report to a view and, for `--json`, to `writeJSON`.
    ///
    /// `writeJSON` returns whether its output is still open.
    init(
        _ settings: DownloadReport.Settings, count: Int, complete: Int? = nil, view: BatchView,
        writeJSON: @escaping (String) -> Bool
    ) {
        self.settings = settings
        self.view = view
        output = JSONOutput(settings.json, write: writeJSON)
        summary = BatchSummary(count: count, complete: complete)
        output.emit("run", JSONEvents.Run(at: Date(), files: count))
    }

    /// Reports an event of one file.
    mutating func handle(_ event: BatchEvent, signal: Int32?) {
        let (index, file) = (event.index, event.index + 1)
        switch event.kind {
        case .begun(let url):
            let name = Self.name(in: url)
            view.begin(index, name: name, now: output.elapsed)
            reports[index] = DownloadReport(
                settings, view: BatchLane(view, index, output), output: output, file: file,
                name: name)
            output.emit("begun", JSONEvents.Begun(url: url), file: file)
        case .event(let event):
            reports[index]?.handle(event)
        case .ended(let result):
            let received = view.end(index, isDone: (try? result.get()) != nil)
            summary.add(result, of: index, received: received, signal: signal)
            _ = reports[index]?.finish(result, signal: signal)
            reports[index] = nil
        }
    }

    /// Removes a file that starts over as another one; nothing is reported.
    mutating func withdraw(_ index: Int) {
        _ = view.end(index, isDone: nil)
        reports[index] = nil
    }

    /// Returns the last part of a URL that is not empty.
    private static func name(in url: String) -> String {
        let isSlash: (UInt8) -> Bool = { $0 == UInt8(ascii: "/") }
        guard let last = url.utf8.lastIndex(where: { !isSlash($0) }) else { return "?" }
        let start = url.utf8[..<last].lastIndex(where: isSlash).map(url.utf8.index(after:))
        return String(url[(start ?? url.startIndex)...last])
    }

    /// Reports what is to be done for a set.
    ///
    /// - Parameters:
    ///   - name: The name of the set.
    ///   - path: The path of its folder.
    ///   - figures: How far it is.
    ///   - work: What is to be done.
    mutating func begin(
        set name: String, in path: String, _ figures: SetFigures, _ work: SetWork
    ) {
        output.emit("set", JSONEvents.SetStart(set: name, path: path, figures, work))
        if settings.detail != .errors, let text = SetWords.begin(figures, work) {
            view.print(Message(.none, text))
        }
        for file in work.foreign { keep(SetWords.kept("\(path)/\(file)"), as: .cannotCreate) }
        if !work.foreign.isEmpty { view.print(Message(.hint, SetWords.keptHint)) }
    }

    /// Reports a file that stays as it is; `status` is the exit code for it.
    mutating func keep(_ message: String, as status: ExitStatus) {
        summary.keep(message, as: status)
        view.print(Message(.error, message))
    }

    /// Records the number of complete files of a set to which other processes have contributed.
    mutating func settle(complete: Int) { summary.settle(complete: complete) }

    /// Removes the lines of the files, without a summary.
    func clear() { view.clear() }

    /// Prints a message above the lines of the files.
    func print(_ message: Message) { view.print(message) }

    /// Whether all files of the set are complete.
    var isComplete: Bool { summary.status(signal: nil) == .done }

    /// Reports the end of the batch.
    ///
    /// - Parameters:
    ///   - signal: The signal that stopped it.
    ///   - path: The path of what was asked for, if it is in the Hub's cache and complete.
    ///   - unchecked: The number of files there that were not read.
    /// - Returns: The exit status of segget.
    mutating func finish(signal: Int32?, path: String? = nil, unchecked: Int = 0) -> ExitStatus {
        view.clear()
        let seconds = output.elapsed
        let status = summary.status(signal: signal)
        output.emit(
            "summary",
            JSONEvents.Summary(
                summary, seconds: seconds, status: status, path: path, unchecked: unchecked))
        if settings.detail != .errors, summary.count > 1 {
            for line in summary.lines(seconds: seconds) { view.print(Message(.none, line)) }
        }
        for message in summary.stop(signal: signal) { view.print(message) }
        if let path, settings.detail != .errors {
            view.print(HubWords.saved(path, unchecked: unchecked))
        }
        return status
    }
}
