import FoundationEssentials
import SeggetQueue
import Segmenter

/// The activity of a queue, in Prometheus' text format 0.0.4.
struct Metrics: Sendable {
    private var lines = ""

    /// The media type of the text.
    static let type = "text/plain; version=0.0.4; charset=utf-8"

    /// Writes the metrics of a queue.
    ///
    /// - Parameters:
    ///   - view: The state of the queue.
    ///   - version: The version of segget.
    ///   - uptime: Seconds since the service started.
    init(_ view: QueueView, version: String, uptime: Double) {
        add("segget_info", "gauge", "The version of segget.", [(["version": version], 1)])
        add("segget_uptime_seconds", "gauge", "Time since the start.", [([:], uptime)])
        add(
            "segget_tasks", "gauge", "Tasks by state.",
            TaskStatus.Word.all.sorted { $0.rawValue < $1.rawValue }.map {
                (["state": $0.rawValue], Double(view.counts[$0] ?? 0))
            })
        add(
            "segget_connections", "gauge", "Connections that are transferring data.",
            [([:], Double(view.running.reduce(0) { $0 + ($1.connections ?? 0) }))])
        add(
            "segget_bytes_per_second", "gauge", "Total speed of all tasks.",
            [([:], view.bytesPerSecond)])
        add(
            "segget_received_bytes_total", "counter",
            "Bytes received from servers since the start.",
            [([:], Double(view.bytesReceived))])
        add(
            "segget_paused", "gauge", "Whether a rule of the settings pauses the queue.",
            [([:], view.pauseReason == nil ? 0 : 1)])
    }

    /// The text.
    var text: Data { Data(lines.utf8) }

    private mutating func add(
        _ name: String, _ type: String, _ help: String, _ samples: [([String: String], Double)]
    ) {
        lines += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
        for (labels, value) in samples {
            let texts = labels.sorted { $0.key < $1.key }.map { "\($0)=\"\(Self.escaped($1))\"" }
            let suffix = texts.isEmpty ? "" : "{\(texts.joined(separator: ","))}"
            lines += "\(name)\(suffix) \(Self.number(value))\n"
        }
    }

    /// Returns the value of a label, escaped for the text format.
    static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            .replacing("\n", with: "\\n")
    }

    private static func number(_ value: Double) -> String {
        Int64(exactly: value).map(String.init) ?? "\(value)"
    }
}
