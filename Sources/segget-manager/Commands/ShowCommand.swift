import ArgumentParser
import Glibc
import SeggetCommand
import SeggetQueue
import SeggetReports
import SeggetService
import Segmenter
import SeggetAria2

/// `segget show`: prints the details of one task.
struct ShowCommand: ParsableCommand {
    static let configuration = QueueCommandName.show.configuration()

    @Argument(
        help: "Id of the task, or a unique prefix of it.", completion: .custom(Completions.ids))
    var id: String
    @Flag(help: "Print one JSON object (see docs/json.md).") var json: JSONFormat?
    @Flag(
        help: ArgumentHelp(
            "Print only the full URLs, one per line.",
            discussion: "They include queries, which may be secret; passwords are shown as `***`."))
    var link = false
    @Flag(
        help: ArgumentHelp(
            "List the files of a data set.",
            discussion: "At most `--limit` of them, after the first `--offset`."))
    var files = false
    @Option(
        help: ArgumentHelp(
            "List only files in this state; repeatable.",
            discussion: "One of \(ShowCommand.words.joined(separator: ", ")).",
            valueName: "state"),
        completion: .list(ShowCommand.words))
    var fileState: [String] = []
    @Option(help: ArgumentHelp("Number of files to skip.", valueName: "n")) var offset: Int?
    @Option(
        help: ArgumentHelp("Maximum number of files, 1 to 1000 (default: 100).", valueName: "n"))
    var limit: Int?
    /// The states of files.
    private static let words = TaskFile.State.allCases.map(\.rawValue)
    @Flag(help: "With `--json`: mark the result as seen.") var markSeen = false
    @Flag(help: "Update the output in place until Ctrl-C.") var watch = false
    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions

    func validate() throws {
        guard !markSeen || json != nil else {
            throw ValidationError("`--mark-seen` needs `--json`")
        }
        try WatchScreen.check(watch, json: json != nil)
        guard !link || !watch && !markSeen else {
            throw ValidationError(
                "`--link` cannot be used together with `--watch` or `--mark-seen`")
        }
        guard !files || !link && !watch && !markSeen else {
            throw ValidationError(
                "`--files` cannot be used together with `--link`, `--watch` or `--mark-seen`")
        }
        guard files || fileState.isEmpty && offset == nil && limit == nil else {
            throw ValidationError("`--file-state`, `--offset` and `--limit` need `--files`")
        }
        for state in fileState where TaskFile.State(rawValue: state) == nil {
            throw ValidationError(
                "there is no state `\(state)` of files; the states are "
                    + Self.words.joined(separator: ", "))
        }
        guard offset ?? 0 >= 0 else { throw ValidationError("`--offset` takes a number from 0") }
        guard (1...1000).contains(limit ?? 1) else {
            throw ValidationError("`--limit` takes 1 to 1000, not \(limit ?? 0)")
        }
    }

    func run() throws {
        let (id, json, link, markSeen, watch) = (id, json, link, markSeen, watch)
        let window = FileWindow(
            states: fileState.compactMap { TaskFile.State(rawValue: $0) }, offset: offset ?? 0,
            limit: limit ?? 100)
        let files = files
        let leave: (() -> Void)? = watch ? { OtherScreen.leave() } : nil
        try queue.run(atSignal: leave) { access in
            if files { return try await Self.printFiles(access, id, window, json: json) }
            let detail = try await access.door.detail(id)
            if link { return try await Self.printLinks(access, detail.task.id, json: json) }
            if watch { return try await Self.watch(access, detail.task.id) }
            let isTerminal = isatty(STDOUT_FILENO) == 1
            let text: String?
            if let json {
                text = JSONText.line(detail.forCommands, json, adding: \.withAria2Codes)
            } else {
                let page = DetailText.standardOutput(columns: nil)
                let some =
                    detail.task.files == nil
                    ? nil
                    : try await access.door.files(
                        detail.task.id.description, DetailText.filesShown)
                text = page.lines(detail, some).joined(separator: "\n")
            }
            guard let text, StandardStreams.write(text + "\n", to: STDOUT_FILENO) else {
                return .disk
            }
            if json != nil ? markSeen : isTerminal, detail.task.seen == false {
                try await access.markSeen([detail.task.id])
            }
            access.sayWhetherWorked([detail.task])
            return .done
        }
    }
}

extension ShowCommand {
    /// Prints a part of the files of a task.
    private static func printFiles(
        _ access: QueueAccess, _ id: String, _ window: FileWindow, json: JSONFormat?
    ) async throws -> ExitStatus {
        var part = try await access.door.files(id, window)
        for index in part.files.indices {
            guard let error = part.files[index].error else { continue }
            part.files[index].error?.hint = error.queueHint(part.id)
        }
        let text =
            json.map { JSONText.line(part, $0) }
            ?? DetailText.standardOutput(columns: nil).list(part, window).joined(separator: "\n")
        guard let text, StandardStreams.write(text + "\n", to: STDOUT_FILENO) else { return .disk }
        return .done
    }

    /// Prints the complete URLs of a task.
    private static func printLinks(
        _ access: QueueAccess, _ id: QueueTask.ID, json: JSONFormat?
    ) async throws -> ExitStatus {
        let filter = TaskFilter(selection: TaskSelection(id))
        guard let links = try await access.door.links(filter).first(where: { $0.id == id }) else {
            throw QueueError(
                .noTask, "task \(id) no longer exists", hint: "`segget list` shows the tasks")
        }
        let urls = [links.url] + links.urls.filter { $0 != links.url }
        let text =
            json.map { JSONText.line(links, $0) }
            ?? urls.map(PrintableText.escape).joined(separator: "\n")
        guard let text, StandardStreams.write(text + "\n", to: STDOUT_FILENO) else { return .disk }
        return .done
    }

    /// Shows a task, and redraws it until the process ends.
    private static func watch(
        _ access: QueueAccess, _ id: QueueTask.ID
    ) async throws -> ExitStatus {
        let screen = WatchScreen<(QueueAccess, TaskDetail)> { access, detail in
            let size = Terminal.size(of: STDOUT_FILENO)
            let text = DetailText.standardOutput(columns: size.columns - 1)
            let isWaiting = access.worker == nil && detail.task.waitsForWorker
            let note = isWaiting ? QueueAccess.notWorked : nil
            return WatchScreen.Page(lines: text.page(detail, note: note, rows: size.rows)) {
                guard detail.task.seen == false else { return }
                try await access.markSeen([detail.task.id])
            }
        }
        let filter = TaskFilter(selection: TaskSelection(id))
        return try await screen.run { show in
            try await access.watch(filter) { access, _ in
                show((access, try await access.door.detail(id.description)))
            }
        }
    }
}

extension DetailText {
    /// Creates the text for standard output.
    static func standardOutput(columns: Int?) -> DetailText {
        let terminal = Terminal.standardOutput
        return DetailText(
            columns: columns, now: secondsSinceEpoch(), unicode: terminal.unicode,
            colour: terminal.colour)
    }
}
