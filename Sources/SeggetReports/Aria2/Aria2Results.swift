package import Segmenter

/// What became of the files of a run, as aria2c lists it at the end.
///
/// Pure.
package struct Aria2Results {
    /// What became of a file, in the order in which the words are explained.
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

    /// A file that has ended.
    package struct Row {
        package var gid: Download.ID
        package var code: Aria2ErrorCode
        /// Its path, or its URL where it has none.
        package var place: String
        /// Bytes that came, and in how much time.
        package var received: (bytes: Int64, time: Duration)
        /// How much of the file is there, in percent; `nil` where that cannot be said.
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

    /// The files, in the order in which they ended.
    package private(set) var rows: [Row] = []
    /// What the run ends with where not all files are there: the code of the last failure.
    private var lastError = Aria2ErrorCode.finished

    package init() {}

    /// Adds a file that has ended.
    package mutating func add(_ row: Row) {
        rows.append(row)
        switch State(row.code) {
        case .failed: lastError = row.code
        case .done, .unfinished, .removed: break
        }
    }

    /// What a run of so many files ends with: 0 when all are there, else the code of the failure that came
    /// last, and 7 when nothing failed, but files are not there.
    package func code(of count: Int) -> Aria2ErrorCode {
        guard lastError == .finished else { return lastError }
        let done = rows.count { [.done, .removed].contains(State($0.code)) }
        return done >= count ? .finished : .inProgress
    }

    /// The table, and what its words mean.
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
    /// The word of the table, on four columns.
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
