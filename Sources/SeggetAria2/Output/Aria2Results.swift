package import Segmenter
import SeggetReports

/// The results of a run, as aria2c prints them at the end.
///
/// Pure.
package struct Aria2Results {
    /// The result of a file; the cases are in the order of the legend.
    package enum State: CaseIterable {
        case done, failed, unfinished, removed

        init(_ code: Aria2ErrorCode) {
            switch code {
            case .finished: self = .done
            case .inProgress: self = .unfinished
            case .removed: self = .removed
            default: self = .failed
            }
        }
    }

    /// The result of one file.
    package struct Row {
        package var gid: Download.ID
        package var code: Aria2ErrorCode
        /// The path, or the URL if there is no path.
        package var place: String
        /// The number of received bytes, and the time they took.
        package var received: (bytes: Int64, time: Duration)
        /// The completed part of the file in percent; `nil` if it is unknown.
        package var percent: Int64?

        package init(
            gid: Download.ID, code: Aria2ErrorCode, place: String,
            received: (bytes: Int64, time: Duration), percent: Int64?
        ) {
            self.gid = gid
            self.code = code
            self.place = place
            self.received = received
            self.percent = percent
        }
    }

    /// The results, in the order in which the downloads ended.
    package private(set) var rows: [Row] = []
    /// The code of the last failure; `finished` if there was none.
    private var lastError = Aria2ErrorCode.finished

    package init() {}

    /// Adds the result of a file.
    package mutating func add(_ row: Row) {
        rows.append(row)
        switch State(row.code) {
        case .failed: lastError = row.code
        case .done, .unfinished, .removed: break
        }
    }

    /// Returns the exit code of a run of `count` files.
    ///
    /// The code is 0 if all are complete, and that of the last failure if there was one. It is 7
    /// if nothing failed, but files are incomplete.
    package func code(of count: Int) -> Aria2ErrorCode {
        guard lastError == .finished else { return lastError }
        let done = rows.count { [.done, .removed].contains(State($0.code)) }
        return done >= count ? .finished : .inProgress
    }

    /// Returns the table of results with its legend.
    package func table(isFull: Bool, isColoured: Bool) -> String {
        let head = isFull ? "  %|path/URI" : "path/URI"
        let rule = isFull ? "===+" : ""
        var text =
            "\nDownload Results:\ngid   |stat|avg speed  |\(head)\n======+====+===========+\(rule)"
            + String(repeating: "=", count: 55 - rule.count) + "\n"
        for row in rows {
            let share = isFull ? "\(Self.padded(row.percent.map { "\($0)" } ?? "-", to: 3))|" : ""
            let place = row.place.isEmpty ? "n/a" : PrintableText.escape(row.place)
            text +=
                "\(Aria2Text.short(row.gid))|\(State(row.code).word(isColoured: isColoured))|"
                + "\(Self.padded(row.speed, to: 11))|\(share)\(place)\n"
        }
        let states = Set(rows.map { State($0.code) })
        guard !states.isEmpty else { return text }
        let legend = State.allCases.filter(states.contains)
        return text + "\nStatus Legend:\n" + legend.map(\.meaning).joined() + "\n"
    }

    private static func padded(_ text: String, to width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}

extension Aria2Results.Row {
    fileprivate var speed: String {
        let milliseconds = Units.whole(received.time.inSeconds * 1000)
        guard milliseconds > 0 else { return "n/a" }
        let rate = Units.whole(Double(max(0, received.bytes)) * 1000 / Double(milliseconds))
        return "\(Aria2Text.size(rate))/s"
    }
}

extension Aria2Results.State {
    /// Returns the word for the table, padded to four columns.
    fileprivate func word(isColoured: Bool) -> String {
        let (word, colour) =
            switch self {
            case .done: ("OK", "1;32")
            case .failed: ("ERR", "1;31")
            case .unfinished: ("INPR", "1;34")
            case .removed: ("RM", "1")
            }
        return (isColoured ? "\u{1b}[\(colour)m\(word)\u{1b}[0m" : word)
            + String(repeating: " ", count: 4 - word.count)
    }

    fileprivate var meaning: String {
        switch self {
        case .done: "(OK):download completed."
        case .failed: "(ERR):error occurred."
        case .unfinished: "(INPR):download in-progress."
        case .removed: "(RM):download removed."
        }
    }
}
