import ArgumentParser
import Assembler
import Glibc
import SeggetCommand
import SeggetQueue
import SeggetReports

/// A page on the terminal that is drawn again and again in place: when there is something new, and once a second,
/// since times go on and the terminal may have another size.
struct WatchScreen<Value: Sendable>: Sendable {
    /// What is drawn.
    struct Page: Sendable {
        var lines: [String]
        /// What is done once it was drawn.
        var shown: @Sendable () async throws -> Void
    }

    private let page: @Sendable (Value) -> Page

    /// Makes a screen.
    ///
    /// - Parameter page: Makes the page of the newest value.
    init(_ page: @escaping @Sendable (Value) -> Page) { self.page = page }

    /// Draws until the process is ended, or the terminal takes no more.
    ///
    /// - Parameter follow: Calls what it is given with each new value.
    /// - Returns: The code to end with.
    /// - Throws: What `follow` throws, and what is thrown by what is done once a page was drawn, but for that the
    ///   worker is gone.
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
                // Whoever works the queue next is told.
            }
            return nil
        }
    }
}

extension WatchScreen<Never> {
    /// Refuses `--watch` where it cannot be.
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

/// The other screen of a terminal: what was printed before it is there again afterwards.
enum OtherScreen {
    private static let isLeft = Monitor(false)

    /// Begins.
    ///
    /// - Returns: Whether the terminal took it.
    static func enter() -> Bool {
        StandardStreams.write("\u{1b}[?1049h\u{1b}[?25l", to: STDOUT_FILENO)
    }

    /// Draws lines in place of those that are there.
    ///
    /// - Returns: Whether the terminal took them.
    static func draw(_ lines: [String]) -> Bool {
        guard !isLeft.withLock({ $0 }) else { return true }
        // Line by line over what is there, so that nothing flickers; what is left behind is cleared.
        let cleared = lines.map { $0 + "\u{1b}[K" }
        let frame = "\u{1b}[H" + cleared.joined(separator: "\r\n") + "\u{1b}[J"
        return StandardStreams.write(frame, to: STDOUT_FILENO)
    }

    /// Ends, for good.
    static func leave() {
        isLeft.withLock { $0 = true }
        StandardStreams.write("\u{1b}[?25h\u{1b}[?1049l", to: STDOUT_FILENO)
    }
}
