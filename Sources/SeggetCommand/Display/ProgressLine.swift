import SeggetReports
import Segmenter

/// One line that shows the progress of a download.
///
/// Pure: the line depends on its input only.
struct ProgressLine {
    /// The progress to show.
    var progress: DownloadProgress
    /// The name of the file.
    var name: String
    /// Whether the terminal can show Unicode characters.
    var unicode: Bool

    private static let gap = "  "
    private static let nameColumns = 10...24
    private static let mapColumns = 8...64

    /// Returns the line with at most `width` columns, and with fewer parts the narrower it is.
    ///
    /// In a narrower line, the rate limit is left out first, then the name. Then the map shrinks
    /// and is left out, followed by connections, remaining time, bytes and speed. The percentage
    /// remains, down to four columns.
    func text(width: Int) -> String {
        var parts: [String] = []
        var used = 0
        for part in essentials {
            let columns = part.count + (parts.isEmpty ? 0 : Self.gap.count)
            // The first part that does not fit ends the line: a shorter, less important part would
            // appear and disappear as numbers grow.
            guard used + columns <= width else { return parts.joined(separator: Self.gap) }
            parts.append(part)
            used += columns
        }
        // The name has priority over the rate limit, because several files may share the screen.
        if let limit {
            let columns = limit.count + Self.gap.count
            if share(width - used - columns).name > 0 {
                parts.append(limit)
                used += columns
            }
        }
        let (nameColumns, mapColumns) = share(width - used)
        if nameColumns > 0 {
            let label = PrintableText.fit(name, columns: nameColumns, unicode: unicode)
            let padding = max(0, nameColumns - PrintableText.width(label))
            parts.insert(label + String(repeating: " ", count: padding), at: 0)
        }
        if mapColumns > 0 {
            let cells = ProgressMap.draw(progress.map, columns: mapColumns, unicode: unicode)
            parts.append("[\(cells)]")
        }
        return parts.joined(separator: Self.gap)
    }

    /// A line for logs: the same facts, without the map and not shortened.
    var plain: String {
        let facts = (essentials + (limit.map { [$0] } ?? [])).map { $0.trimmingSpaces }
        return "\(PrintableText.fit(name, columns: .max, unicode: unicode)): "
            + facts.joined(separator: ", ")
    }

    /// The rate limit, if one is set.
    private var limit: String? {
        guard progress.phase == .downloading else { return nil }
        return progress.limit.map { "max \(Units.speed($0))" }
    }

    /// The parts in order of importance, with fixed widths so that the line does not jitter.
    private var essentials: [String] {
        var parts: [String] = []
        if let percent = Units.percent(progress.bytesDone, of: progress.size) {
            parts.append("\(percent)%".leftPadded(to: 4))
        }
        let done = Units.size(progress.bytesDone)
        let size = progress.size.map { "\(done.leftPadded(to: 8)) of \(Units.size($0))" }
        switch progress.phase {
        case .downloading:
            let speed = Units.speed(progress.bytesPerSecond).leftPadded(to: 10)
            // Without a size there is no percentage, so the received bytes are the most important
            // part.
            parts += size.map { [speed, $0] } ?? [done.leftPadded(to: 8), speed]
            if progress.size != nil {
                let left = progress.timeLeft.flatMap { Units.duration($0) }
                parts.append("ETA \((left ?? "-").leftPadded(to: 6))")
            }
            parts.append("\("\(progress.connections)".leftPadded(to: 2)) conn")
        case .starting, .waitingForNetwork, .verifying, .publishing, .ended:
            parts.append("\(progress.phase.rawValue)".leftPadded(to: 10))
            parts.append(size ?? done.leftPadded(to: 8))
        }
        return parts
    }

    /// Divides the columns that the essentials leave free; 0 leaves a part out.
    ///
    /// The smallest map has priority, then the name. The map grows into the remaining columns.
    private func share(_ room: Int) -> (name: Int, map: Int) {
        let frame = Self.gap.count + 2
        let smallestMap = progress.map.isEmpty ? 0 : Self.mapColumns.lowerBound + frame
        let wanted = min(
            Self.nameColumns.upperBound, PrintableText.width(PrintableText.escape(name)))
        let offered = min(wanted, room - smallestMap - Self.gap.count)
        let name = offered >= min(wanted, Self.nameColumns.lowerBound) ? offered : 0
        let rest = room - (name > 0 ? name + Self.gap.count : 0)
        guard smallestMap > 0, rest >= smallestMap else { return (name, 0) }
        return (name, min(Self.mapColumns.upperBound, rest - frame))
    }
}

extension String {
    /// Returns the text, padded with leading spaces to at least `columns` characters.
    fileprivate func leftPadded(to columns: Int) -> String {
        String(repeating: " ", count: max(0, columns - count)) + self
    }

    fileprivate var trimmingSpaces: String {
        String(drop { $0 == " " }.split(separator: " ").joined(separator: " "))
    }
}
