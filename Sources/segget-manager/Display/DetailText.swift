import SeggetFormats
import SeggetQueue
import SeggetReports
import Segmenter

/// The output of `segget show`.
///
/// Pure.
struct DetailText {
    /// The columns of the terminal; `nil` does not cut lines.
    var columns: Int?
    /// The time, in seconds since 1970.
    var now: Double
    /// Whether the terminal can show Unicode characters.
    var unicode: Bool
    /// Whether colours are wanted.
    var colour: Bool

    private static let mapWidth = 60

    /// The files of a data set that are shown with its facts: those that say most.
    static let filesShown = FileWindow(states: [.active, .failed], limit: 20)

    /// Returns all lines.
    ///
    /// - Parameters:
    ///   - detail: The task.
    ///   - files: The files of a data set that ``filesShown`` selects; `nil` for one file.
    /// - Returns: The lines.
    func lines(_ detail: TaskDetail, _ files: TaskFiles? = nil) -> [String] {
        let events = events(detail)
        var lines = facts(detail)
        if let files {
            lines += files.files.map { fit("  \(line($0))") }
            let rest = files.matching - files.files.count
            let note = rest > 0 ? "and \(Units.count(Int64(rest), "other")); " : ""
            lines.append(fit("  \(note)`segget show --files \(detail.task.id)` lists all files"))
        }
        return lines + (events.isEmpty ? [] : [""]) + events
    }

    /// Returns the lines of `segget show --files`: the files, and how many of each state there are.
    func list(_ part: TaskFiles, _ window: FileWindow) -> [String] {
        var lines = part.files.map { fit(line($0)) }
        let counts = TaskFile.State.allCases.compactMap { state in
            part.counts[state.rawValue].map { "\($0) \(state.rawValue)" }
        }.joined(separator: ", ")
        let end = window.offset + part.files.count
        let range =
            part.files.count < part.matching
            ? "files \(min(window.offset + 1, end)) to \(end) of \(part.matching); " : ""
        lines.append(fit(range + counts))
        return lines
    }

    /// Returns the line of a file: its state, how much of it is there, its path, and the reason if
    /// it failed.
    private func line(_ file: TaskFile) -> String {
        let state = file.state.rawValue
        let percent =
            file.state == .active ? Units.percent(file.bytesDone, of: file.size) : nil
        let share = percent.map { "\($0) %" } ?? ""
        let size = file.size.map(Units.size) ?? ""
        func pad(_ text: String, _ width: Int) -> String {
            String(repeating: " ", count: max(0, width - text.utf8.count))
        }
        let reason = file.error.map { ": \($0.message)" } ?? ""
        return state + pad(state, 9) + pad(share, 5) + share + pad(size, 10) + size
            + "  \(file.path)\(reason)"
    }

    /// Returns as many lines as fit: facts first, then the newest events.
    ///
    /// - Parameters:
    ///   - detail: The task.
    ///   - note: A note for the last line, if any.
    ///   - rows: The rows of the terminal.
    /// - Returns: The lines.
    func page(_ detail: TaskDetail, note: String?, rows: Int) -> [String] {
        let below = note.map { [fit($0)] } ?? []
        let facts = Array(facts(detail).prefix(max(0, rows - below.count)))
        let room = rows - facts.count - below.count - 1
        let events = events(detail).suffix(max(0, room))
        return facts + (events.isEmpty ? [] : [""]) + events + below
    }

    /// Returns the lines with the current facts.
    private func facts(_ detail: TaskDetail) -> [String] {
        let task = detail.task
        var lines: [String] = []
        func add(_ name: String, _ text: String?) {
            guard let text, !text.isEmpty else { return }
            let label = name + String(repeating: " ", count: max(1, 14 - name.count))
            let line = fit(label + text)
            // Labels contain no escaped characters; a label that is cut is not bold.
            let isBold = colour && line.hasPrefix(label)
            lines.append(
                isBold ? "\u{1b}[1m\(label)\u{1b}[0m\(line.dropFirst(label.count))" : line)
        }
        add("task", task.id.description)
        add("state", TaskText.sentence(task, now: now))
        add("url", task.url)
        for url in detail.urls where url != task.url { add("downloaded from", url) }
        add("redirected to", detail.finalURL == task.url ? nil : detail.finalURL)
        if task.files == nil {
            add("file", task.path ?? "in \(task.folder), named by the server")
        } else {
            add("folder", task.folder)
            add("files", TaskText.files(task))
        }
        add("size", size(task))
        if let speed = task.bytesPerSecond {
            let left = task.secondsLeft.flatMap { Units.duration(.seconds($0)) }
            add("speed", Units.speed(speed) + (left.map { ", \($0) left" } ?? ""))
            add("connections", task.connections.map(String.init))
        }
        let servers = detail.servers ?? []
        for (index, server) in servers.enumerated() {
            add(servers.count > 1 ? "server \(index + 1)" : "server", text(server))
        }
        for connection in detail.connections ?? [] {
            add(
                servers.count > 1 ? "from server \(connection.server + 1)" : "connection",
                text(connection))
        }
        add("map", map(detail))
        add("ranges", ranges(detail.segments))
        add("type", task.contentType)
        add("etag", detail.etag)
        add("last modified", detail.lastModified)
        add("identity", detail.identity)
        for digest in task.digests { add("verified", digest) }
        for option in detail.options.map(Self.texts) ?? [] { add("option", option) }
        add("tags", task.tags.joined(separator: " "))
        add("position", task.position.map { "\($0) in the queue" })
        add("added", day(task.added))
        add("started", task.started.map(day))
        add("last byte", task.lastByte.map(day))
        add("ended", task.finished.map(day))
        add("attempts", task.attempts > 0 ? "\(task.attempts) failed" : nil)
        if let problem = task.error {
            add("error", "\(problem.message) (exit code \(problem.code))")
            add("hint", problem.queueHint(task.id))
        }
        return lines
    }

