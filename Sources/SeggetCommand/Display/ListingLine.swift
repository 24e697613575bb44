import Glibc
import SeggetReports
import Segmenter

/// One line that shows how many files of a repository have been listed.
///
/// May be used from any thread.
package final class ListingLine: Sendable {
    private enum State {
        case hidden, shown, over
    }

    private let name: String
    private let style: ProgressView.Style
    private let terminal: Terminal
    private let width: @Sendable () -> Int
    private let isInForeground: @Sendable () -> Bool
    private let write: @Sendable (String) -> Void
    private let state = Monitor(State.hidden)

    /// Creates a line that is written through `write`.
    ///
    /// `width` returns the current columns of the terminal, and `isInForeground` whether the line
    /// may be drawn.
    package init(
        _ name: String, style: ProgressView.Style, terminal: Terminal,
        width: @escaping @Sendable () -> Int,
        isInForeground: @escaping @Sendable () -> Bool = { true },
        write: @escaping @Sendable (String) -> Void
    ) {
        (self.name, self.style, self.terminal) = (name, style, terminal)
        (self.width, self.isInForeground, self.write) = (width, isInForeground, write)
    }

    /// Creates a line on standard error.
    package convenience init(_ name: String, style: ProgressView.Style) {
        self.init(
            name, style: style, terminal: .standardError,
            width: { Terminal.width(of: STDERR_FILENO) },
            isInForeground: { Terminal.isInForeground(of: STDERR_FILENO) },
            write: { StandardStreams.write($0, to: STDERR_FILENO) })
    }

    /// Shows the number of files so far, unless the line was removed.
    package func show(_ count: Int) {
        guard style == .bar else { return }
        state.withLock { state in
            guard state != .over else { return }
            guard isInForeground() else {
                // The shell has overwritten the line.
                state = .hidden
                return
            }
            // The last column stays free, because a terminal may wrap or erase text there.
            let text = PrintableText.fit(
                HubWords.listing(name, count), columns: width() - 1, unicode: terminal.unicode)
            write("\r\(text)\u{1b}[J\r")
            state = .shown
        }
    }

    /// Removes the line, which does not appear again.
    package func clear() {
        state.withLock { state in
            if state == .shown, isInForeground() { write("\r\u{1b}[J") }
            state = .over
        }
    }
}
