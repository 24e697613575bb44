import ArgumentParser
import Assembler
import Glibc
import SeggetCommand
import SeggetQueue
import SeggetReports
import SeggetService
import SeggetAria2

/// `segget attach`: shows the progress of tasks like that of `segget get`.
struct AttachCommand: ParsableCommand {
    static let configuration = QueueCommandName.attach.configuration(
        discussion: """
            The output and the exit code are those of `segget get`; for several tasks, the exit code is that of the \
            worst failure. Ctrl-C detaches. However this command ends, the tasks stay in the queue and the worker \
            continues.
            """)

    @Argument(
        help: ArgumentHelp("Ids of tasks, or unique prefixes of them.", valueName: "id"),
        completion: .custom(Completions.ids))
    var ids: [String]
    @OptionGroup var display: DisplayOptions
    @Flag(help: "Print a JSON object for each change of a task (see docs/json.md).") var json:
        JSONFormat?
    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions

    func run() throws {
        let ids = ids
        let attachment = Attachment(display, json: json)
        try queue.run(atSignal: attachment.letGo) { access in
            var tasks: [QueueTask.ID] = []
            for selector in ids {
                let id = try await access.door.detail(selector).task.id
                if !tasks.contains(id) { tasks.append(id) }
            }
            return try await attachment.follow(tasks, access, areNew: false)
        }
    }
}

/// Shows the progress of tasks until all of them have ended.
final class Attachment: Sendable {
    private let display: DisplayOptions
    private let json: JSONFormat?
    /// The state that ``letGo()`` reports.
    private let shown = Monitor(Shown())

    private struct Shown {
        /// The tasks that have not ended.
        var ids: [QueueTask.ID] = []
        var isWorked = true
        /// Whether to print nothing more, because the process is ending.
        var isOver = false
    }

    /// The most tasks that are requested by id; for more, all tasks of the queue are requested.
    private static let mostIDs = 100

    /// Creates an attachment.
    ///
    /// - Parameters:
    ///   - display: The options for messages and progress.
    ///   - json: The format of `--json`, or `nil`.
    init(_ display: DisplayOptions, json: JSONFormat?) {
        (self.display, self.json) = (display, json)
    }

    /// Reports that the tasks continue, before a signal ends the process.
    func letGo() {
        shown.withLock { shown in
            shown.isOver = true
            let style = display.style(terminal: .standardError, json: json != nil)
            if style == .bar, Terminal.isInForeground(of: STDERR_FILENO) {
                StandardStreams.write("\r\u{1b}[J", to: STDERR_FILENO)
            }
            guard !display.quiet, let first = shown.ids.first else { return }
            let (tasks, goes) =
                shown.ids.count == 1
                ? ("task \(first)", "continues") : ("the \(shown.ids.count) tasks", "continue")
            let what =
                shown.isWorked ? "\(goes) in the background" : "\(goes) once a worker is running"
            Voice.say(.note, "\(tasks) \(what); `segget attach` shows the progress again")
        }
    }

    /// Shows tasks until they have ended.
    ///
    /// - Parameters:
    ///   - ids: The tasks, each one once.
    ///   - access: The access to the queue.
    ///   - areNew: Whether the tasks were just added.
    /// - Returns: The code of the worst failure.
    /// - Throws: `QueueError`, if the queue cannot be read, or its worker cannot be reached.
    func follow(
        _ ids: [QueueTask.ID], _ access: QueueAccess, areNew: Bool
    ) async throws -> ExitStatus {
        shown.withLock { $0.ids = ids }
        var board = AttachedTasks(ids, display, json: json, areNew: areNew) { text in
            self.shown.withLock { shown in
                guard !shown.isOver else { return }
                StandardStreams.write(text, to: STDERR_FILENO)
            }
        }
        let selection = ids.count <= Self.mostIDs ? ids.map(\.description) : []
        let filter = TaskFilter(selection: TaskSelection(ids: selection))
        let follow: @Sendable (@escaping @Sendable (State) -> Void) async throws -> Never = {
            take in
            try await access.watch(filter) { take(State(access: $0, report: $1)) }
        }
        return try await Following.newest(follow) { state in
            shown.withLock { $0.isWorked = state.access.worker != nil }
            defer { shown.withLock { $0.ids = board.open } }
            do {
                return try await board.show(state.report, state.access)
            } catch let error as QueueError where error.code == .worker {
                // The worker has ended: the next report comes from its successor, or from the
                // records.
                return nil
            }
        }
    }

    /// A report of the tasks, and the access that it came from.
    private struct State: Sendable {
        var access: QueueAccess
        var report: QueueReport
    }
}

