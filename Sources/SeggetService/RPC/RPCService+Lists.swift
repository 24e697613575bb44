import SeggetQueue
import SeggetReports
import Segmenter

// The methods that report tasks.
extension RPCService {
    /// The tasks that have neither a slot nor an end.
    static let waiting: [TaskStatus.Word] = [.waiting, .paused, .retrying, .waitingForNetwork]
    /// The tasks that have a slot.
    static let active = TaskStatus.Word.withSlot
    /// The tasks that have ended.
    static let stopped = TaskStatus.Word.ended

    func tellStatus(_ parameters: RPCParameters) async throws -> JSONValue {
        let keys = try parameters.keys(1)
        return try await status(parameters, keys ?? RPCStatus.keys).value(keys)
    }

    func tellActive(_ parameters: RPCParameters) async throws -> JSONValue {
        let keys = try parameters.keys(0)
        return try await tell(try await tasks(in: Self.active), keys)
    }

    func tellWaiting(_ parameters: RPCParameters) async throws -> JSONValue {
        try await tellPart(parameters, of: Self.waiting)
    }

    func tellStopped(_ parameters: RPCParameters) async throws -> JSONValue {
        try await tellPart(parameters, of: Self.stopped)
    }

    /// Reports a part of a list; a negative offset counts from the end, and reverses the order.
    private func tellPart(
        _ parameters: RPCParameters, of states: [TaskStatus.Word]
    ) async throws -> JSONValue {
        let (offset, count) = (try parameters.integer(0), try parameters.count(1))
        let keys = try parameters.keys(2)
        return try await AnswerGate.shared.pass {
            let tasks = try await tasks(in: states)
            guard offset < 0 else {
                return try await tell(
                    Array(tasks.dropFirst(Int(clamping: offset)).prefix(count)), keys)
            }
            let skipped = Int(clamping: -1 - max(offset, .min + 1))
            return try await tell(Array(tasks.reversed().dropFirst(skipped).prefix(count)), keys)
        }
    }

    /// Returns the tasks in some states: waiting ones in queue order, those with a result by its
    /// time.
    func tasks(in states: [TaskStatus.Word]) async throws -> [TaskReport] {
        try await queue.report(TaskFilter(selection: TaskSelection(states: states))).tasks
    }

    private func tell(_ reports: [TaskReport], _ keys: Set<String>?) async throws -> JSONValue {
        let needed = keys ?? RPCStatus.keys
        var values: [JSONValue] = []
        // The queue handles other calls between two slices.
        for start in stride(from: 0, to: reports.count, by: 100) {
            let slice = reports[start..<min(start + 100, reports.count)]
            var wholes: [QueueTask.ID: QueueTask] = [:]
            if needed.contains("files") {
                for task in try await queue.whole(slice.map(\.id)) { wholes[task.id] = task }
            }
            for report in slice {
                values.append(try await status(report, needed, wholes[report.id]).value(keys))
            }
        }
        return .array(values)
    }

    /// Returns the status of the task that a call names, with the facts that some keys need.
    ///
    /// - Parameters:
    ///   - parameters: The parameters of the call.
    ///   - keys: The keys.
    ///   - mostFiles: The maximum number of files of a data set.
    /// - Returns: The status.
    /// - Throws: `RPCError` or `QueueError`.
    func status(
        _ parameters: RPCParameters, _ keys: Set<String>, mostFiles: Int = RPCService.mostFiles
    ) async throws -> RPCStatus {
        try await status(try await find(parameters), keys, mostFiles: mostFiles)
    }

    /// The maximum number of files of each data set in a status; `aria2.getFiles` has all.
    static let mostFiles = 1000

    /// Returns the status of a task; `task` is its record, if the caller has it.
    private func status(
        _ report: TaskReport, _ keys: Set<String>, _ task: QueueTask? = nil,
        mostFiles: Int = RPCService.mostFiles
    ) async throws -> RPCStatus {
        var status = RPCStatus(report: report, task: task)
        let isPartial = report.size != nil && report.bytesDone > 0 && report.state != .completed
        let hasPieces = isPartial && keys.contains("bitfield")
        if status.task == nil, hasPieces || keys.contains("files") {
            status.task = try await queue.whole(report.id)
        }
        if hasPieces, let task = status.task {
            status.segments = try await queue.segments(of: task)
        }
        if report.files != nil, keys.contains("files") {
            status.list = try await queue.files(
                report.id.description, FileWindow(limit: mostFiles))
        }
        return status
    }

    func servers(_ parameters: RPCParameters) async throws -> JSONValue {
        let report = try await find(parameters)
        guard RPCStatus.Word(report) == .active else {
            throw RPCError("No active download for GID#\(report.id)")
        }
        let detail = try await queue.detail(report.id.description)
        let connections = detail.connections ?? []
        let servers = (detail.servers ?? []).enumerated().map { index, server -> JSONValue in
            let speed = connections.filter { $0.server == index }.reduce(0) {
                $0 + $1.bytesPerSecond
            }
            return [
                "uri": .string(server.url), "currentUri": .string(server.url),
                "downloadSpeed": .text(Int64(speed)),
            ]
        }
        return [["index": "1", "servers": .array(servers)]]
    }

    func peers(_ parameters: RPCParameters) async throws -> JSONValue {
        _ = try await find(parameters)
        return []
    }
}
