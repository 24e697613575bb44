import SeggetReports
import Testing

@testable import SeggetQueue
@testable import segget_manager

struct DetailTextTests {
    private static func detail(_ count: Int) -> TaskDetail {
        let task = TaskReport(
            id: QueueTask.ID(), state: "running", wanted: .run,
            url: "http://127.0.0.1/\(String(repeating: "long/", count: 40))", folder: "/a",
            bytesDone: 5, size: 10, attempts: 0, added: 0, digests: [], tags: [])
        return TaskDetail(
            task: task, urls: [task.url], map: [], segments: [.init(start: 0, end: 5)],
            events: (0..<count).map {
                TaskEvent(time: 0, event: "waiting", message: "\($0) happened \u{1b}")
            })
    }

    private static func text(_ columns: Int?, colour: Bool = false) -> DetailText {
        DetailText(columns: columns, now: 0, unicode: true, colour: colour)
    }

    @Test(arguments: [1, 9, 14, 15, 40, 79]) func linesFitTheWidth(columns: Int) {
        let plain = Self.text(columns).lines(Self.detail(3))
        for line in plain { #expect(PrintableText.width(line) <= columns, "\(line)") }
        let coloured = Self.text(columns, colour: true).lines(Self.detail(3))
        // The first line has another ID.
        #expect(
            coloured.dropFirst().map { $0.replacing(#/\u{1b}\[[0-9]+m/#, with: "") }
                == Array(plain.dropFirst()))
    }

    @Test func withoutTerminalNothingIsTruncated() {
        let lines = Self.text(nil).lines(Self.detail(1))
        #expect(lines.contains { $0.hasSuffix("long/long/") })
        #expect(lines.last?.hasSuffix("0 happened \\u{1b}") == true)
    }

    @Test func textNamesPositionAsTheAPIDoes() {
        var detail = Self.detail(0)
        detail.task.position = 3
        #expect(Self.text(nil).lines(detail).contains("position      3 in the queue"))
    }

    @Test func textHasStateAndNewestEvents() {
        let detail = Self.detail(200)
        let text = Self.text(79)
        let facts = Array(text.lines(detail).prefix { !$0.isEmpty })
        let page = text.page(detail, note: "a note", rows: 24)
        #expect(page.count == 24)
        #expect(page.starts(with: facts))
        #expect(page.last == "a note")
        #expect(page[22].contains("199 happened"))
        #expect(page[facts.count].isEmpty)
        #expect(text.page(detail, note: nil, rows: 300) == text.lines(detail))
        for rows in 1...facts.count + 2 {
            let small = text.page(detail, note: "a note", rows: rows)
            #expect(small.count <= rows && small.last == "a note")
        }
    }
}
