import SeggetReports
package import Segmenter

/// The lines that show the progress of several files.
///
/// Pure: the lines depend on the values only.
package struct BatchLines {
    /// An active file.
    struct Lane {
        var name: String
        /// `nil` until the download of bytes starts.
        var progress: DownloadProgress?
    }

    /// The bytes and files of a set.
    package struct SetBytes {
        /// The bytes of all files; `nil` if a size is unknown.
        package var size: Int64?
        /// The bytes of the files that were complete before the run.
        package var complete: Int64
        /// The number of these files.
        package var files: Int

        package init(_ figures: SetFigures) {
            (size, complete, files) = (figures.bytes, figures.bytesComplete, figures.complete)
        }
    }

    /// The height of a terminal, in rows, from which on the active files of a set are shown.
    private static let fewestRows = 10

    /// The number of files.
    let count: Int
    /// The bytes of a set, of which some were complete before the run; `nil` for a list.
    let set: SetBytes?
    /// Whether the terminal can show Unicode characters.
    let unicode: Bool
    /// The active files, by their position in the list.
    var lanes: [Int: Lane] = [:]
    /// The number of complete files.
    var done: Int
    /// The failed files that were not tried again, by their position in the list.
    var failures: Set<Int> = []
    /// The bytes that ended files have received.
    var earlierBytes: Int64 = 0
    /// The speed of all files together, in bytes per second.
    var rate = 0.0

    init(count: Int, set: SetBytes? = nil, unicode: Bool) {
        (self.count, self.set, self.unicode) = (count, set, unicode)
        done = set?.files ?? 0
    }

    /// The bytes received over the network.
    var receivedBytes: Int64 {
        lanes.values.reduce(earlierBytes) { $0 + ($1.progress?.bytesReceived ?? 0) }
    }

    /// Returns lines of at most `columns` columns: the first active files, and the total.
    ///
    /// There are at most `rows` lines. Files are in the order of the list.
    func block(columns: Int, rows: Int) -> [String] {
        let most = set == nil || rows >= Self.fewestRows ? max(0, rows - 1) : 0
        let shown = lanes.sorted { $0.key < $1.key }.prefix(most).map(\.value)
        let widest = shown.map { PrintableText.width(PrintableText.escape($0.name)) }.max() ?? 0
        // Names get a third of the columns, and always leave enough for the percentage.
        let names = min(widest, max(8, min(32, columns / 3)), max(0, columns - 6))
        let files = shown.map { line($0, names: names, columns: columns) }
        let total = total(columns: columns)
        return set == nil ? files + [total] : [total] + files
    }

    /// One line with all facts, for logs.
    var plain: String { facts.joined(separator: ", ") }

    private func line(_ lane: Lane, names: Int, columns: Int) -> String {
        let label = PrintableText.fit(lane.name, columns: names, unicode: unicode)
        let padding = String(repeating: " ", count: max(0, names - PrintableText.width(label)))
        let rest = columns - (names > 0 ? names + 2 : 0)
        let text =
            lane.progress.map {
                ProgressLine(progress: $0, name: "", unicode: unicode).text(width: rest)
            } ?? (rest >= 11 ? " connecting" : "")
        guard !text.isEmpty else { return label }
        return names > 0 ? "\(label)\(padding)  \(text)" : text
    }

    /// Returns as many facts as fit; the first one that does not fit ends the line.
    private func total(columns: Int) -> String {
        let shortest = "\(done)/\(count)"
        var text = shortest.count <= columns ? shortest : ""
        var longer = ""
        for fact in facts {
            longer += (longer.isEmpty ? "" : ", ") + fact
            guard longer.count <= columns else { break }
            text = longer
        }
        return text
    }

    private var facts: [String] {
        var facts = ["\(done)/\(count) files"]
        if !failures.isEmpty { facts.append("\(failures.count) failed") }
        facts.append(Units.speed(rate))
        if let bytes = set?.complete {
            let size = set?.size.map { " of \(Units.size($0))" } ?? ""
            facts.append(Units.size(bytes + receivedBytes) + size)
        } else {
            facts.append(Units.size(receivedBytes))
        }
        facts.append("\(lanes.count) running")
        if let left = secondsLeft.flatMap(Units.duration) { facts.append("ETA \(left)") }
        return facts
    }

    /// The seconds until all files are done; known once all have started and have a size, or by the
    /// size of a set.
    private var secondsLeft: Double? {
        if let set, let size = set.size, failures.isEmpty, rate > 0, !lanes.isEmpty {
            return Double(max(0, size - set.complete - receivedBytes)) / rate
        }
        guard done + failures.count + lanes.count == count, rate > 0, !lanes.isEmpty else {
            return nil
        }
        var bytes: Int64 = 0
        for lane in lanes.values {
            guard let progress = lane.progress, let size = progress.size else { return nil }
            bytes += max(0, size - progress.bytesDone)
        }
        return Double(bytes) / rate
    }
}
