// Display: tables and texts about tasks, for a terminal. This folder knows reports and columns, but
// not where they come from.

import SeggetQueue
import SeggetReports
import Segmenter

/// The table of `segget list`.
///
/// Pure.
struct TaskTable {
    /// The columns of the terminal; `nil` without a terminal, which does not cut names.
    var columns: Int?
    /// Whether the terminal can show Unicode characters.
    var unicode: Bool
    /// Whether colours are wanted.
    var colour: Bool
    /// The time, in seconds since 1970.
    var now: Double

    /// A column between the state and the name.
    private enum Column: CaseIterable {
        case bar, done, size, speed, left

        var width: Int {
            switch self {
            case .bar, .size: 8
            case .done: 5
            case .speed: 10
            case .left: 6
            }
        }

        /// The order in which columns are omitted on a narrow terminal, so that the name fits.
        static let dispensable: [Column] = [.bar, .left, .speed, .size, .done]
    }

    private static let barWidth = 8
    /// The least width of the state, in columns.
    private static let stateWidth = 9
    /// The least width of the name, in columns, as long as other columns can be omitted.
    private static let nameWidth = 16

    /// Returns the head, and the lines of each task: its row, and the reason if it failed or is
    /// retried.
    func blocks(_ report: QueueReport) -> (head: String, tasks: [[String]]) {
        let ids = report.tasks.map(\.id.description)
        let digits = Self.digits(ids)
        let words = report.tasks.map { TaskText.word($0, now: now) }
        let stateWidth = words.reduce(Self.stateWidth) { max($0, $1.utf8.count) }
        let shown = shown(digits: digits, stateWidth: stateWidth)
        let heads: [Column: String] = [
            .done: "DONE", .size: "SIZE", .speed: "SPEED", .left: "LEFT",
        ]
        let head = row(
            String(repeating: " ", count: max(0, digits - 2)) + "ID", "STATE", stateWidth,
            heads, "NAME", shown)
        let tags = report.tasks.tellingTags
        let tasks = report.tasks.indices.map { index in
            let task = report.tasks[index]
            let line = line(
                task, id: ids[index].utf8.prefix(digits), word: words[index], stateWidth,
                queryTag: tags[task.id], shown)
            let indent = String(repeating: " ", count: digits + 1)
            return [line] + (TaskText.reason(task).map { [fit(indent + $0)] } ?? [])
        }
        return (paint(head, "1"), tasks)
    }

    /// Returns the columns that fit beside the name.
    private func shown(digits: Int, stateWidth: Int) -> Set<Column> {
        var shown = Set(Column.allCases)
        guard let columns else { return shown }
        for column in Column.dispensable {
            let used = digits + stateWidth + 2 + shown.reduce(0) { $0 + $1.width + 1 }
            guard columns - used < Self.nameWidth else { break }
            shown.remove(column)
        }
        return shown
    }

    /// Returns the number of digits that distinguish all ids, at least 4.
    static func digits(_ ids: [String]) -> Int {
        var digits = 4
        let sorted = ids.sorted()
        for (one, other) in zip(sorted, sorted.dropFirst()) {
            let common = zip(one.utf8, other.utf8).prefix { $0 == $1 }.count
            digits = max(digits, common + 1)
        }
        return min(16, digits)
    }

    private func line(
        _ task: TaskReport, id: Substring.UTF8View, word: String, _ stateWidth: Int,
        queryTag: String?, _ shown: Set<Column>
    ) -> String {
        let isFetched = task.bytesPerSecond != nil
        let left = task.secondsLeft.flatMap { Units.duration(.seconds($0)) } ?? ""
        let percent = Units.percent(task.bytesDone, of: task.size)
        let done =
            percent.map { "\($0) %" } ?? (task.bytesDone > 0 ? Units.size(task.bytesDone) : "")
        var texts: [Column: String] = [
            .bar: bar(task), .done: done, .size: task.size.map(Units.size) ?? "",
        ]
        if isFetched {
            texts[.speed] = Units.speed(task.bytesPerSecond ?? 0)
            texts[.left] = left
        }
        return row(
            String(Substring(id)), word, stateWidth, texts,
            TaskText.name(task) + (queryTag.map { "?#\($0)" } ?? "")
                + (TaskText.files(task).map { "  \($0)" } ?? ""), shown,
            colour: colour ? TaskText.colour(task) : nil)
    }

    private func row(
        _ id: String, _ state: String, _ stateWidth: Int, _ texts: [Column: String],
        _ name: String, _ shown: Set<Column>, colour code: String? = nil
    ) -> String {
        // All texts except the bar and the name are ASCII.
        func padding(_ used: Int, _ width: Int) -> String {
            String(repeating: " ", count: max(0, width - used))
        }
        var line = "\(id) \(state)\(padding(state.utf8.count, stateWidth)) "
        var used = line.utf8.count
        for column in Column.allCases where shown.contains(column) {
            let text = texts[column] ?? ""
            let cells = column == .bar ? (text.isEmpty ? 0 : Self.barWidth) : text.utf8.count
            let space = padding(cells, column.width)
            line += (column == .bar ? text + space : space + text) + " "
            used += max(cells, column.width) + 1
        }
        if let columns, columns - used >= 8 {
            line += PrintableText.fit(name, columns: columns - used, unicode: unicode)
        } else {
            // Not even the columns before the name fit.
            line = fit(line + name)
        }
        // Only the state is coloured, and its word says the same as the colour.
        let start = "\(id) \(state)"
        guard let code, line.hasPrefix(start) else { return line }
        return "\(id) \u{1b}[\(code)m\(state)\u{1b}[0m\(line.dropFirst(start.count))"
    }

    /// Returns a line, cut at the width of the terminal.
    func fit(_ line: String) -> String {
        columns.map { PrintableText.fit(line, columns: $0, unicode: unicode) }
            ?? PrintableText.escape(line)
    }

    private func bar(_ task: TaskReport) -> String {
        guard let size = task.size, size > 0 else { return "" }
        let share = Double(min(max(0, task.bytesDone), size)) / Double(size)
        // The bar is full only if the file is complete.
        let full = task.bytesDone >= size ? Self.barWidth : min(Self.barWidth - 1, Int(share * 8))
        let (done, rest) = unicode ? ("█", "░") : ("#", ".")
        return String(repeating: done, count: full)
            + String(repeating: rest, count: Self.barWidth - full)
    }

    private func paint(_ text: String, _ code: String) -> String {
        colour ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text
    }

    /// Returns the line below the table: the number of tasks in each state, and the total speed.
    func summary(_ report: QueueReport) -> String {
        let states: [TaskStatus.Word] = [
            .running, .verifying, .waiting, .paused, .retrying, .waitingForNetwork, .completed,
            .failed, .cancelled,
        ]
        var text = states.compactMap { state in
            report.counts[state].flatMap { $0 > 0 ? "\($0) \(state.text)" : nil }
        }.joined(separator: ", ")
        if text.isEmpty { text = "nothing" }
        if report.bytesPerSecond > 0 { text += "; \(Units.speed(report.bytesPerSecond))" }
        return text
    }
}
