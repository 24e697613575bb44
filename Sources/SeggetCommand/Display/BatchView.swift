package import SeggetReports
package import Segmenter
import SegmenterRules

/// Shows messages and, below them, a line for each active file and a line for the total.
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

    /// Creates a view for `count` files, of a set or of a list, that writes through `write`.
    ///
    /// `size` returns the current size of the terminal, and `isInForeground` whether the view may
    /// draw.
    package init(
        style: ProgressView.Style, terminal: Terminal, count: Int, set: BatchLines.SetBytes? = nil,
        size: @escaping () -> (columns: Int, rows: Int),
        isInForeground: @escaping () -> Bool = { true }, write: @escaping (String) -> Void
    ) {
        self.style = style
        self.terminal = terminal
        self.size = size
        self.isInForeground = isInForeground
        self.write = write
        lines = BatchLines(count: count, set: set, unicode: terminal.unicode)
    }

    /// Shows that a file has started; `now` is in seconds since the start of the batch.
    package func begin(_ index: Int, name: String, now: Double) {
        lines.lanes[index] = BatchLines.Lane(name: name)
        lines.failures.remove(index)
        refresh(now)
    }

    /// Shows the progress of a file; `now` is in seconds since the start of the batch.
    package func show(_ index: Int, _ progress: DownloadProgress, name: String, now: Double) {
        lines.lanes[index] = BatchLines.Lane(name: name, progress: progress)
        refresh(now)
    }

    /// Removes the line of a file.
    ///
    /// - Parameters:
    ///   - index: The position of the file in the list.
    ///   - isDone: Whether the file is complete; `nil` if it counts as another one from now on.
    /// - Returns: The bytes that the file has received.
    package func end(_ index: Int, isDone: Bool?) -> Int64 {
        let progress = lines.lanes.removeValue(forKey: index)?.progress
        lines.earlierBytes += progress?.bytesReceived ?? 0
        switch isDone {
        case true?: lines.done += 1
        case false?: lines.failures.insert(index)
        case nil: break
        }
        return progress?.bytesReceived ?? 0
    }

    /// Prints a permanent line above the lines of the files.
    package func print(_ message: Message) {
        let line = message.line(colour: terminal.colour)
        leaveBackground()
        // The message overwrites the block, which is drawn again below it in the same write.
        write(isDrawn ? "\r\(line)\u{1b}[K\n\(drawing())" : line + "\n")
    }

    /// Removes the lines of the files.
    package func clear() {
        leaveBackground()
        // Erasing starts at the second character: tmux would treat erasing from the first character
        // of the screen as clearing the screen, and keep a copy in its history.
        if isDrawn { write("\r \u{1b}[J\r") }
        isDrawn = false
    }

    /// Marks the block as not drawn in a background job, where the shell has overwritten it.
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
        // The first plain line is printed after five seconds.
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

    /// Returns the text that draws the block and leaves the cursor on its first character.
    ///
    /// A terminal that becomes narrower breaks lines into several, and keeps the cursor with its
    /// character. Drawing from there and erasing everything below leaves no remains, whatever the
    /// old and new sizes are. Line wrapping is off meanwhile (DECAWM), so that no uncounted rows
    /// appear if the terminal is resized after `size` was called.
    private func drawing() -> String {
        let (columns, rows) = size()
        // The last column and the last row stay free, because a terminal may wrap or scroll there.
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

    /// Does nothing: the line is removed when the file ends.
    package func clear() {}
}
