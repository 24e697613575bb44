import SeggetQueue
import SeggetReports

/// The output of `segget list`: a table, and lines below it.
///
/// Pure.
struct ListPage {
    /// The head of the table; empty without tasks.
    var head: [String] = []
    /// The lines of each task.
    var tasks: [[String]] = []
    /// The number of tasks in each state, or a note that there are none.
    var summary: String
    /// The other lines below the table.
    var rest: [String] = []

    /// Creates the page of a report.
    init(_ report: QueueReport, isFiltered: Bool, in table: TaskTable) {
        guard !report.tasks.isEmpty else {
            summary = table.fit(
                isFiltered
                    ? "no task matches"
                    : "the queue is empty: `segget add URL` adds a download")
            return
        }
        let blocks = table.blocks(report)
        (head, tasks) = ([blocks.head], blocks.tasks)
        summary = table.fit(table.summary(report))
        let ends = [(.completed, "finished"), (.failed, "failed")].compactMap {
            (state: TaskStatus.Word, word) in
            report.unseen[state].flatMap { $0 > 0 ? "\($0) \(word)" : nil }
        }
        if let reason = report.pauseReason {
            rest.append(table.fit("the queue is paused: \(reason)"))
        }
        if !ends.isEmpty {
            rest += [table.fit("\(ends.joined(separator: ", ")) since you last looked")]
        }
    }

    /// All lines.
    var lines: [String] { table + [summary] + rest }

    /// The head of the table and the lines of all tasks.
    private var table: [String] { head + tasks.flatMap { $0 } }

    /// Returns as many lines as fit: those below the table, and the first tasks.
    ///
    /// - Parameters:
    ///   - rows: The rows of the terminal.
    ///   - style: The style of the table.
    /// - Returns: The lines, and the number of tasks among them.
    func cut(to rows: Int, in style: TaskTable) -> (lines: [String], tasks: Int) {
        let below = [summary] + rest
        guard table.count + below.count > rows else { return (lines, tasks.count) }
        var room = rows - below.count - 1 - head.count
        let shown = tasks.prefix { task in
            room -= task.count
            return room >= 0
        }
        // Omit a head without tasks.
        guard !shown.isEmpty else { return (Array(below.prefix(rows)), 0) }
        let count = tasks.count - shown.count
        let more = style.fit("\(style.unicode ? "…" : "...") and \(count) more")
        return (head + shown.flatMap { $0 } + [more] + below, shown.count)
    }
}

/// The results that a watch has shown, which it counts until it ends.
struct ShownEnds {
    private var states: [QueueTask.ID: TaskStatus.Word] = [:]

    /// Records that tasks are shown.
    ///
    /// - Returns: The tasks whose result was unseen.
    mutating func show(_ tasks: some Sequence<TaskReport>) -> [QueueTask.ID] {
        let ended = tasks.filter { $0.seen == false }
        for task in ended { states[task.id] = task.state }
        return ended.map(\.id)
    }

    /// Returns the numbers of shown or unseen results, by state.
    func counted(with report: QueueReport) -> [TaskStatus.Word: Int] {
        let unseen = Set(report.tasks.lazy.filter { $0.seen == false }.map(\.id))
        return states.reduce(into: report.unseen) { counts, end in
            if !unseen.contains(end.key) { counts[end.value, default: 0] += 1 }
        }
    }
}
