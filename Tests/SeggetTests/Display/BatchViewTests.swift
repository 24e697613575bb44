import ReportExamples
import Segmenter
import Testing

@testable import SeggetReports
@testable import SeggetCommand

struct BatchLinesTests {
    private func lines(_ names: [String], count: Int = 12, unicode: Bool = true) -> BatchLines {
        var lines = BatchLines(count: count, unicode: unicode)
        for (index, name) in names.enumerated() {
            lines.lanes[index + 3] = BatchLines.Lane(name: name, progress: Examples.progress())
        }
        lines.done = 3
        lines.rate = Double(64 << 20)
        return lines
    }

    @Test func blockFitsTheTerminal() {
        var random = SystemRandomNumberGenerator()
        let names = [
            "", "a", "file.iso", String(repeating: "x", count: 300), "文字列文字列文字列文字列.iso",
            Examples.hostile,
        ]
        for _ in 0..<20 {
            let unicode = Bool.random()
            var lines = BatchLines(count: .random(in: 0...100_000), unicode: unicode)
            for index in 0..<Int.random(in: 0...64, using: &random) {
                let size = Bool.random() ? Int64.random(in: 0...Int64.max) : nil
                lines.lanes[index] = BatchLines.Lane(
                    name: names.randomElement() ?? "",
                    progress: Bool.random()
                        ? nil : Examples.progress(size: size, connections: .random(in: 0...64)))
            }
            lines.rate = .random(in: 0...1e12)
            for columns in Array(-1...100) {
                for rows in [1, 2, 4, 30, 100] {
                    let block = lines.block(columns: columns, rows: rows)
                    #expect((1...rows).contains(block.count))
                    for line in block {
                        #expect(PrintableText.width(line) <= max(0, columns), "\(line)")
                        #expect(!line.unicodeScalars.contains(where: PrintableText.isUnsafe))
                        if !unicode { #expect(line.utf8.allSatisfy { $0 < 0x80 }) }
                    }
                }
            }
        }
    }

    @Test func fittingFilesAreAboveTheTotal() {
        let block = lines((0..<8).map { "file\($0).iso" }).block(columns: 60, rows: 4)
        #expect(
            block == [
                "file0.iso   50%   128 MiB/s   512 MiB of 1.00 GiB",
                "file1.iso   50%   128 MiB/s   512 MiB of 1.00 GiB",
                "file2.iso   50%   128 MiB/s   512 MiB of 1.00 GiB",
                "3/12 files, 64.0 MiB/s, 2.00 GiB, 8 running",
            ])
    }

    @Test(arguments: [
        (3, ""), (4, "3/12"), (12, "3/12 files"), (22, "3/12 files, 64.0 MiB/s"),
        (60, "3/12 files, 64.0 MiB/s, 512 MiB, 2 running"),
    ])
    func totalIsShortenedToFit(columns: Int, text: String) {
        let block = lines(["a", "b"]).block(columns: columns, rows: 9)
        #expect(block.last == text)
    }

    @Test func nameStaysInNarrowTerminals() {
        let block = lines(["averylongname.iso"]).block(columns: 19, rows: 9)
        #expect(block.first == "averylo…   50%")
        let ascii = lines(["averylongname.iso"], unicode: false).block(columns: 19, rows: 9)
        #expect(ascii.first == "averylo~   50%")
        #expect(lines(["averylongname.iso"]).block(columns: 9, rows: 9).first == "av…   50%")
        #expect(lines(["averylongname.iso"]).block(columns: 4, rows: 9).first == " 50%")
    }

    @Test func timeLeftIsShownAfterAllHaveStarted() {
        #expect(!lines(["a", "b"]).plain.contains("ETA"))
        #expect(lines(["a", "b"], count: 5).plain.hasSuffix("2 running, ETA 16 s"))
    }
}

struct BatchViewTests {
    /// A terminal's output, and its size.
    private final class Screen {
        var columns = 80
        var rows = 24
        var written: [String] = []
    }

    private func view(_ style: ProgressView.Style, on screen: Screen) -> BatchView {
        let terminal = Terminal(isTerminal: true) { ["TERM": "xterm", "NO_COLOR": "1"][$0] }
        return BatchView(
            style: style, terminal: terminal, count: 2,
            size: { (screen.columns, screen.rows) }, write: { screen.written.append($0) })
    }

    @Test func blockIsRedrawnAtMostTenTimesASecond() {
        let screen = Screen()
        let view = view(.bar, on: screen)
        for millisecond in 0..<1000 {
            for index in 0..<2 {
                view.show(
                    index, Examples.progress(), name: "f", now: Double(millisecond) / 1000)
            }
        }
        #expect((9...10).contains(screen.written.count))
    }

    @Test func cursorReturnsToTheFirstCharacter() {
        let screen = Screen()
        let view = view(.bar, on: screen)
        view.begin(0, name: "a", now: 0)
        view.show(1, Examples.progress(), name: "b", now: 1)
        let last = screen.written.last ?? ""
        #expect(last.hasPrefix("\r\u{1b}[?7la   connecting\u{1b}[K\r\nb   50%"))
        #expect(last.hasSuffix("2 running\u{1b}[J\u{1b}[?7h\r\u{1b}[2A"))
        screen.rows = 1
        view.show(1, Examples.progress(), name: "b", now: 2)
        #expect(screen.written.last?.hasSuffix("2 running\u{1b}[J\u{1b}[?7h\r") == true)
    }

    @Test func messagesAreAboveTheBlockInOneWrite() {
        let screen = Screen()
        let view = view(.bar, on: screen)
        view.print(Message(.note, "one"))
        view.begin(0, name: "a", now: 1)
        view.print(Message(.note, "two"))
        #expect(screen.written.first == "note: one\n")
        #expect(screen.written.count == 3)
        #expect(screen.written[2].hasPrefix("\rnote: two\u{1b}[K\n\r\u{1b}[?7la   connecting"))
        view.clear()
        #expect(screen.written.last == "\r \u{1b}[J\r")
        view.print(Message(.note, "three"))
        #expect(screen.written.last == "note: three\n")
    }

    @Test func plainProgressIsOneLineEveryFiveSeconds() {
        let screen = Screen()
        let view = view(.plain, on: screen)
        for tenth in 0...124 {
            for index in 0..<2 {
                view.show(index, Examples.progress(), name: "f", now: Double(tenth) / 10)
            }
        }
        #expect(screen.written.count == 2)
        #expect(screen.written.allSatisfy { $0.hasSuffix("\n") && !$0.contains("\u{1b}") })
        #expect(screen.written.allSatisfy { $0.hasPrefix("0/2 files, ") })
    }

    @Test func noProgressPrintsNothing() {
        let screen = Screen()
        let view = view(.none, on: screen)
        view.show(0, Examples.progress(), name: "f", now: 60)
        view.clear()
        #expect(screen.written.isEmpty)
    }
}
