import Glibc

/// The capabilities of a terminal, from the environment and the kernel.
package struct Terminal: Sendable {
    /// Whether the terminal can show Unicode characters.
    package var unicode: Bool
    /// Whether colours are wanted.
    package var colour: Bool
    /// Whether a line can be redrawn in place.
    package var canRedraw: Bool

    /// Derives the capabilities from the environment.
    ///
    /// `isTerminal` is whether the output is a terminal.
    package init(isTerminal: Bool, environment: (String) -> String?) {
        func value(_ name: String) -> String? {
            environment(name).flatMap { $0.isEmpty ? nil : $0 }
        }
        // POSIX: the first of these variables that is set and not empty counts.
        let locale = value("LC_ALL") ?? value("LC_CTYPE") ?? value("LANG") ?? ""
        unicode = ["UTF-8", "UTF8"].contains { locale.uppercased().contains($0) }
        canRedraw = isTerminal && value("TERM").map { $0 != "dumb" } ?? false
        colour = canRedraw && value("NO_COLOR") == nil
    }

    /// The terminal of standard error.
    package static var standardError: Terminal {
        Terminal(isTerminal: isatty(STDERR_FILENO) == 1) { name in
            getenv(name).map { String(cString: $0) }
        }
    }

    /// The terminal of standard output.
    package static var standardOutput: Terminal {
        Terminal(isTerminal: isatty(STDOUT_FILENO) == 1) { name in
            getenv(name).map { String(cString: $0) }
        }
    }

    /// Whether the process is in the foreground of the descriptor's terminal (tcgetpgrp(3)).
    ///
    /// A background job would draw into what the user types. If the descriptor is not the process's
    /// controlling terminal, tcgetpgrp(3) fails, and the process counts as in the foreground.
    package static func isInForeground(of descriptor: Int32) -> Bool {
        let group = tcgetpgrp(descriptor)
        return group < 0 || group == getpgrp()
    }

    /// Returns the current width of the descriptor's terminal in columns; 80 if it states none.
    package static func width(of descriptor: Int32) -> Int { size(of: descriptor).columns }

    /// Returns the current size of the descriptor's terminal; 80 × 24 if it states none.
    package static func size(of descriptor: Int32) -> (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), size.ws_row > 0 ? Int(size.ws_row) : 24)
    }
}
