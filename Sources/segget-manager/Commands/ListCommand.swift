import ArgumentParser
import Glibc
import SeggetCommand
import SeggetQueue
import SeggetReports
import SeggetService
import Segmenter

/// `segget list`: the table of tasks.
struct ListCommand: ParsableCommand {
    static let configuration = QueueCommandName.list.configuration(
        discussion: """
            Tasks that wait stand in their order, those that have ended behind them. Ends that this shows on a \
            terminal count as seen; what `--json` prints does with `--mark-seen` only.
            """)

    @Flag(help: "Print one JSON array of objects (see docs/json.md).") var json = false
    @Flag(help: "With `--json`: the ends that are printed count as seen.") var markSeen = false
    @Option(
        help: ArgumentHelp(
            "Only tasks in this state; repeatable.",
            discussion:
                "\(TaskStatus.State.words.joined(separator: ", ")), or held.",
            valueName: "state"),
        completion: .list(TaskStatus.State.words + ["held"]))
    var state: [String] = []
    @Option(
        help: ArgumentHelp("Only tasks with this tag; repeatable.", valueName: "tag"),
        completion: .custom(Completions.tags))
    var tag: [String] = []
    @Option(
        help: ArgumentHelp("Only tasks with this text in URL, name or folder.", valueName: "text"))
    var text: String?
    @Flag(help: "Only tasks that have ended since you last looked.") var unseen = false
    @Flag(help: "Show the table again and again, in place, until Ctrl-C.") var watch = false
    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions

    func validate() throws {
        let known = TaskStatus.State.words + ["held"]
        for state in state where !known.contains(state) {
            throw ValidationError(
                "there is no state `\(state)`: they are \(known.joined(separator: ", "))")
        }
        guard !markSeen || json else { throw ValidationError("`--mark-seen` goes with `--json`") }
        guard !watch || !json else {
            throw ValidationError("`--watch` and `--json` cannot be used together")
        }
    }

    private var filter: TaskFilter {
        var filter = TaskFilter(selection: TaskSelection(tags: tag, states: state), text: text)
        filter.isUnseen = unseen
        return filter
    }

    func run() throws {
        let (filter, json, markSeen, watch) = (filter, json, markSeen, watch)
        let isFiltered = filter != TaskFilter()
        try queue.run { access in
            let isTerminal = isatty(STDOUT_FILENO) == 1
            if watch, isTerminal { return try await Watch(access: access, filter: filter).run() }
            let report = try await access.report(filter)
            let ended = report.tasks.filter { $0.seen == false }
            if json {
                guard let text = JSONText.line(report.tasks),
                    StandardStreams.write(text + "\n", to: STDOUT_FILENO)
                else { return .disk }
                if markSeen { try await access.markSeen(ended.map(\.id)) }
                return .done
            }
            var lines = ListText(isTerminal: isTerminal).lines(report, isFiltered: isFiltered)
            if report.worker == nil,
                report.tasks.contains(where: { !$0.isEnded && $0.wanted == .run })
            {
                lines.append(QueueAccess.notWorked)
            }
            guard
                StandardStreams.write(
                    lines.joined(separator: "\n") + "\n", to: STDOUT_FILENO)
            else { return .disk }
            if isTerminal { try await access.markSeen(ended.map(\.id)) }
            return .done
        }
    }
}

/// What `segget list` prints.
struct ListText {
    var isTerminal: Bool

    /// The table with its summary, or that there is nothing to show.
    func lines(_ report: QueueReport, isFiltered: Bool) -> [String] {
        guard !report.tasks.isEmpty else {
            return [
                isFiltered
                    ? "no task is like that"
                    : "the queue is empty: `segget add URL` adds a download"
            ]
        }
        let terminal = Terminal.standardOutput
        let table = TaskTable(
            columns: isTerminal ? Terminal.width(of: STDOUT_FILENO) : nil,
            unicode: terminal.unicode, colour: terminal.colour, now: secondsSinceEpoch())
        var lines = table.lines(report)
        lines.append(table.summary(report))
        let ends = ["completed", "failed"].compactMap { state in
            report.unseen[state].flatMap {
                $0 > 0 ? "\($0) \(state == "completed" ? "finished" : state)" : nil
            }
        }
        if !ends.isEmpty { lines.append("\(ends.joined(separator: ", ")) since you last looked") }
        return lines
    }
}

/// Seconds since 1970.
func secondsSinceEpoch() -> Double {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
}

/// The table, drawn again and again in place.
struct Watch: Sendable {
    let access: QueueAccess
    let filter: TaskFilter

    /// Draws until the process is ended, or the terminal takes no more.
    func run() async throws -> ExitStatus {
        // Another screen: what was printed before is there again afterwards.
        let (enter, leave) = ("\u{1b}[?1049h\u{1b}[?25l", "\u{1b}[?25h\u{1b}[?1049l")
        let interrupts = Interrupts()
        Task.detached {
            interrupts.wait(stop: {
                StandardStreams.write(leave, to: STDOUT_FILENO)
                return false
            })
        }
        guard StandardStreams.write(enter, to: STDOUT_FILENO) else { return .disk }
        defer { StandardStreams.write(leave, to: STDOUT_FILENO) }
        while true {
            let report = try await access.report(filter)
            let size = Terminal.size(of: STDOUT_FILENO)
            var lines = ListText(isTerminal: true).lines(report, isFiltered: filter != TaskFilter())
            if lines.count > size.rows {
                // The summary stays in sight.
                let rest = lines.count - size.rows + 1
                let tail = lines.suffix(1)
                lines = Array(lines.prefix(max(0, size.rows - 2)))
                lines += ["… and \(rest) more"] + tail
            }
            // Line by line over what is there, so that nothing flickers; what is left behind is cleared.
            let frame =
                "\u{1b}[H" + lines.map { $0 + "\u{1b}[K" }.joined(separator: "\r\n") + "\u{1b}[J"
            guard StandardStreams.write(frame, to: STDOUT_FILENO) else { return .disk }
            try await access.markSeen(report.tasks.filter { $0.seen == false }.map(\.id))
            try await Task.sleep(for: .milliseconds(250))
        }
    }
}
