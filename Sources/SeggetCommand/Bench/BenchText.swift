import SeggetReports

/// The result for a terminal, in lines: a table and two plots.
///
/// No part of the text comes from a server.
struct BenchText {
    var summary: BenchSummary
    /// Whether the terminal can show Unicode characters.
    var unicode: Bool
    /// The maximum columns of a line, at least 40; only long names exceed them.
    var width: Int

    init(_ summary: BenchSummary, unicode: Bool, width: Int) {
        self.summary = summary
        self.unicode = unicode
        self.width = max(40, min(width, 120))
    }

    /// All lines.
    var lines: [String] {
        var lines = table
        for (title, plot) in [
            (
                "rate: the median of all rounds, with the spread from the lowest to the highest",
                bars
            ),
            (timeTitle, sparks),
        ] where !plot.isEmpty {
            lines += ["", title] + plot
        }
        if !summary.ratios.isEmpty { lines += [""] + ratios }
        return lines
    }

    // MARK: Table

    private var dash: String { unicode ? "–" : "-" }

    private var table: [String] {
        let heads = [
            "", "median", "min \(dash) max", "first byte", "CPU s/GiB", "peak MiB", "rounds",
        ]
        let rows = summary.rows.map { row -> [String] in
            [
                row.subject.name, Self.rate(row) ?? "failed",
                Self.spread(row).map { "\($0.low) \(dash) \($0.high)" } ?? dash,
                row.firstByte.map { "\(Units.fixed($0 * 1000, decimals: 0)) ms" } ?? dash,
                row.cpuPerGiB.map { Units.fixed($0, decimals: 2) } ?? dash,
                row.peakMemory.map { Units.fixed(Double($0) / 0x1p20, decimals: 1) } ?? dash,
                "\(row.good)",
            ]
        }
        let all = [heads] + rows
        let widths = heads.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { cells in
            let padded = cells.enumerated().map { column, text in
                let space = String(repeating: " ", count: widths[column] - text.count)
                return column == 0 ? text + space : space + text
            }
            var line = padded.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    private static func rate(_ row: BenchSummary.Row) -> String? {
        row.rate.map { (row.isShort ? "~" : "") + Units.speed($0) }
    }

    private static func spread(_ row: BenchSummary.Row) -> (low: String, high: String)? {
        guard let low = row.lowest, let high = row.highest else { return nil }
        return (Units.size(Units.whole(low)), Units.speed(high))
    }

    private var ratios: [String] {
        summary.ratios.map { ratio in
            let cpu = ratio.cpu.map {
                ", \(Units.fixed($0, decimals: 2)) times its CPU for each byte"
            }
            return "\(ratio.segget.name) : \(ratio.peer.name) = "
                + "\(Units.fixed(ratio.rate, decimals: 2)) times the rate\(cpu ?? "")"
        }
    }

    // MARK: Plots

    private var nameWidth: Int { summary.rows.map(\.subject.name.count).max() ?? 0 }

    private func padded(_ name: String) -> String {
        name + String(repeating: " ", count: nameWidth - name.count)
    }

    /// The rate of each subject as a bar.
    private var bars: [String] {
        let most = summary.rows.compactMap(\.highest).max() ?? 0
        guard most > 0 else { return [] }
        let texts = summary.rows.map { Self.rate($0) ?? "failed" }
        let columns = width - nameWidth - 4 - (texts.map(\.count).max() ?? 0)
        guard columns >= 4 else { return [] }
        return zip(summary.rows, texts).map { row, text in
            let bar = Self.bar(
                row.rate ?? 0, low: row.lowest, high: row.highest, of: most, columns: columns,
                unicode: unicode)
            return "\(padded(row.subject.name))  \(bar)  \(text)"
        }
    }

    private static let eighths: [Character] = ["▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"]

    /// Returns a bar of `columns` for a value from 0 to `most`, with a line from `low` to `high`.
    static func bar(
        _ value: Double, low: Double?, high: Double?, of most: Double, columns: Int, unicode: Bool
    ) -> String {
        func place(_ value: Double) -> Int {
            most > 0 ? Int((min(max(0, value / most), 1) * Double(columns * 8)).rounded()) : 0
        }
        let filled = place(value)
        var cells = [Character](repeating: " ", count: columns)
        for cell in 0..<columns {
            let part = min(8, filled - cell * 8)
            guard part > 0 else { break }
            if unicode { cells[cell] = eighths[part - 1] } else if part >= 4 { cells[cell] = "#" }
        }
        if let low, let high, high > low {
            // Only the line beyond the bar is drawn: the lowest value is below the median anyway.
            let last = min(columns - 1, place(high) / 8)
            for cell in 0...max(0, last) where cells[cell] == " " {
                cells[cell] = unicode ? "╌" : "-"
            }
        }
        return String(cells)
    }

    private var timeColumns: Int {
        BenchMeasurement.steps(of: longest, atMost: max(8, min(64, width - nameWidth - 2)))
    }

    private var longest: Double { summary.rows.compactMap { $0.typical?.length }.max() ?? 0 }

    private var series: [(name: String, rates: [Double?])] {
        let interval = longest / Double(timeColumns)
        return summary.rows.compactMap { row in
            row.typical.map {
                ($0.turn.subject.name, $0.rates(interval: interval, count: timeColumns))
            }
        }
    }

    private var timeTitle: String {
        let most = series.flatMap { $0.rates.compactMap { $0 } }.max() ?? 0
        return "rate over time, of the round nearest to the median: "
            + "\(Units.elapsed(longest)) from left to right, at most \(Units.speed(most))"
    }

    /// The rate of each subject over time, as a line of blocks.
    private var sparks: [String] {
        let series = series
        let most = series.flatMap { $0.rates.compactMap { $0 } }.max() ?? 0
        guard most > 0, longest > 0 else { return [] }
        return series.map { name, rates in
            var line = "\(padded(name))  \(Self.spark(rates, of: most, unicode: unicode))"
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    /// Returns one character per value, which is from 0 to `most`; `nil` gives a space.
    static func spark(_ values: [Double?], of most: Double, unicode: Bool) -> String {
        let levels: [Character] = Array(unicode ? "▁▂▃▄▅▆▇█" : "_.-:=+*#")
        return String(
            values.map { value in
                guard let value else { return " " }
                let share = most > 0 ? min(max(0, value / most), 1) : 0
                return levels[min(levels.count - 1, Int(share * Double(levels.count)))]
            })
    }
}