    /// Returns the changed options in the format of `segget set --option`.
    private static func texts(_ options: OptionChanges) -> [String] {
        TransferOption.table.filter {
            options.keys.contains($0.key) && $0.effect != .never
        }.compactMap { option in
            guard let name = option.names.first else { return nil }
            let texts = name.texts(option, options.values)
            guard !texts.isEmpty, texts != name.texts(option, DownloadOptions()) else { return nil }
            return "\(name.text)=\(texts.joined(separator: ", "))"
        }
    }

    /// Returns the lines with the events.
    private func events(_ detail: TaskDetail) -> [String] {
        detail.events.map { fit("\(day($0.time))  \($0.message)") }
    }

    /// Returns a line, cut at the width of the terminal.
    private func fit(_ line: String) -> String {
        columns.map { PrintableText.fit(line, columns: $0, unicode: unicode) }
            ?? PrintableText.escape(line)
    }

    private func size(_ task: TaskReport) -> String {
        guard let size = task.size else {
            return task.bytesDone > 0
                ? "\(Units.size(task.bytesDone)) so far, size unknown" : ""
        }
        guard task.bytesDone < size else { return "\(Units.size(size)) (\(size) bytes)" }
        let percent = Units.percent(task.bytesDone, of: size) ?? 0
        return "\(Units.size(task.bytesDone)) of \(Units.size(size)), \(percent) %"
    }

    private func text(_ server: TaskDetail.Server) -> String {
        let what =
            switch server.state {
            case "used":
                "\(Units.size(server.bytes)) over \(Units.count(Int64(server.connections), "connection"))"
            case "dropped": "dropped" + (server.message.map { ": \($0)" } ?? "")
            default: "not used until a sample has been compared"
            }
        return "\(server.url) (\(what))"
    }

    private func text(_ connection: TaskDetail.Connection) -> String {
        var parts = [connection.state.replacing("_", with: " ")]
        if connection.bytesPerSecond > 0 {
            parts[0] += " " + Units.speed(connection.bytesPerSecond)
        }
        if let start = connection.start {
            let length = connection.end.map { $0 - start }
            let percent = Units.percent((connection.position ?? start) - start, of: length)
            let end = connection.end.map { " to \(Units.size($0))" } ?? " on"
            parts.append((percent.map { "\($0) % of " } ?? "") + Units.size(start) + end)
        }
        if let address = connection.address { parts.append(address) }
        return parts.joined(separator: ", ")
    }

    /// Returns the received parts of the file, drawn in cells from start to end.
    private func map(_ detail: TaskDetail) -> String {
        guard let size = detail.task.size, size > 0, !detail.segments.isEmpty else { return "" }
        let cells = (0..<Self.mapWidth).map { cell -> Double in
            let start = Double(size) * Double(cell) / Double(Self.mapWidth)
            let end = Double(size) * Double(cell + 1) / Double(Self.mapWidth)
            let there = detail.segments.reduce(0) {
                $0 + max(0, min(end, Double($1.end)) - max(start, Double($1.start)))
            }
            return there / max(1, end - start)
        }
        return cells.map { share in
            unicode
                ? share >= 0.999 ? "█" : share > 0.5 ? "▓" : share > 0 ? "▒" : "░"
                : share >= 0.999 ? "#" : share > 0 ? "+" : "."
        }.joined()
    }

    private func ranges(_ segments: [TaskDetail.Segment]) -> String {
        let shown = segments.prefix(8).map { "\($0.start)-\($0.end - 1)" }
        let rest = segments.count - shown.count
        return shown.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }

    private func day(_ seconds: Double) -> String { TimeText.dayAndTime(seconds) }
}