/// The attached tasks, and their display.
private struct AttachedTasks {
    private let ids: [QueueTask.ID]
    private let json: JSONFormat?
    private let isQuiet: Bool
    private let clock = JSONOutput(nil) { _ in true }
    private let one: ProgressView
    private let several: BatchView?
    private var tasks: [QueueTask.ID: FollowedTask]
    private var last: [QueueTask.ID: TaskReport] = [:]
    private var isWorked = true

    /// Creates the display; `write` writes to standard error.
    init(
        _ ids: [QueueTask.ID], _ display: DisplayOptions, json: JSONFormat?, areNew: Bool,
        write: @escaping (String) -> Void
    ) {
        let terminal = Terminal.standardError
        let style = display.style(terminal: terminal, json: json != nil)
        (self.ids, self.json, isQuiet) = (ids, json, display.quiet)
        one = ProgressView(
            style: style, terminal: terminal, width: { Terminal.width(of: STDERR_FILENO) },
            isInForeground: { Terminal.isInForeground(of: STDERR_FILENO) }, write: write)
        several =
            ids.count < 2
            ? nil
            : BatchView(
                style: style, terminal: terminal, count: ids.count,
                size: { Terminal.size(of: STDERR_FILENO) },
                isInForeground: { Terminal.isInForeground(of: STDERR_FILENO) }, write: write)
        tasks = Dictionary(
            uniqueKeysWithValues: ids.map {
                (
                    $0,
                    FollowedTask(
                        $0, isVerbose: display.verbose, isNew: areNew, isAlone: ids.count == 1)
                )
            })
    }

    /// The tasks that have not ended.
    var open: [QueueTask.ID] { ids.filter { tasks[$0]?.end == nil } }

    /// Shows the state of the tasks.
    ///
    /// - Parameters:
    ///   - report: The tasks; those that are missing were removed.
    ///   - access: The access to the queue.
    /// - Returns: The exit code, once all tasks have ended.
    /// - Throws: `QueueError`.
    mutating func show(
        _ report: QueueReport, _ access: QueueAccess
    ) async throws -> ExitStatus? {
        let reports = Dictionary(
            report.tasks.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        var ended: [QueueTask.ID] = []
        for (index, id) in ids.enumerated() {
            guard var task = tasks[id], task.end == nil else { continue }
            let report = reports[id]
            let isNews = report != last[id]
            guard isNews || ids.count == 1 || report?.isFetched != false else { continue }
            let detail = report == nil ? nil : try await access.detail(of: id)
            let isWorked = access.worker != nil
            for message in task.take(detail, now: secondsSinceEpoch(), isWorked: isWorked) {
                say(message, of: ids.count > 1 ? task.name : nil)
            }
            (tasks[id], last[id]) = (task, report)
            // Print the newer details: after the result of a task, nothing more is printed.
            let present = detail?.task ?? report
            if let json, isNews || task.end != nil, let present,
                let line = JSONText.line(present, json, adding: \.withAria2Codes)
            {
                guard StandardStreams.write(line + "\n", to: STDOUT_FILENO) else {
                    return .readerGone
                }
            }
            let lane: any ProgressDisplay = several.map { BatchLane($0, index, clock) } ?? one
            if let progress = task.progress(elapsed: .seconds(clock.elapsed)) {
                lane.show(progress, name: task.name)
            }
            if let end = task.end {
                _ = several?.end(index, isDone: end == .done)
                if present?.seen == false { ended.append(id) }
            }
        }
        if isWorked, access.worker == nil, ids.contains(where: { last[$0]?.waitsForWorker == true })
        {
            say(Message(.note, QueueAccess.notWorked))
        }
        isWorked = access.worker != nil
        try await access.markSeen(ended)
        let ends = tasks.values.compactMap(\.end)
        guard ends.count == ids.count else { return nil }
        one.clear()
        several?.clear()
        return ends.reduce(.done) { $0.worse($1) }
    }

    private func say(_ message: Message, of name: String? = nil) {
        guard !isQuiet || [.error, .hint].contains(message.label) else { return }
        // An error and a summary contain the name of the file.
        let subject = message.label == .note ? name.map { "\(Diagnostic.quote($0)): " } : nil
        let line = Message(message.label, (subject ?? "") + message.text)
        if let several { several.print(line) } else { one.print(line) }
    }
}

extension QueueAccess {
    /// Returns the details of a task; `nil` if it was removed.
    fileprivate func detail(of id: QueueTask.ID) async throws(QueueError) -> TaskDetail? {
        do throws(QueueError) {
            return try await door.detail(id.description)
        } catch  where error.code == .noTask {
            return nil
        }
    }
}
