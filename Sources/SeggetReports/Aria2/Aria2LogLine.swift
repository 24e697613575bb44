package import SeggetFormats

/// A line of aria2c's log: on the console, and in a file.
package struct Aria2LogLine {
    /// How important it is.
    package let level: Aria2Console.Level
    /// What it says; control characters are visible escapes.
    private let text: String

    /// A line, and others below it that belong to it.
    package init(_ level: Aria2Console.Level, _ text: String, below: [String] = []) {
        self.level = level
        self.text = ([text] + below).map(PrintableText.escape).joined(separator: "\n")
    }

    /// As the console shows it: an empty line, then it.
    package func console(at time: Aria2Time, isColoured: Bool) -> String {
        let name = level.rawValue.uppercased()
        let shown = isColoured ? "\u{1b}[1;\(level.colourCode)m\(name)\u{1b}[0m" : name
        return "\n\(time.console) [\(shown)] \(text)\n"
    }

    /// As it stands in a file.
    package func file(at time: Aria2Time) -> String {
        "\(time.log) [\(level.rawValue.uppercased())] [segget:0] \(text)\n"
    }
}

extension Aria2Console.Level {
    /// Whether lines of this level are written where it takes `least` for a line to be.
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
