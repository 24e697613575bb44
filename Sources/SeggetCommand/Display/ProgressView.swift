package import SeggetReports
package import Segmenter

/// Where messages and the progress of one file are shown.
package protocol ProgressDisplay: AnyObject {
    /// Shows a moment of the download.
    func show(_ progress: DownloadProgress, name: String)
    /// Prints a line for good.
    func print(_ message: Message)
    /// Takes the progress away.
    func clear()
}

/// Shows messages and, below them, how far the download is.
package final class ProgressView: ProgressDisplay {
    /// How progress is shown.
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

    /// Makes a view that writes through `write`; `width` gives the terminal's present columns, and
    /// `isInForeground` says whether a bar may be drawn there now.
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

    /// Shows a moment of the download, unless the last one was shown too short a time ago.
    package func show(_ progress: DownloadProgress, name: String) {
        let line = ProgressLine(progress: progress, name: name, unicode: terminal.unicode)
        switch style {
        case .bar where isDue(progress, ticksPerSecond: 10):
            guard isInForeground() else {
                // The shell has written over it.
                barIsShown = false
                return
            }
            // The last column stays free: a terminal may wrap, or erase, what stands there.
            draw(line.text(width: width() - 1))
        case .plain where progress.elapsed >= .seconds(5) && isDue(progress, ticksPerSecond: 0.2):
            write(line.plain + "\n")
        default: break
        }
    }

    /// Prints a line for good, above the bar.
    package func print(_ message: Message) {
        clear()
        write(message.line(colour: terminal.colour) + "\n")
    }

    /// Takes the bar away.
    package func clear() {
        guard barIsShown else { return }
        if isInForeground() { write("\r\u{1b}[J") }
        barIsShown = false
    }

    /// Draws the bar and leaves the cursor on its first column.
    ///
    /// When a terminal is made narrower, it breaks the line into several and keeps the cursor with
    /// the character it stands on: the first. Drawing from there and erasing everything below then
    /// leaves nothing behind, whatever the old and new widths are.
    private func draw(_ text: String) {
        write("\r\(text)\u{1b}[J\r")
        barIsShown = true
    }

    /// Whether a new slot of time, or a new phase, has begun since something was last shown.
    private func isDue(_ progress: DownloadProgress, ticksPerSecond: Double) -> Bool {
        let tick = Units.whole(progress.elapsed.inSeconds * ticksPerSecond)
        defer { (lastTick, lastPhase) = (tick, progress.phase) }
        return tick != lastTick || progress.phase != lastPhase
    }
}
