import Foundation
import TestSupport
import Testing

/// Tests the progress of several files on a terminal: one line each, and a total.
@Suite(.timeLimit(.minutes(5)))
struct BatchTerminalTests {
    private func start(
        _ stage: BatchStage, _ arguments: [String], width: Int = 80, height: Int = 24,
        environment: String = "LC_ALL=C.UTF-8"
    ) throws -> Screen {
        try Screen(
            [try Segget.binary(), "-j", "8", "-x", "8"] + arguments, in: stage.folder,
            width: width, height: height, environment: environment)
    }

    /// Whether the screen ends with `files` lines and the total, none of them too wide.
    ///
    /// No progress line is above them. Lines that did not fit after the screen was made smaller are
    /// an exception, because they stay in the terminal's history.
    private func shows(
        _ files: Int, on screen: Screen, width: Int, isAlone: Bool = true
    ) throws -> Bool {
        let lines = try screen.lines()
        guard let total = lines.last, total.hasPrefix("0/12"), lines.count > files else {
            return false
        }
        let running = lines.dropLast().suffix(files)
        let above = lines.dropLast(files + 1)
        return running.allSatisfy { $0.contains("%") && $0.contains("b") }
            && (running + [total]).allSatisfy { $0.count < width }
            && (!isAlone || above.allSatisfy { !$0.contains("%") && !$0.contains("0/12") })
    }

    /// Stages files whose downloads last as long as the test needs.
    private func flowing() throws -> BatchStage {
        let stage = try BatchStage(size: 5_000_000, memory: 128 << 20)
        stage.origin.bendGET { _, reply in reply.pace = 20_000 }
        return stage
    }

    @Test func finishedFilesScrollUp() throws {
        let stage = try BatchStage(size: 600_000)
        let (isDue, areDue) = (Guarded(false), Guarded(false))
        stage.origin.bendGET { request, reply in
            let number = Int(request.target.split(separator: "/").first ?? "") ?? 0
            reply.stallAfter = 60_000
            reply.release = number <= 4 ? isDue : areDue
        }
        let screen = try start(stage, stage.urls(12) + ["--stall-timeout", "100"])
        #expect(try eventually(timeout: 120) { try shows(8, on: screen, width: 80) })
        isDue.withLock { $0 = true }
        let isSeen = try eventually(timeout: 120) {
            let lines = try screen.lines()
            let finished = lines.firstIndex { $0.contains("586 KiB in ") }
            let running = lines.firstIndex { $0.contains("%") }
            return finished.flatMap { place in running.map { place < $0 } } ?? false
        }
        #expect(isSeen)
        areDue.withLock { $0 = true }
        #expect(try eventually(timeout: 120) { try screen.text().contains("code ") })
        let text = try screen.history()
        #expect(text.contains("code 0"), "\(text)")
        #expect(text.contains("12 of 12 files done; 6.87 MiB in "), "\(text)")
        #expect(!text.contains("%") && !text.contains("running"), "\(text)")
        let lines = text.split(separator: "\n").filter { $0.contains("586 KiB in ") }
        #expect(lines.count == 12, "\(text)")
    }

