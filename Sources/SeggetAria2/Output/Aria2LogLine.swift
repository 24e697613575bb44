import SeggetReports

/// A line of aria2c's log, for the console and for a file.
package struct Aria2LogLine {
    /// The level of the line.
    package let level: Aria2Console.Level
    /// The text, with control characters as visible escapes.
    private let text: String

    /// Creates a line, with continuation lines below it.
    package init(_ level: Aria2Console.Level, _ text: String, below: [String] = []) {
        self.level = level
        self.text = ([text] + below).map(PrintableText.escape).joined(separator: "\n")
    }

    /// Returns the form for the console: an empty line, then the line.
    package func console(at time: Aria2Time, isColoured: Bool) -> String {
        let name = level.rawValue.uppercased()
        let shown = isColoured ? "\u{1b}[1;\(level.colourCode)m\(name)\u{1b}[0m" : name
        return "\n\(time.console) [\(shown)] \(text)\n"
    }

    /// Returns the form for a log file.
    package func file(at time: Aria2Time) -> String {
        "\(time.log) [\(level.rawValue.uppercased())] [segget:0] \(text)\n"
    }
}

extension Aria2Console.Level {
    /// Returns whether the level is at least `least`.
    package func reaches(_ least: Self) -> Bool { rank >= least.rank }

    private var rank: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .notice: 2
        case .warn: 3
        case .error: 4
        }
    }

    fileprivate var colourCode: Int {
        switch self {
        case .debug: 37
        case .info: 36
        case .notice: 32
        case .warn: 33
        case .error: 31
        }
    }
}
