import SeggetReports
import Testing

@testable import SeggetQueue
@testable import segget_manager

struct ListPageTests {
    /// Returns an id that four digits distinguish from those of other numbers below 256.
    private static func id(_ number: Int) -> QueueTask.ID {
        let digits = String(number, radix: 16)
        let padded = String(repeating: "0", count: 2 - digits.utf8.count) + digits
        return QueueTask.ID("7a\(padded)c0ffee000000") ?? QueueTask.ID()
    }

    private static func report(
        _ count: Int, unseen: [TaskStatus.Word: Int] = [:]
    ) -> QueueReport {
        let tasks = (0..<count).map { number in
            TaskReport(
                id: id(number), state: number < count / 2 ? "waiting" : "completed",
                wanted: .run, url: "http://127.0.0.1/\(number)",
                path: "/a/\(String(repeating: "long ", count: number))", folder: "/a",
                bytesDone: 5, size: 10, attempts: 0, added: 0, digests: [], tags: [],
                seen: number < count / 2 ? nil : false, file: "there")
        }
        let counts: [TaskStatus.Word: Int] = [
            "running": 1000, "waiting": 1000, "paused": 1000, "retrying": 1000,
            "waiting_for_network": 1000, "completed": 1000, "failed": 1000, "cancelled": 1000,
        ]
        return QueueReport(
            version: "1", worker: nil, tasks: tasks,
            QueueView(counts: counts, unseen: unseen, bytesPerSecond: 1e9))
    }

    private static func table(_ columns: Int?, colour: Bool = false) -> TaskTable {
        TaskTable(columns: columns, unicode: true, colour: colour, now: 0)
    }

    @Test(arguments: [1, 9, 20, 40, 64, 65, 66, 80, 200]) func linesFitTheWidth(columns: Int) {
        let report = Self.report(30, unseen: ["completed": 1_000_000, "failed": 1_000_000])
        let page = ListPage(report, isFiltered: false, in: Self.table(columns))
        #expect(page.lines.count == 33)
        for line in page.lines { #expect(PrintableText.width(line) <= columns, "\(line)") }
        // Colours take no columns.
        let coloured = ListPage(report, isFiltered: false, in: Self.table(columns, colour: true))
        let plain = coloured.lines.map { $0.replacing(#/\u{1b}\[[0-9]+m/#, with: "") }
        #expect(plain == page.lines)
        let empty = ListPage(Self.report(0), isFiltered: false, in: Self.table(columns))
        for line in empty.lines { #expect(PrintableText.width(line) <= columns, "\(line)") }
    }

    @Test func textBelowTheTableStaysVisible() {
        let report = Self.report(30, unseen: ["failed": 1])
        let table = Self.table(80)
        let page = ListPage(report, isFiltered: false, in: table)
        let whole = page.cut(to: 33, in: table)
        #expect(whole.lines == page.lines && whole.tasks == 30)
        let (lines, tasks) = page.cut(to: 24, in: table)
        #expect(lines.count == 24 && tasks == 20)
        #expect(lines.prefix(21) == page.lines.prefix(21))
        #expect(
            lines.suffix(3) == ["… and 10 more", page.summary, "1 failed since you last looked"])
        #expect(page.cut(to: 5, in: table).tasks == 1)
        for rows in 0...4 {
            let small = page.cut(to: rows, in: table)
            #expect(small.lines.count <= rows && small.tasks == 0)
            #expect(rows == 0 || small.lines.first == page.summary)
        }
    }

    /// Returns a page with long names, and with tasks that have failed or are retried.
    private static func troubled(_ columns: Int?) -> ListPage {
        var report = Self.report(4)
        let message =
            "`http://127.0.0.1/3` could not be downloaded: 503 Service Unavailable (3 attempts)"
        for index in report.tasks.indices {
            report.tasks[index].path = "/a/debian-13.1.0-amd64-netinst.iso"
            report.tasks[index].error = TaskProblem(
                kind: "unavailable", message: message, hint: "", code: 69)
        }
        report.tasks[0].state = "retrying"
        report.tasks[0].retryAt = 57
        report.tasks[1].state = "failed"
        return ListPage(report, isFiltered: false, in: Self.table(columns))
    }

    @Test(arguments: [40, 80, 120])
    func nameAndReasonAreShownInEveryWidth(columns: Int) {
        let page = Self.troubled(columns)
        #expect(page.tasks.map(\.count) == [2, 2, 1, 1])
        #expect(page.tasks[0][0].contains("retrying 57s"), "\(page.tasks[0])")
        for lines in page.tasks {
            #expect(lines[0].contains("debian-13.1"), "\(lines)")
            for line in lines { #expect(PrintableText.width(line) <= columns, "\(line)") }
        }
        for lines in page.tasks.prefix(2) {
            #expect(lines[1].hasPrefix("     503 Service Unavailable (3"), "\(lines)")
        }
        #expect(page.head[0].contains("NAME") && page.head[0].contains("SPEED") == (columns > 40))
    }

    @Test func rowsAreTruncatedWithTheirReason() {
        let page = Self.troubled(80)
        let table = Self.table(80)
        // The heading, "and N more" and the summary leave three lines.
        let (lines, tasks) = page.cut(to: 6, in: table)
        #expect(tasks == 1 && lines.count == 5, "\(lines)")
        #expect(lines[3] == "… and 3 more")
        #expect(page.cut(to: 7, in: table).tasks == 2)
    }

    @Test(arguments: [
        (0.0, "retrying 0s"), (57, "retrying 57s"), (59.4, "retrying 59s"), (60, "retrying 1m"),
        (3599, "retrying 59m"), (7200, "retrying 2h"), (200_000, "retrying 2d"),
        (1e8, "retrying"),
    ])
    func timeUntilRetryIsShort(seconds: Double, word: String) {
        var task = Self.report(1).tasks[0]
        (task.state, task.retryAt) = ("retrying", seconds)
        #expect(TaskText.word(task, now: 0) == word)
    }

    @Test func reasonFollowsTheURL() {
        var task = Self.report(1).tasks[0]
        task.state = "failed"
        for (message, reason) in [
            ("`http://h/x` could not be downloaded: it broke: twice", "it broke: twice"),
            ("the server refused access to `https://h/x`: 403 Forbidden", "403 Forbidden"),
            ("`x.iso` exists already", "`x.iso` exists already"),
            (
                "`http://h/a: b` redirects more than 3 times",
                "`http://h/a: b` redirects more than 3 times"
            ),
        ] {
            task.error = TaskProblem(kind: "k", message: message, hint: "", code: 1)
            #expect(TaskText.reason(task) == reason)
        }
        task.state = "running"
        #expect(TaskText.reason(task) == nil)
    }

    @Test func watchReportsEndedTasks() {
        var ends = ShownEnds()
        var report = Self.report(4, unseen: ["completed": 2])
        #expect(ends.counted(with: report) == ["completed": 2])
        // Only one of the two fits.
        #expect(ends.show(report.tasks.prefix(3)) == [report.tasks[2].id])
        report.tasks[2].seen = true
        report.unseen = ["completed": 1]
        #expect(ends.counted(with: report) == ["completed": 2])
        #expect(ends.show(report.tasks.prefix(3)).isEmpty)
        // The task is downloaded again, and fails.
        report.tasks[2].seen = false
        report.tasks[2].state = "failed"
        report.unseen = ["completed": 1, "failed": 1]
        #expect(ends.counted(with: report) == ["completed": 1, "failed": 1])
    }
}