    @Test func survivesResizing() throws {
        let stage = try flowing()
        // The screen is full at the start, as it usually is.
        let screen = try start(
            stage, stage.urls(12), environment: "seq -f line-%g 30; LC_ALL=C.UTF-8")
        #expect(try eventually(timeout: 120) { try shows(8, on: screen, width: 80) })
        var isAlone = true
        // At the last sizes, the existing lines take more rows than the screen has.
        for (width, height, files) in [
            (40, 24, 8), (100, 24, 8), (60, 24, 8), (80, 12, 8), (80, 24, 8), (20, 5, 3),
            (60, 10, 8), (20, 12, 8), (80, 3, 1), (80, 24, 8),
        ] {
            isAlone = isAlone && width > 20
            try screen.resize(width: width, height: height)
            #expect(
                try eventually(timeout: 120) {
                    try shows(files, on: screen, width: width, isAlone: isAlone)
                }, "at \(width)×\(height): \(screen.shown)")
        }
        try screen.press("C-c")
        #expect(try eventually(timeout: 120) { try screen.text().contains("code 130") })
        let text = try screen.text()
        #expect(text.contains("0 of 12 files done, 8 stopped, 4 not started; "), "\(text)")
        // No progress line remains below the summary.
        #expect(text.components(separatedBy: "files done").last?.contains("%") == false, "\(text)")
    }

    @Test(arguments: [(20, 5, 3), (10, 24, 8), (132, 2, 0), (40, 1, 0)])
    func smallTerminalsShowFewerLines(width: Int, height: Int, files: Int) throws {
        let stage = try flowing()
        let screen = try start(stage, stage.urls(12), width: width, height: height)
        #expect(
            try eventually(timeout: 120) { try shows(files, on: screen, width: width + 1) },
            "\(screen.shown)")
    }

    /// A message during the download appears once, above the progress lines.
    @Test func messagesAppearAboveProgress() throws {
        let stage = try flowing()
        let isDue = Guarded(false)
        stage.origin.bend { request, reply in
            if request.target == "/3/big.iso" {
                _ = isDue.wait(timeout: 120) { $0 }
                reply = .text(404)
            }
            if request.method == "GET" { reply.pace = 20_000 }
        }
        // With given names, because a file without a response would delay the names of the others.
        let list = try Sandbox()
        let text = stage.urls(4).enumerated().map { "\($1)\n out=f\($0)\n" }.joined()
        try list.write("list", text)
        let screen = try start(stage, ["-i", list.path("list")], width: 60)
        #expect(
            try eventually(timeout: 120) {
                try screen.lines().filter { $0.contains("%") }.count == 3
            })
        isDue.withLock { $0 = true }
        #expect(
            try eventually(timeout: 120) {
                let text = try screen.text()
                let parts = text.components(separatedBy: "404 (Not Found)")
                return parts.count == 2 && !parts[0].contains("%") && parts[1].contains("1 failed")
            }, "\(screen.shown)")
    }

    @Test func dumbTerminalGetsPlainLines() throws {
        let stage = try BatchStage(size: 100_000)
        let screen = try start(
            stage, stage.urls(3) + [stage.origin.url("/none/x")],
            environment: "LC_ALL=C.UTF-8 TERM=dumb")
        #expect(try eventually(timeout: 120) { try screen.text().contains("code 69") })
        let text = try screen.history()
        #expect(text.contains("3 of 4 files done, 1 failed; 293 KiB in "), "\(text)")
        #expect(!text.contains("\u{1b}["), "\(text)")
    }

    @Test func coloursAndUnicodeFollowEnvironment() throws {
        let stage = try BatchStage(size: 2_000_000)
        stage.origin.bendGET { _, reply in reply.pace = 40_000 }
        let failing = [
            stage.origin.url("/none/x"), stage.origin.url("/1/a-very-long-name-%C3%A4.iso"),
        ]
        let plain = try start(stage, failing, width: 60, environment: "LC_ALL=C NO_COLOR=1")
        #expect(
            try eventually(timeout: 120) {
                let text = try plain.history()
                return text.contains("~") && text.contains("%") && text.contains("error: ")
                    && text.utf8.allSatisfy { $0 < 0x80 } && !text.contains("\u{1b}[31m")
            }, "\(plain.shown)")
        let coloured = try start(
            stage, [failing[0], stage.origin.url("/2/another-very-long-name.iso")], width: 60,
            environment: "LC_ALL=C.UTF-8 NO_COLOR=")
        #expect(
            try eventually(timeout: 120) {
                let text = try coloured.history()
                return text.contains("…") && text.contains("%")
                    && text.contains("\u{1b}[1m\u{1b}[31merror:")
            }, "\(coloured.shown)")
    }
}
