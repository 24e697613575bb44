import TestSupport
import Testing

/// Tests the progress line on a terminal.
struct TerminalTests {
    /// Stages a download that is slow until `isSeen` is true.
    private func staged(_ isSeen: Guarded<Bool>) throws -> Stage {
        let stage = try Stage(size: 4_000_000)
        stage.origin.bendGET {
            $0.pace = 30_000
            $0.release = isSeen
        }
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
        let isSeen = Guarded(false)
        let stage = try staged(isSeen)
        let screen = try start(stage, width: width)
        #expect(try eventually { try showsOneLine(screen, width: width) })
        var seen: Set<String> = []
        let isOver = try eventually(timeout: 120) {
            let lines = try screen.lines()
            // The line disappears for a moment before the summary.
            guard let line = lines.first, line.contains("%") else {
                return try screen.text().contains("code ")
            }
            #expect(lines.count == 1, "\(lines)")
            #expect(line.count < width, "\(line)")
            seen.insert(line)
            if seen.count > 3 { isSeen.withLock { $0 = true } }
            return false
        }
        #expect(isOver)
        #expect(seen.count > 3)
        try checkEnd(of: screen)
        #expect(try stage.isRight())
    }

    /// Expects only the summary, without a progress line.
    private func checkEnd(of screen: Screen) throws {
        let text = try screen.text()
        #expect(text.hasPrefix("`file`: 3.81 MiB in "), "\(text)")
        #expect(text.contains("code 0"), "\(text)")
        #expect(!text.contains("%"), "\(text)")
    }

    @Test(.timeLimit(.minutes(5))) func survivesResizing() throws {
        let isSeen = Guarded(false)
        let stage = try staged(isSeen)
        let screen = try start(stage, width: 80)
        #expect(try eventually { try showsOneLine(screen, width: 80) })
        for width in [35, 100, 20, 60] {
            try screen.resize(width: width)
            #expect(
                try eventually { try showsOneLine(screen, width: width) },
                "at width \(width)")
        }
        isSeen.withLock { $0 = true }
        #expect(try eventually(timeout: 120) { try screen.text().contains("code ") })
        try checkEnd(of: screen)
    }
}
