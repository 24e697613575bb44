package import SeggetReports
package import Segmenter

/// A display of messages and of the progress of one file.
package protocol ProgressDisplay: AnyObject {
    /// Shows the progress of the download.
    func show(_ progress: DownloadProgress, name: String)
    /// Prints a permanent line.
    func print(_ message: Message)
    /// Removes the progress.
    func clear()
}

/// Shows messages and, below them, the progress of one download.
package final class ProgressView: ProgressDisplay {
    /// The style of the progress display.
    package enum Style: Sendable {
        /// One line, redrawn in place.
        case bar
        /// A line every five seconds.
        case plain
        /// Not at all.
        case none
    }

    private let style: Style
    private let terminal: Terminal
    private let width: () -> Int
    private let isInForeground: () -> Bool
    private let write: (String) -> Void
    private var barIsShown = false
    private var lastTick: Int64 = -1
    private var lastPhase: DownloadProgress.Phase?

    /// Creates a view that writes through `write`.
    ///
    /// `width` returns the current columns of the terminal, and `isInForeground` whether the view
    /// may draw.
    package init(
        style: Style, terminal: Terminal, width: @escaping () -> Int,
        isInForeground: @escaping () -> Bool = { true }, write: @escaping (String) -> Void
    ) {
        self.style = style
        self.terminal = terminal
        self.width = width
        self.isInForeground = isInForeground
        self.write = write
    }

    /// Shows the progress, unless the last update was too recent.
    package func show(_ progress: DownloadProgress, name: String) {
        let line = ProgressLine(progress: progress, name: name, unicode: terminal.unicode)
        switch style {
        case .bar where isDue(progress, ticksPerSecond: 10):
            guard isInForeground() else {
                // The shell has overwritten the bar.
                barIsShown = false
                return
            }
            // The last column stays free, because a terminal may wrap or erase text there.
            draw(line.text(width: width() - 1))
        case .plain where progress.elapsed >= .seconds(5) && isDue(progress, ticksPerSecond: 0.2):
            write(line.plain + "\n")
        default: break
        }
    }

    /// Prints a permanent line above the bar.
    package func print(_ message: Message) {
        clear()
        write(message.line(colour: terminal.colour) + "\n")
    }

    /// Removes the bar.
    package func clear() {
        guard barIsShown else { return }
        if isInForeground() { write("\r\u{1b}[J") }
        barIsShown = false
    }

    /// Draws the bar, and leaves the cursor on its first column.
    ///
    /// A terminal that becomes narrower breaks the line into several, and keeps the cursor with its
    /// character, the first one. Drawing from there and erasing everything below leaves no remains,
    /// whatever the old and new widths are.
    private func draw(_ text: String) {
        write("\r\(text)\u{1b}[J\r")
        barIsShown = true
    }

    /// Whether a new time slot or a new phase has started since the last call.
    private func isDue(_ progress: DownloadProgress, ticksPerSecond: Double) -> Bool {
        let tick = Units.whole(progress.elapsed.inSeconds * ticksPerSecond)
        defer { (lastTick, lastPhase) = (tick, progress.phase) }
        return tick != lastTick || progress.phase != lastPhase
    }
}
