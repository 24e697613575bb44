import SeggetFormats
import SeggetReports

/// The result as one self-contained HTML file, with plots in SVG and without scripts.
struct BenchHTML {
    /// The facts at the top of the page; values may come from a server.
    var facts: [(name: String, value: String)]
    var summary: BenchSummary
    var measurements: [BenchMeasurement]

    private static let colours = [
        "#1f77b4", "#d95f02", "#2ca02c", "#c2185b", "#7b4fb5", "#8c6d31", "#008b8b", "#5f6b76",
    ]
    private static let style = """
        :root { color-scheme: light dark }
        body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
        table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1rem 0 }
        th, td { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #8886 }
        th:first-child, td:first-child { text-align: left }
        dt { float: left; clear: left; width: 9rem; opacity: .7 } dd { margin-left: 9rem }
        svg { width: 100%; height: auto } svg text { font: 12px system-ui, sans-serif; fill: currentColor }
        .axis { stroke: currentColor; stroke-opacity: .4 } .grid { stroke: currentColor; stroke-opacity: .12 }
        """

    /// The page.
    var text: String {
        let list = facts.map { "<dt>\(Self.escape($0.name))</dt><dd>\(Self.escape($0.value))</dd>" }
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
            <meta name="viewport" content="width=device-width">
            <title>segget bench</title>
            <style>
            \(Self.style)
            </style>
            </head>
            <body>
            <h1>segget bench</h1>
            <dl>
            \(list.joined(separator: "\n"))
            </dl>
            <h2>Rate</h2>
            \(rateTable)
            \(summary.notes.map { "<p>\(Self.escape($0))</p>" }.joined(separator: "\n"))
            \(ratioList)
            <h2>Rate against connections</h2>
            <p>The bar is the median of all rounds; the line spans the lowest to the highest.</p>
            \(ratePlot)
            <h2>Rate over time</h2>
            <p>The round of each that is nearest to its median.</p>
            \(timePlot)
            <h2>All measurements</h2>
            \(measurementTable)
            </body>
            </html>

            """
    }

    /// Escapes text for HTML and for quoted attributes, and makes control characters visible.
    static func escape(_ text: String) -> String {
        PrintableText.escape(text).reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.append(character)
            }
        }
    }

    // MARK: Tables

    private static func table(_ heads: [String], _ rows: [[String]]) -> String {
        func line(_ cells: [String], _ tag: String) -> String {
            "<tr>" + cells.map { "<\(tag)>\(escape($0))</\(tag)>" }.joined() + "</tr>"
        }
        return (["<table>", line(heads, "th")] + rows.map { line($0, "td") } + ["</table>"])
            .joined(separator: "\n")
    }

    private static func number(
        _ value: Double?, _ decimals: Int, times factor: Double = 1
    ) -> String {
        value.map { Units.fixed($0 * factor, decimals: decimals) } ?? "–"
    }

    private static func rate(_ rate: Double?, isShort: Bool = false) -> String {
        rate.map { (isShort ? "~" : "") + Units.speed($0) } ?? "–"
    }

    private var rateTable: String {
        Self.table(
            [
                "", "median", "lowest", "highest", "first byte, ms", "CPU s/GiB", "peak MiB",
                "rounds", "failed",
            ],
            summary.rows.map { row in
                [
                    row.subject.name, Self.rate(row.rate, isShort: row.isShort),
                    Self.rate(row.lowest), Self.rate(row.highest),
                    Self.number(row.firstByte, 0, times: 1000), Self.number(row.cpuPerGiB, 2),
                    Self.number(row.peakMemory.map(Double.init), 1, times: 1 / 0x1p20),
                    "\(row.good)", "\(row.failed)",
                ]
            })
    }

    private var ratioList: String {
        guard !summary.ratios.isEmpty else { return "" }
        return Self.table(
            ["", "times the rate", "times the CPU for each byte"],
            summary.ratios.map { ratio in
                [
                    "\(ratio.segget.name) : \(ratio.peer.name)", Self.number(ratio.rate, 2),
                    Self.number(ratio.cpu, 2),
                ]
            })
    }

    private var measurementTable: String {
        Self.table(
            [
                "", "round", "result", "bytes", "seconds", "rate", "first byte, ms", "CPU s",
                "peak MiB",
            ],
            measurements.map { measurement in
                [
                    measurement.turn.subject.name, "\(measurement.turn.round)",
                    measurement.end.name, "\(measurement.bytes)",
                    Self.number(measurement.wall, 2),
                    Self.rate(measurement.rate, isShort: measurement.isShort),
                    Self.number(measurement.firstByte, 0, times: 1000),
                    Self.number(measurement.cpu, 3),
                    Self.number(Double(measurement.peakMemory), 1, times: 1 / 0x1p20),
                ]
            })
    }

    // MARK: Plots

    private static let width = 720.0
    private static let height = 300.0
    private static let left = 86.0
    private static let bottom = 40.0
    private static let top = 12.0

    private static func point(_ value: Double) -> String { Units.fixed(max(0, value), decimals: 1) }

    private static func colour(_ index: Int) -> String { colours[index % colours.count] }

    private static func y(_ value: Double, of most: Double) -> Double {
        height - bottom - (most > 0 ? value / most : 0) * (height - bottom - top)
    }

    private static func line(
        _ from: (Double, Double), _ to: (Double, Double), _ style: String
    ) -> String {
        "<line x1=\"\(point(from.0))\" y1=\"\(point(from.1))\" x2=\"\(point(to.0))\" "
            + "y2=\"\(point(to.1))\" \(style)/>"
    }

    private static func label(_ text: String, _ x: Double, _ y: Double, _ anchor: String) -> String
    {
        "<text x=\"\(point(x))\" y=\"\(point(y))\" text-anchor=\"\(anchor)\">\(escape(text))</text>"
    }

    /// Returns a plot with an axis of rates from 0 to `most`.
    private static func plot(_ title: String, of most: Double, _ marks: [String]) -> String {
        let grid = (0...4).map { step in
            let value = most * Double(step) / 4
            return line(
                (left, y(value, of: most)), (width, y(value, of: most)),
                step == 0 ? "class=\"axis\"" : "class=\"grid\"")
                + label(Units.speed(value), left - 6, y(value, of: most) + 4, "end")
        }
        let head =
            "<svg viewBox=\"0 0 \(Int(width)) \(Int(height))\" role=\"img\" "
            + "aria-label=\"\(escape(title))\">"
        return ([head] + grid + marks + ["</svg>"]).joined(separator: "\n")
    }

    private var ratePlot: String {
        let most = summary.rows.compactMap(\.highest).max() ?? 0
        let step = (Self.width - Self.left) / Double(max(1, summary.rows.count))
        let marks = summary.rows.enumerated().map { index, row -> String in
            let x = Self.left + (Double(index) + 0.5) * step
            let style = "stroke=\"\(Self.colour(index))\" stroke-width=\"2\""
            let name = Self.label(row.subject.name, x, Self.height - Self.bottom + 18, "middle")
            guard let rate = row.rate, let low = row.lowest, let high = row.highest else {
                return name
            }
            let foot = Self.y(0, of: most), head = Self.y(rate, of: most)
            let bar =
                "<rect x=\"\(Self.point(x - step * 0.3))\" y=\"\(Self.point(head))\" "
                + "width=\"\(Self.point(step * 0.6))\" height=\"\(Self.point(foot - head))\" "
                + "fill=\"\(Self.colour(index))\" fill-opacity=\"0.35\"/>"
            let spread = Self.line(
                (x, Self.y(low, of: most)), (x, Self.y(high, of: most)), style)
            let middle = Self.line((x - step * 0.3, head), (x + step * 0.3, head), style)
            return bar + spread + middle + name
        }
        return Self.plot("rate against connections", of: most, marks)
    }

    private var timePlot: String {
        let longest = summary.rows.compactMap { $0.typical?.length }.max() ?? 0
        let steps = BenchMeasurement.steps(of: longest, atMost: 120)
        let interval = longest / Double(steps)
        let series = summary.rows.map {
            $0.typical?.rates(interval: interval, count: steps) ?? []
        }
        let most = series.flatMap { $0.compactMap { $0 } }.max() ?? 0
        let across = Self.width - Self.left
        var marks = series.enumerated().map { index, rates -> String in
            let points = rates.enumerated().compactMap { step, rate in
                rate.map {
                    Self.point(Self.left + (Double(step) + 0.5) / Double(steps) * across) + ","
                        + Self.point(Self.y($0, of: most))
                }
            }
            guard !points.isEmpty else { return "" }
            let x = Self.left + 8 + Double(index % 5) * 125
            let row = Self.height - 6 - Double(index / 5) * 13
            return "<polyline fill=\"none\" stroke=\"\(Self.colour(index))\" stroke-width=\"1.5\" "
                + "points=\"\(points.joined(separator: " "))\"/>"
                + "<rect x=\"\(Self.point(x))\" y=\"\(Self.point(row - 9))\" width=\"9\" "
                + "height=\"9\" fill=\"\(Self.colour(index))\"/>"
                + Self.label(summary.rows[index].subject.name, x + 13, row, "start")
        }
        marks.append(
            Self.label(
                "0 to \(Units.elapsed(longest))", Self.width, Self.height - Self.bottom - 4, "end"))
        return Self.plot("rate over time", of: most, marks)
    }
}
