import ArgumentParser
import Assembler
import Glibc
import SeggetCommand
import SeggetQueue
import SeggetReports
import SeggetService
import Segmenter
import SeggetAria2

/// `segget list`: prints the table of tasks.
struct ListCommand: ParsableCommand {
    static let configuration = QueueCommandName.list.configuration(
        discussion: """
            Waiting tasks are listed in queue order, ended tasks after them. Results shown on a terminal are marked \
            as seen; results that `--json` prints only with `--mark-seen`.
            """)

    @Flag(help: "Print one JSON array of objects (see docs/json.md).") var json: JSONFormat?
    /// The words of states.
    private static let words = TaskStatus.Word.all.map(\.rawValue)

    @Flag(
        help: ArgumentHelp(
            "With `--json`: include the full URLs.",
            discussion: "They include queries, which may be secret; passwords are shown as `***`."))
    var links = false
    @Flag(help: "With `--json`: mark the printed results as seen.") var markSeen = false
    @Option(
        help: ArgumentHelp(
            "List only tasks in this state; repeatable.",
            discussion:
                "One of \(ListCommand.words.joined(separator: ", ")).",
            valueName: "state"),
        completion: .list(ListCommand.words))
    var state: [String] = []
    @Option(
        help: ArgumentHelp("List only tasks with this tag; repeatable.", valueName: "tag"),
        completion: .custom(Completions.tags))
    var tag: [String] = []
    @Option(
        help: ArgumentHelp(
            "List only tasks whose URL, name or folder contains this text.", valueName: "text"))
    var text: String?
    @Flag(help: "List only tasks whose result you have not seen yet.") var unseen = false
    @Flag(help: "Update the table in place until Ctrl-C.") var watch = false
    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions

    func validate() throws {
        for state in state where TaskStatus.Word(given: state) == nil {
            throw ValidationError(
                "there is no state `\(state)`; the states are \(Self.words.joined(separator: ", "))"
            )
        }
        guard !links || json != nil else { throw ValidationError("`--links` needs `--json`") }
        guard !markSeen || json != nil else {
            throw ValidationError("`--mark-seen` needs `--json`")
        }
        try WatchScreen.check(watch, json: json != nil)
    }

    private var filter: TaskFilter {
        var filter = TaskFilter(
            selection: TaskSelection(
                tags: tag, states: state.compactMap(TaskStatus.Word.init(given:))),
            text: text)
        filter.isUnseen = unseen
        return filter
    }

    func run() throws {
        let (filter, json, links, markSeen, watch) = (filter, json, links, markSeen, watch)
        let isFiltered = filter != TaskFilter()
        let leave: (() -> Void)? = watch ? { OtherScreen.leave() } : nil
        try queue.run(atSignal: leave) { access in
            let isTerminal = isatty(STDOUT_FILENO) == 1
            if watch { return try await Self.watch(access, filter) }
            let report = try await access.report(filter)
            let ended = report.tasks.filter { $0.seen == false }
            if let json {
                let all = links ? try await access.door.links(filter) : []
                let byID = Dictionary(all.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
                let tasks = report.tasks.map { LinkedTask(task: $0, links: byID[$0.id]) }
                guard let text = JSONText.line(tasks, json, adding: \.withAria2Codes),
                    StandardStreams.write(text + "\n", to: STDOUT_FILENO)
                else { return .disk }
                if markSeen { try await access.markSeen(ended.map(\.id)) }
                return .done
            }
            let table = TaskTable.standardOutput(
                columns: isTerminal ? Terminal.width(of: STDOUT_FILENO) : nil)
            let page = ListPage(report, isFiltered: isFiltered, in: table)
            guard
                StandardStreams.write(
                    page.lines.joined(separator: "\n") + "\n", to: STDOUT_FILENO)
            else { return .disk }
            if isTerminal { try await access.markSeen(ended.map(\.id)) }
            access.sayWhetherWorked(report.tasks)
            return .done
        }
    }
}

extension ListCommand {
    /// Shows the table, and redraws it until the process ends.
    private static func watch(
        _ access: QueueAccess, _ filter: TaskFilter
    ) async throws -> ExitStatus {
        let ends = Monitor(ShownEnds())
        let screen = WatchScreen<(QueueAccess, QueueReport)> { shown in
            let access = shown.0
            var report = shown.1
            report.unseen = ends.withLock { $0.counted(with: report) }
            let size = Terminal.size(of: STDOUT_FILENO)
            // The last column stays free, because erasing the rest of a line would erase its
            // character.
            let table = TaskTable.standardOutput(columns: size.columns - 1)
            var page = ListPage(report, isFiltered: filter != TaskFilter(), in: table)
            if access.worker == nil, report.tasks.contains(where: \.waitsForWorker) {
                page.rest.append(table.fit(QueueAccess.notWorked))
            }
            let (lines, count) = page.cut(to: size.rows, in: table)
            let tasks = report.tasks.prefix(count)
            return WatchScreen.Page(lines: lines) {
                try await access.markSeen(ends.withLock { $0.show(tasks) })
            }
        }
        return try await screen.run { show in
            try await access.watch(filter) { access, report in show((access, report)) }
        }
    }
}

extension TaskTable {
    /// Creates the table for standard output.
    static func standardOutput(columns: Int?) -> TaskTable {
        let terminal = Terminal.standardOutput
        return TaskTable(
            columns: columns, unicode: terminal.unicode, colour: terminal.colour,
            now: secondsSinceEpoch())
    }
}

/// Returns the seconds since 1970.
func secondsSinceEpoch() -> Double {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
}
