import ArgumentParser
import Assembler
import Glibc
import SeggetCommand
import SeggetQueue
import SeggetReports

/// Redraws a page on the terminal: on each change, and once a second.
///
/// The second turn updates times, and adapts to a new size of the terminal.
struct WatchScreen<Value: Sendable>: Sendable {
    /// The content to draw.
    struct Page: Sendable {
        var lines: [String]
        /// Called after the page is drawn.
        var shown: @Sendable () async throws -> Void
    }

    private let page: @Sendable (Value) -> Page

    /// Creates a screen.
    ///
    /// - Parameter page: Returns the page of the newest value.
    init(_ page: @escaping @Sendable (Value) -> Page) { self.page = page }

    /// Draws until the process ends, or the terminal cannot be written.
    ///
    /// - Parameter follow: Calls its argument with each new value.
    /// - Returns: The exit code.
    /// - Throws: The errors of `follow` and of ``Page/shown``, except that the worker has ended.
    func run(
        _ follow: @escaping @Sendable (@escaping @Sendable (Value) -> Void) async throws -> Never
    ) async throws -> ExitStatus {
        guard OtherScreen.enter() else { return .disk }
        defer { OtherScreen.leave() }
        return try await Following.newest(follow) { value in
            let page = page(value)
            guard OtherScreen.draw(page.lines) else { return .disk }
            do {
                try await page.shown()
            } catch let error as QueueError where error.code == .worker {
                // The worker has ended: `shown` is called again after the next page.
            }
            return nil
        }
    }
}

extension WatchScreen<Never> {
    /// Refuses `--watch` if it cannot be used.
    ///
    /// - Throws: `ValidationError`.
    static func check(_ isWatch: Bool, json: Bool) throws {
        guard !isWatch || !json else {
            throw ValidationError("`--watch` and `--json` cannot be used together")
        }
        guard !isWatch || isatty(STDOUT_FILENO) == 1 else {
            throw ValidationError("`--watch` needs a terminal as standard output")
        }
    }
}

/// The alternate screen of a terminal, which keeps the earlier output.
enum OtherScreen {
    private static let isLeft = Monitor(false)

    /// Switches to the alternate screen.
    ///
    /// - Returns: Whether the terminal could be written.
    static func enter() -> Bool {
        StandardStreams.write("\u{1b}[?1049h\u{1b}[?25l", to: STDOUT_FILENO)
    }

    /// Replaces the lines on the screen.
    ///
    /// - Returns: Whether the terminal could be written.
    static func draw(_ lines: [String]) -> Bool {
        guard !isLeft.withLock({ $0 }) else { return true }
        // Overwriting line by line prevents flicker; the remains of the old lines are erased.
        let cleared = lines.map { $0 + "\u{1b}[K" }
        let frame = "\u{1b}[H" + cleared.joined(separator: "\r\n") + "\u{1b}[J"
        return StandardStreams.write(frame, to: STDOUT_FILENO)
    }

    /// Leaves the alternate screen; later drawing does nothing.
    static func leave() {
        isLeft.withLock { $0 = true }
        StandardStreams.write("\u{1b}[?25h\u{1b}[?1049l", to: STDOUT_FILENO)
    }
}
