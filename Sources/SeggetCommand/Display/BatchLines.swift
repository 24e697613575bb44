import SeggetReports
import Segmenter

/// The lines that say how far several files are.
///
/// Pure: what they look like depends on the values only.
struct BatchLines {
    /// A file that is running.
    struct Lane {
        var name: String
        /// `nil` until bytes are being fetched.
        var progress: DownloadProgress?
    }

    /// Number of files.
    let count: Int
    /// Whether the terminal shows more than ASCII.
    let unicode: Bool
    /// The files that are running, by their place in the list.
    var lanes: [Int: Lane] = [:]
    /// Files that are there.
    var done = 0
    /// Files that are not, for good.
    var failed = 0
    /// Bytes that the files which are over have received.
    var earlierBytes: Int64 = 0
    /// Speed of all, in bytes per second.
    var rate = 0.0

    init(count: Int, unicode: Bool) {
        self.count = count
        self.unicode = unicode
    }

    /// Bytes that came over the network.
    var receivedBytes: Int64 {
        lanes.values.reduce(earlierBytes) { $0 + ($1.progress?.bytesReceived ?? 0) }
    }

    /// The lines, each on at most `columns` columns: as many files as fit into `rows` rows beside
    /// the total, those first that are first in the list.
    func block(columns: Int, rows: Int) -> [String] {
        let shown = lanes.sorted { $0.key < $1.key }.prefix(max(0, rows - 1)).map(\.value)
        let widest = shown.map { PrintableText.width(PrintableText.escape($0.name)) }.max() ?? 0
        // A third for the names, all else for what changes; the percentage in any case.
        let names = min(widest, max(8, min(32, columns / 3)), max(0, columns - 6))
        return shown.map { line($0, names: names, columns: columns) } + [total(columns: columns)]
    }

    /// All in one line, for logs.
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

    /// As many of the facts as fit; the first that does not ends the line.
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
        if failed > 0 { facts.append("\(failed) failed") }
        facts.append(Units.speed(rate))
        facts.append(Units.size(receivedBytes))
        facts.append("\(lanes.count) running")
        if let left = secondsLeft.flatMap(Units.duration) { facts.append("ETA \(left)") }
        return facts
    }

    /// Seconds until all are done, once all have begun and have a known size.
    private var secondsLeft: Double? {
        guard done + failed + lanes.count == count, rate > 0, !lanes.isEmpty else { return nil }
        var bytes: Int64 = 0
        for lane in lanes.values {
            guard let progress = lane.progress, let size = progress.size else { return nil }
            bytes += max(0, size - progress.bytesDone)
        }
        return Double(bytes) / rate
    }
}
