import ReportExamples
import Testing

@testable import SeggetReports
@testable import SeggetCommand

struct ProgressViewTests {
    /// Collects the output of a view.
    private final class Screen {
        var columns = 80
        var written: [String] = []
    }

    private func view(_ style: ProgressView.Style, on screen: Screen) -> ProgressView {
        let terminal = Terminal(isTerminal: true) { ["TERM": "xterm", "NO_COLOR": "1"][$0] }
        return ProgressView(
            style: style, terminal: terminal, width: { screen.columns },
            write: { screen.written.append($0) })
    }

    @Test func barIsRedrawnAtMostTenTimesASecond() {
        let screen = Screen()
        let view = view(.bar, on: screen)
        for millisecond in 0..<1000 {
            view.show(Examples.progress(elapsed: Double(millisecond) / 1000), name: "f")
        }
        #expect(screen.written.count == 10)
    }

    @Test func backgroundJobPrintsOnlyMessages() {
        let screen = Screen()
        var isInForeground = true
        let terminal = Terminal(isTerminal: true) { ["TERM": "xterm", "NO_COLOR": "1"][$0] }
        let view = ProgressView(
            style: .bar, terminal: terminal, width: { 80 }, isInForeground: { isInForeground },
            write: { screen.written.append($0) })
        view.show(Examples.progress(elapsed: 1), name: "f")
        #expect(screen.written.count == 1)
        // The shell has printed its prompt, which must not be erased.
        isInForeground = false
        view.show(Examples.progress(elapsed: 2), name: "f")
        view.print(Message(.note, "x"))
        view.clear()
        #expect(screen.written.count == 2 && screen.written.last == "note: x\n")
        isInForeground = true
        view.show(Examples.progress(elapsed: 3), name: "f")
        #expect(screen.written.count == 3)
    }

    @Test func barFollowsTheWidthAtOnce() {
        let screen = Screen()
        let view = view(.bar, on: screen)
        view.show(Examples.progress(elapsed: 1), name: "f")
        // The rate would just fit, but the last column remains free.
        screen.columns = 16
        view.show(Examples.progress(elapsed: 2), name: "f")
        #expect(screen.written.last == "\r 50%\u{1b}[J\r")
    }

    @Test func barIsClearedBeforeAMessage() {
        let screen = Screen()
        screen.columns = 11
        let view = view(.bar, on: screen)
        view.print(Message(.note, "one"))
        view.show(Examples.progress(), name: "f")
        view.print(Message(.note, "two"))
        view.clear()
        let bar = "\r 50%\u{1b}[J\r"
        #expect(screen.written == ["note: one\n", bar, "\r\u{1b}[J", "note: two\n"])
    }

    @Test func plainLinesArePrintedEveryFiveSeconds() {
        let screen = Screen()
        let view = view(.plain, on: screen)
        for tenth in 0...124 {
            view.show(Examples.progress(elapsed: Double(tenth) / 10), name: "f")
        }
        #expect(screen.written.count == 2)
        #expect(screen.written.allSatisfy { $0.hasSuffix("\n") && !$0.contains("\u{1b}") })
    }

    @Test func noProgressPrintsNothing() {
        let screen = Screen()
        view(.none, on: screen).show(Examples.progress(elapsed: 60), name: "f")
        #expect(screen.written.isEmpty)
    }

    @Test(
        arguments: [
            (["TERM": "xterm", "LANG": "en_US.UTF-8"], true, true, true),
            (["TERM": "xterm", "LANG": "de_DE.utf8", "LC_ALL": "C"], false, true, true),
            (
                ["TERM": "xterm", "LC_ALL": "", "LC_CTYPE": "C.UTF-8", "LANG": "C"], true, true,
                true
            ),
            (["TERM": "xterm", "NO_COLOR": "1"], false, false, true),
            (["TERM": "xterm", "NO_COLOR": ""], false, true, true),
            (["TERM": "dumb"], false, false, false), ([:], false, false, false),
        ] as [([String: String], Bool, Bool, Bool)])
    func environmentDeterminesTheDisplay(
        environment: [String: String], unicode: Bool, colour: Bool, canRedraw: Bool
    ) {
        let terminal = Terminal(isTerminal: true) { environment[$0] }
        #expect(terminal.unicode == unicode)
        #expect(terminal.colour == colour)
        #expect(terminal.canRedraw == canRedraw)
    }

    @Test func pipeIsNotATerminal() {
        let terminal = Terminal(isTerminal: false) { ["TERM": "xterm"][$0] }
        #expect(!terminal.colour && !terminal.canRedraw)
    }
}
