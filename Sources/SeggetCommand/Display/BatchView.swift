package import SeggetReports
package import Segmenter

/// Shows messages and, below them, a line for each file that is running, and one for all.
package final class BatchView {
    private let style: ProgressView.Style
    private let terminal: Terminal
    private let size: () -> (columns: Int, rows: Int)
    private let isInForeground: () -> Bool
    private let write: (String) -> Void
    private var lines: BatchLines
    private var meter = RateMeter()
    private var isDrawn = false
    private var lastTime = -Double.infinity

    /// Makes a view for `count` files that writes through `write`; `size` gives the terminal's
    /// present size, and `isInForeground` says whether lines may be drawn there now.
    package init(
        style: ProgressView.Style, terminal: Terminal, count: Int,
        size: @escaping () -> (columns: Int, rows: Int),
        isInForeground: @escaping () -> Bool = { true }, write: @escaping (String) -> Void
    ) {
        self.style = style
        self.terminal = terminal
        self.size = size
        self.isInForeground = isInForeground
        self.write = write
        lines = BatchLines(count: count, unicode: terminal.unicode)
    }

    /// Shows that a file has begun; `now` is in seconds since the batch began.
    package func begin(_ index: Int, name: String, now: Double) {
        lines.lanes[index] = BatchLines.Lane(name: name)
        refresh(now)
    }

    /// Shows a moment of a file.
    package func show(_ index: Int, _ progress: DownloadProgress, name: String, now: Double) {
        lines.lanes[index] = BatchLines.Lane(name: name, progress: progress)
        refresh(now)
    }

    /// Takes the line of a file away, which is then drawn no more.
    ///
    /// - Returns: Bytes that it had received.
    package func end(_ index: Int, isDone: Bool) -> Int64 {
        let progress = lines.lanes.removeValue(forKey: index)?.progress
        lines.earlierBytes += progress?.bytesReceived ?? 0
        if isDone { lines.done += 1 } else { lines.failed += 1 }
        return progress?.bytesReceived ?? 0
    }

    /// Prints a line for good, above the lines of the files.
    package func print(_ message: Message) {
        let line = message.line(colour: terminal.colour)
        leaveBackground()
        // It overwrites the block, which is then drawn again below it, all in one write.
        write(isDrawn ? "\r\(line)\u{1b}[K\n\(drawing())" : line + "\n")
    }

    /// Takes the lines of the files away, for good.
    package func clear() {
        leaveBackground()
        // Not from the very first character: where that is the screen's, tmux takes it for the
        // clearing of the screen, and keeps a copy in its history.
        if isDrawn { write("\r \u{1b}[J\r") }
        isDrawn = false
    }

    /// Forgets what is drawn where the job is in the background: the shell has written over it.
    private func leaveBackground() {
        if isDrawn, !isInForeground() { isDrawn = false }
    }

    private func refresh(_ now: Double) {
        let interval: Double
        switch style {
        case .bar: interval = 0.1
        case .plain: interval = 5
        case .none: return
        }
        // The first plain line comes after five seconds.
        if lastTime < 0, style == .plain { lastTime = 0 }
        guard now - lastTime >= interval else { return }
        lastTime = now
        lines.rate = meter.rate(bytes: lines.receivedBytes, now: now)
        if style == .plain {
            write(lines.plain + "\n")
        } else if isInForeground() {
            write(drawing())
            isDrawn = true
        } else {
            isDrawn = false
        }
    }

    /// What draws the block and leaves the cursor on its first character.
    ///
    /// A terminal that is made narrower breaks lines into several, and keeps the cursor with the
    /// character that it stands on. Drawing from there and erasing everything below then leaves
    /// nothing behind, whatever the old and new sizes are. Wrapping is off meanwhile (DECAWM), so
    /// that a size that changes between asking and drawing cannot make rows that are not counted.
    private func drawing() -> String {
        let (columns, rows) = size()
        // The last column stays free, and the last row: a terminal may wrap, or scroll, there.
        let block = lines.block(columns: columns - 1, rows: max(1, rows - 1))
        let up = block.count > 1 ? "\u{1b}[\(block.count - 1)A" : ""
        return "\r\u{1b}[?7l" + block.joined(separator: "\u{1b}[K\r\n") + "\u{1b}[J\u{1b}[?7h\r"
            + up
    }
}

/// The line of one file in a ``BatchView``.
package final class BatchLane: ProgressDisplay {
    private let view: BatchView
    private let index: Int
    private let clock: JSONOutput

    package init(_ view: BatchView, _ index: Int, _ clock: JSONOutput) {
        self.view = view
        self.index = index
        self.clock = clock
    }

    package func show(_ progress: DownloadProgress, name: String) {
        view.show(index, progress, name: name, now: clock.elapsed)
    }

    package func print(_ message: Message) { view.print(message) }

    /// Its line goes with the end of the file.
    package func clear() {}
}
