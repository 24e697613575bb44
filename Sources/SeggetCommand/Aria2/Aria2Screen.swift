import Glibc
import SeggetFormats
import SeggetReports
package import SeggetAria2

/// The output of a run like aria2's: a stream that may be a terminal, and a log file.
package struct Aria2Screen {
    /// Whether the readout is redrawn in place.
    package var isTerminal: Bool
    /// Whether the readout may be drawn now; a background job must not draw.
    package var isInForeground: () -> Bool = { true }
    /// Whether the output has colours.
    package var isColoured: Bool
    /// Returns the current width of the terminal.
    package var columns: () -> Int
    /// Writes to the stream.
    package var write: (String) -> Void
    /// Writes to the log file; `nil` if there is none.
    package var writeLog: ((String) -> Void)?

    /// The columns in use; the last one stays free, because a terminal may wrap there.
    package var width: Int { isTerminal ? max(0, columns() - 1) : 79 }
}

extension Aria2Screen {
    /// Creates the output that a run's options name, and opens the log file.
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
            // The mode is that of aria2c: the log contains no secrets.
            let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o666)
            guard file >= 0 else { throw Aria2LogError(path: path, errno: errno) }
            writeLog = { StandardStreams.write($0, to: file) }
        }
    }
}

/// The error if the log file cannot be opened.
package struct Aria2LogError: Error, Equatable {
    /// The path of the file.
    package var path: String
    /// The `errno` of open(2).
    package var errno: Int32

    /// The lines of the error for standard error.
    package var lines: [String] {
        Aria2Words.refusal(
            .unknown,
            "Failed to open the file \(path), cause: \(Diagnostic.describe(errno: errno))")
    }
}
