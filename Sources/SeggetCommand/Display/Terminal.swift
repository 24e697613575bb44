import Glibc

/// What is known about the terminal from its environment, and from the kernel.
package struct Terminal: Sendable {
    /// Whether characters beyond ASCII show.
    package var unicode: Bool
    /// Whether colours are wanted.
    package var colour: Bool
    /// Whether a line can be redrawn in place.
    package var canRedraw: Bool

    /// Judges an environment; `isTerminal` says whether the output goes to a terminal at all.
    package init(isTerminal: Bool, environment: (String) -> String?) {
        func value(_ name: String) -> String? {
            environment(name).flatMap { $0.isEmpty ? nil : $0 }
        }
        // POSIX: the first of these that is set and not empty decides.
        let locale = value("LC_ALL") ?? value("LC_CTYPE") ?? value("LANG") ?? ""
        unicode = ["UTF-8", "UTF8"].contains { locale.uppercased().contains($0) }
        canRedraw = isTerminal && value("TERM").map { $0 != "dumb" } ?? false
        colour = canRedraw && value("NO_COLOR") == nil
    }

    /// The terminal behind standard error.
    package static var standardError: Terminal {
        Terminal(isTerminal: isatty(STDERR_FILENO) == 1) { name in
            getenv(name).map { String(cString: $0) }
        }
    }

    /// The terminal behind standard output.
    package static var standardOutput: Terminal {
        Terminal(isTerminal: isatty(STDOUT_FILENO) == 1) { name in
            getenv(name).map { String(cString: $0) }
        }
    }

    /// Whether the process is in the foreground of the terminal behind the descriptor (tcgetpgrp(3)): a background
    /// job would draw into what is being typed.
    ///
    /// Behind what is not the process's own terminal nobody can be asked: that counts as the foreground.
    package static func isInForeground(of descriptor: Int32) -> Bool {
        let group = tcgetpgrp(descriptor)
        return group < 0 || group == getpgrp()
    }

    /// Present width of the terminal behind the descriptor, in columns; 80 when it states none.
    package static func width(of descriptor: Int32) -> Int { size(of: descriptor).columns }

    /// Present size of the terminal behind the descriptor; 80 times 24 when it states none.
    package static func size(of descriptor: Int32) -> (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), size.ws_row > 0 ? Int(size.ws_row) : 24)
    }
}
