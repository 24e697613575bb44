import Synchronization
import Testing

@testable import SeggetCommand

struct ListingLineTests {
    private final class Screen: Sendable {
        let written = Mutex<[String]>([])
        let isInForeground = Mutex(true)

        func line(_ style: ProgressView.Style, width: Int = 80) -> ListingLine {
            let terminal = Terminal(isTerminal: true) { ["TERM": "xterm"][$0] }
            return ListingLine(
                "org/model", style: style, terminal: terminal, width: { width },
                isInForeground: { self.isInForeground.withLock { $0 } },
                write: { text in self.written.withLock { $0.append(text) } })
        }
    }

    @Test func showsFilesUntilItIsRemoved() {
        let screen = Screen()
        let line = screen.line(.bar)
        for count in [0, 1, 1000] { line.show(count) }
        line.clear()
        line.show(2000)
        line.clear()
        #expect(
            screen.written.withLock { $0 } == [
                "\rlisting org/model\u{1b}[J\r", "\rlisting org/model: 1 file\u{1b}[J\r",
                "\rlisting org/model: 1000 files\u{1b}[J\r", "\r\u{1b}[J",
            ])
    }

    @Test func isCutToTheWidth() {
        let screen = Screen()
        screen.line(.bar, width: 12).show(0)
        #expect(screen.written.withLock { $0 } == ["\rlisting or~\u{1b}[J\r"])
    }

    @Test(arguments: [ProgressView.Style.plain, .none])
    func otherStylesShowNothing(style: ProgressView.Style) {
        let screen = Screen()
        let line = screen.line(style)
        line.show(1000)
        line.clear()
        #expect(screen.written.withLock { $0.isEmpty })
    }

    @Test func backgroundJobShowsNothing() {
        let screen = Screen()
        let line = screen.line(.bar)
        line.show(1)
        screen.isInForeground.withLock { $0 = false }
        line.show(2)
        screen.isInForeground.withLock { $0 = true }
        line.clear()
        #expect(screen.written.withLock { $0.count } == 1)
    }
}
