import Foundation
import Glibc
import TestSupport
import Testing

/// A terminal of a given size, made by tmux, in which one command runs.
private final class Screen: Sendable {
    private let sandbox: Sandbox
    private let folder: String

    init(_ command: [String], in folder: String, width: Int) throws {
        sandbox = try Sandbox("segget-tmux")
        self.folder = folder
        // The shell says how the command ended, and keeps the screen.
        let quoted = command.map { "'\($0)'" }.joined(separator: " ")
        try tmux([
            "-f", "/dev/null", "new-session", "-d", "-x", "\(width)", "-y", "24", "-c", folder,
            "LC_ALL=C.UTF-8 \(quoted); echo code $?; exec sleep 600",
        ])
    }

    deinit { _ = try? tmux(["kill-server"]) }

    @discardableResult
    private func tmux(_ arguments: [String]) throws -> String {
        let outcome = try ChildProcess.run(
            "/usr/bin/tmux", ["-S", sandbox.path("socket")] + arguments, in: folder,
            environment: ["TERM": "xterm-256color", "LC_ALL": "C.UTF-8"], timeout: 20)
        guard outcome.end == .exit(0) else { throw Unexpected(text: outcome.errorOutput) }
        return outcome.output
    }

    /// The lines on the screen that are not empty.
    func lines() throws -> [String] {
        try tmux(["capture-pane", "-p"]).split(separator: "\n").map(String.init)
            .filter { !$0.allSatisfy { $0 == " " } }
    }

    /// All of the screen, with lines that the terminal broke put together.
    func text() throws -> String { try tmux(["capture-pane", "-p", "-J"]) }

    func resize(width: Int) throws { try tmux(["resize-window", "-x", "\(width)"]) }
}

/// The progress line on a terminal.
struct TerminalTests {
    /// A download of about four seconds.
    private func staged() throws -> Stage {
        let stage = try Stage(size: 4_000_000)
        stage.bendGET { $0.pace = 250_000 }
        return stage
    }

    private func start(_ stage: Stage, width: Int) throws -> Screen {
        try Screen(
            [try Segget.binary(), "-x", "4", stage.origin.url("/file")], in: stage.folder,
            width: width)
    }

    /// Whether the screen shows one progress line that fits.
    private func showsOneLine(_ screen: Screen, width: Int) throws -> Bool {
        let lines = try screen.lines()
        return lines.count == 1 && lines[0].contains("%") && lines[0].count < width
    }

    @Test(.timeLimit(.minutes(5)), arguments: [80, 40, 20])
    func showsOneLineThatFits(width: Int) throws {
        let stage = try staged()
        let screen = try start(stage, width: width)
        #expect(try eventually { try showsOneLine(screen, width: width) })
        var seen: Set<String> = []
        let isOver = try eventually(timeout: 40) {
            let lines = try screen.lines()
            // The line is gone in the moment before the summary.
            guard let line = lines.first, line.contains("%") else {
                return try screen.text().contains("code ")
            }
            #expect(lines.count == 1, "\(lines)")
            #expect(line.count < width, "\(line)")
            seen.insert(line)
            return false
        }
        #expect(isOver)
        #expect(seen.count > 3)
        try checkEnd(of: screen)
        #expect(try stage.isRight())
    }

    /// The summary stands alone: nothing of the progress line is left.
    private func checkEnd(of screen: Screen) throws {
        let text = try screen.text()
        #expect(text.hasPrefix("`file`: 3.81 MiB in "), "\(text)")
        #expect(text.contains("code 0"), "\(text)")
        #expect(!text.contains("%"), "\(text)")
    }

    @Test(.timeLimit(.minutes(5))) func survivesResizing() throws {
        let stage = try staged()
        let screen = try start(stage, width: 80)
        #expect(try eventually { try showsOneLine(screen, width: 80) })
        for width in [35, 100, 20, 60] {
            try screen.resize(width: width)
            #expect(
                try eventually(timeout: 3) { try showsOneLine(screen, width: width) },
                "at width \(width)")
        }
        #expect(try eventually(timeout: 40) { try screen.text().contains("code ") })
        try checkEnd(of: screen)
    }
}
