import Glibc
package import SeggetFormats
import SeggetReports

/// Where a run in aria2's manner prints: a stream that may be a terminal, and the file of its log.
package struct Aria2Screen {
    /// Whether the readout is redrawn in place.
    package var isTerminal: Bool
    /// Whether the readout may be drawn now: not by a background job.
    package var isInForeground: () -> Bool = { true }
    /// Whether there are colours.
    package var isColoured: Bool
    /// Present width of the terminal.
    package var columns: () -> Int
    /// Writes to the stream.
    package var write: (String) -> Void
    /// Writes to the file of the log; `nil` where there is none.
    package var writeLog: ((String) -> Void)?

    /// Columns that are written to: the last one stays free, where a terminal may wrap.
    package var width: Int { isTerminal ? max(0, columns() - 1) : 79 }
}

extension Aria2Screen {
    /// The stream that a run's options name, and the file of its log, which is opened here.
    ///
    /// - Throws: `Aria2LogError`.
    package init(_ console: Aria2Console) throws(Aria2LogError) {
        let descriptor = console.usesStandardError ? STDERR_FILENO : STDOUT_FILENO
        let terminal = Terminal(isTerminal: isatty(descriptor) == 1) { name in
            getenv(name).map { String(cString: $0) }
        }
        self.init(
            isTerminal: terminal.canRedraw, isColoured: terminal.colour && console.hasColour,
            columns: { Terminal.width(of: descriptor) },
            write: { StandardStreams.write($0, to: descriptor) })
        if isTerminal { isInForeground = { Terminal.isInForeground(of: descriptor) } }
        switch console.log {
        case nil, "": break
        case "-": writeLog = write
        case let path?:
            // As aria2c makes it: nothing secret is in it.
            let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o666)
            guard file >= 0 else { throw Aria2LogError(path: path, errno: errno) }
            writeLog = { StandardStreams.write($0, to: file) }
        }
    }
}

/// The file of the log cannot be opened.
package struct Aria2LogError: Error, Equatable {
    /// Its path.
    package var path: String
    /// The `errno` of open(2).
    package var errno: Int32

    /// What is said of it on standard error.
    package var lines: [String] {
        Aria2Words.refusal(
            .unknown,
            "Failed to open the file \(path), cause: \(Diagnostic.describe(errno: errno))")
    }
}
