import ArgumentParser
import Glibc
import SeggetCommand
import SeggetQueue
import SeggetReports
import Segmenter

/// The log of a service on standard error: one line for each event.
///
/// In systemd's journal, each line starts with its priority (sd-daemon(3)); elsewhere, with the
/// time. No line contains a query, a header or a password.
struct ServiceLog: Sendable {
    /// The priority of a line (syslog(3)).
    enum Priority: Int, Sendable {
        case error = 3
        case warning = 4
        case notice = 5
        case info = 6
    }

    private let isJournal: Bool

    /// Creates the log; `$JOURNAL_STREAM` shows whether standard error is systemd's journal.
    init() {
        var status = stat()
        let stream = getenv("JOURNAL_STREAM").map { String(cString: $0) }
        isJournal =
            fstat(STDERR_FILENO, &status) == 0 && stream == "\(status.st_dev):\(status.st_ino)"
    }

    /// Redirects standard error and standard output to the end of a file.
    ///
    /// - Throws: `ValidationError`, if the file cannot be opened.
    static func append(to path: String) throws {
        let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            throw ValidationError(
                "\(Diagnostic.quote(path)) cannot be opened: \(Diagnostic.describe(errno: errno))")
        }
        defer { close(file) }
        for stream in [STDOUT_FILENO, STDERR_FILENO] { dup2(file, stream) }
    }

    /// Writes a line.
    func say(_ priority: Priority, _ text: String) {
        let text = PrintableText.escape(text)
        let start = isJournal ? "<\(priority.rawValue)>" : "\(Self.time()) \(Self.word(priority))"
        StandardStreams.write("\(start)\(text)\n", to: STDERR_FILENO)
    }

    private static func word(_ priority: Priority) -> String {
        switch priority {
        case .error: "error: "
        case .warning: "warning: "
        case .notice, .info: ""
        }
    }

    /// Returns the local time, such as `2026-01-31 18:59:07`.
    private static func time() -> String {
        var (now, parts) = (Glibc.time(nil), tm())
        localtime_r(&now, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let count = strftime(&text, text.count, "%Y-%m-%d %H:%M:%S", &parts)
        return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Logs the events of a queue until they end.
    func follow(_ events: AsyncStream<QueueEvent>) async {
        var states = ReportedStates()
        for await event in events {
            switch event {
            case .changed(let task): if let before = states.take(task) { tell(task, before) }
            case .notice(let id, let event) where event.isNetworkBack:
                say(.notice, "\(id): \(event.message)")
            case .removed(let id): states.forget(id)
            default: break
            }
        }
    }

    private func tell(_ task: TaskReport, _ before: TaskStatus.Word) {
        let news = TaskNews(task)
        // A task that waited for the network continues: the log already has the network's return.
        let begins = task.state == .running && before != .waitingForNetwork
        guard let text = news.text ?? (begins ? "\(news.name): running" : nil) else { return }
        let priority: Priority =
            switch task.state {
            case .failed: .error
            case .retrying, .waitingForNetwork: .warning
            case .completed: .notice
            default: .info
            }
        let hint =
            task.state == .failed ? task.error.map { "; \($0.queueHint(task.id))" } ?? "" : ""
        say(priority, "\(task.id): \(text)\(hint)")
    }
}
