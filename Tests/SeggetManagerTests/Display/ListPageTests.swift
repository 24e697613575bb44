import SeggetReports
import Testing

@testable import SeggetQueue
@testable import segget_manager

struct ListPageTests {
    private static func report(_ count: Int, unseen: [String: Int] = [:]) -> QueueReport {
        let tasks = (0..<count).map { number in
            TaskReport(
                id: QueueTask.ID(), state: number < count / 2 ? "waiting" : "completed",
                wanted: .run, url: "http://127.0.0.1/\(number)",
                path: "/a/\(String(repeating: "long ", count: number))", folder: "/a",
                bytesDone: 5, size: 10, attempts: 0, added: 0, digests: [], tags: [],
                seen: number < count / 2 ? nil : false, file: "there")
        }
        let counts = [
            "running": 1000, "waiting": 1000, "held": 1000, "retrying": 1000,
            "waiting_for_network": 1000, "completed": 1000, "failed": 1000, "cancelled": 1000,
        ]
        return QueueReport(
            version: "1", worker: nil, tasks: tasks, counts: counts, bytesPerSecond: 1e9,
            unseen: unseen)
    }

    private static func table(_ columns: Int?, colour: Bool = false) -> TaskTable {
        TaskTable(columns: columns, unicode: true, colour: colour, now: 0)
    }

    @Test(arguments: [1, 9, 20, 40, 64, 65, 66, 80, 200]) func noLineIsWider(columns: Int) {
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

    @Test func whatIsBelowTheTableStaysInSight() {
        let report = Self.report(30, unseen: ["failed": 1])
        let table = Self.table(80)
        let page = ListPage(report, isFiltered: false, in: table)
        let whole = page.cut(to: 33, in: table)
        #expect(whole.lines == page.lines && whole.tasks == 30)
        let (lines, tasks) = page.cut(to: 24, in: table)
        #expect(lines.count == 24 && tasks == 20)
        #expect(lines.prefix(21) == page.table.prefix(21))
        #expect(
            lines.suffix(3) == ["… and 10 more", page.summary, "1 failed since you last looked"])
        #expect(page.cut(to: 5, in: table).tasks == 1)
        for rows in 0...4 {
            let small = page.cut(to: rows, in: table)
            #expect(small.lines.count <= rows && small.tasks == 0)
            #expect(rows == 0 || small.lines.first == page.summary)
        }
    }

    @Test func aWatchTellsOfItsEndsUntilItIsOver() {
        var ends = ShownEnds()
        var report = Self.report(4, unseen: ["completed": 2])
        #expect(ends.counted(with: report) == ["completed": 2])
        // One of the two has room.
        #expect(ends.show(report.tasks.prefix(3)) == [report.tasks[2].id])
        report.tasks[2].seen = true
        report.unseen = ["completed": 1]
        #expect(ends.counted(with: report) == ["completed": 2])
        #expect(ends.show(report.tasks.prefix(3)).isEmpty)
        // It is fetched again, and ends again.
        report.tasks[2].seen = false
        report.tasks[2].state = "failed"
        report.unseen = ["completed": 1, "failed": 1]
        #expect(ends.counted(with: report) == ["completed": 1, "failed": 1])
    }
}
