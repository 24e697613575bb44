import Foundation
import Segmenter

@testable import SeggetQueue

/// A fake queue of two tasks that records all calls.
actor FakeDoor: RPCQueue {
    /// All received commands.
    private(set) var commands: [QueueCommand] = []
    private(set) var filters: [TaskFilter] = []
    private(set) var windows: [TaskWindow] = []
    private(set) var fileWindows: [FileWindow] = []
    private(set) var kept = QueueSettings()
    /// The error of every call.
    var failure: QueueError?
    /// The length of an error's message in the first task, in bytes, for long responses.
    var padding = 0
    /// The current tasks.
    private(set) var tasks = Sample.tasks
    /// Whether the first task receives a byte each time its changes are read.
    private var isMoving = false
    private var touched: Set<QueueTask.ID> = []
    private var bells: [UInt64: @Sendable () -> Void] = [:]
    private var isHeld = false
    private(set) var waiting = 0
    private var waiters: [CheckedContinuation<Void, Never>] = []

    func fail(_ error: QueueError?) { failure = error }
    func pad(_ bytes: Int) { padding = bytes }

    /// Delays all calls except those for settings.
    func hold() { isHeld = true }

    /// Completes the delayed calls.
    func release() {
        isHeld = false
        for waiter in waiters { waiter.resume() }
        waiters = []
    }

    private func pass() async throws(QueueError) {
        if isHeld {
            waiting += 1
            await withCheckedContinuation { waiters.append($0) }
            waiting -= 1
        }
        if let failure { throw failure }
    }

    func perform(_ commands: [QueueCommand]) async throws(QueueError) -> [[CommandResult]] {
        try await pass()
        self.commands += commands
        return commands.map { command in
            switch command {
            case .add(let task): [CommandResult(task.id ?? Sample.first, .done)]
            case .start(let tasks), .pause(let tasks), .resume(let tasks), .cancel(let tasks, _),
                .retry(let tasks), .remove(let tasks, _), .move(let tasks, _),
                .rename(let tasks, _, _), .set(let tasks, _), .tag(let tasks, _, _),
                .markSeen(let tasks):
                tasks.ids.map { id in
                    guard let task = self.tasks.first(where: { $0.id.description.hasPrefix(id) })
                    else {
                        return CommandResult(nil, .refused, "there is no task \(id)", code: 64)
                    }
                    return CommandResult(task.id, .done)
                }
            }
        }
    }

    func report(_ filter: TaskFilter) async throws(QueueError) -> QueueReport {
        try await pass()
        filters.append(filter)
        var tasks = tasks.filter { Self.passes($0, filter) }
        if padding > 0, !tasks.isEmpty {
            tasks[0].contentType = String(repeating: "x", count: padding)
        }
        return QueueReport(
            version: seggetVersion, worker: getpid(), tasks: tasks,
            QueueView(
                counts: ["completed": 1, "running": 1], unseen: ["completed": 1],
                bytesPerSecond: 1_048_576))
    }

    func detail(_ selector: String) async throws(QueueError) -> TaskDetail {
        try await pass()
        let found = tasks.filter { $0.id.description.hasPrefix(selector) }
        guard found.count == 1 else {
            throw QueueError(
                .noTask, found.isEmpty ? "there is no such task" : "several tasks begin like that",
                hint: "`segget list` shows the tasks and their ids")
        }
        return Sample.detail(found[0])
    }

    func files(_ selector: String, _ window: FileWindow) async throws(QueueError) -> TaskFiles {
        let report = try await detail(selector).task
        fileWindows.append(window)
        guard report.files != nil else {
            let task = QueueTask(
                NewTask(report.url, to: QueueTask.Place(root: report.folder, name: "notes.txt")))
            var files = TaskFiles(task, report, window)
            files.id = report.id
            return files
        }
        let states = TaskFile.State.allCases
        let files = (0..<(report.files ?? 0)).map { index in
            TaskFile(
                index: index, path: "sub/\(index).bin", state: states[index % states.count],
                size: 10, bytesDone: index % states.count == 0 ? 10 : 0,
                url: "https://example.org/\(index).bin")
        }
        let matching = files.filter { window.states.isEmpty || window.states.contains($0.state) }
        return TaskFiles(
            id: report.id, folder: report.folder,
            files: Array(matching.dropFirst(window.offset).prefix(window.limit)),
            matching: matching.count,
            counts: Dictionary(files.map { ($0.state.rawValue, 1) }, uniquingKeysWith: +))
    }

    func links(_ filter: TaskFilter) async throws(QueueError) -> [TaskLinks] {
        try await report(filter).tasks.map { report in
            var task = QueueTask(
                NewTask("\(report.url)?key=1", to: QueueTask.Place(root: report.folder)))
            task.id = report.id
            return TaskLinks(task, isOfClient: report.id == Sample.first)
        }
    }

    func settings() async throws(QueueError) -> QueueSettings { kept }

    func change(_ settings: QueueSettings) async throws(QueueError) {
        if let failure { throw failure }
        kept = settings
    }
}

extension FakeDoor {
    private static func passes(_ task: TaskReport, _ filter: TaskFilter) -> Bool {
        let (states, ids) = (filter.selection.states, filter.selection.ids)
        return (states.isEmpty || states.contains(task.state))
            && (ids.isEmpty || ids.contains { task.id.description.hasPrefix($0) })
    }

    /// Changes a task, or adds it.
    func put(_ task: TaskReport) {
        tasks.removeAll { $0.id == task.id }
        tasks.append(task)
        touch(task.id)
    }

    /// Removes a task.
    func take(_ id: QueueTask.ID) {
        tasks.removeAll { $0.id == id }
        touch(id)
    }

    private func touch(_ id: QueueTask.ID) {
        touched.insert(id)
        for bell in bells.values { bell() }
    }

    /// Lets the first task make progress from now on.
    func move() {
        isMoving = true
        touch(Sample.first)
    }

    func observe(_ bell: @escaping @Sendable () -> Void) -> UInt64 {
        let number = UInt64(bells.count + 1)
        bells[number] = bell
        return number
    }

    func stopObserving(_ number: UInt64) { bells[number] = nil }

    func changes(
        _ number: UInt64
    ) throws(QueueError) -> (touched: Set<QueueTask.ID>?, view: QueueView) {
        if let failure { throw failure }
        if isMoving, let index = tasks.firstIndex(where: { $0.id == Sample.first }) {
            tasks[index].bytesDone += 1
        }
        defer { touched = [] }
        return (
            touched,
            QueueView(
                running: tasks.filter(\.isFetched), counts: ["completed": 1, "running": 1],
                unseen: ["completed": 1])
        )
    }

    func reports(
        of ids: Set<QueueTask.ID>, _ filter: TaskFilter
    ) throws(QueueError) -> [TaskReport] {
        tasks.filter { ids.contains($0.id) && Self.passes($0, filter) }
    }

    func ids(_ filter: TaskFilter) throws(QueueError) -> Set<QueueTask.ID> {
        Set(tasks.filter { Self.passes($0, filter) }.map(\.id))
    }

    func page(
        _ filter: TaskFilter, _ window: TaskWindow
    ) async throws(QueueError) -> TaskPage {
        windows.append(window)
        var report = try await report(filter)
        let matching = report.tasks.count
        report.tasks = Array(report.tasks.dropFirst(window.offset).prefix(window.limit))
        return TaskPage(report: report, matching: matching)
    }

    func speedHistory() -> SpeedReport {
        SpeedReport(start: 1_700_000_000, bytesPerSecond: [0, 1_048_576])
    }

    func tags() throws(QueueError) -> [String: Int] {
        if let failure { throw failure }
        return Dictionary(tasks.flatMap(\.tags).map { ($0, 1) }, uniquingKeysWith: +)
    }
}

// The calls that JSON-RPC needs in addition.
extension FakeDoor {
    func whole(_ ids: [QueueTask.ID]) throws(QueueError) -> [QueueTask] {
        ids.compactMap { id in
            guard let report = tasks.first(where: { $0.id == id }) else { return nil }
            var task = QueueTask(
                NewTask(report.url, to: QueueTask.Place(root: report.folder)))
            task.id = id
            return task
        }
    }

    func segments(of task: QueueTask) async throws(QueueError) -> [TaskDetail.Segment] {
        try await detail(task.id.description).segments
    }

    func view() throws(QueueError) -> QueueView {
        if let failure { throw failure }
        return QueueView(
            running: tasks.filter(\.isFetched),
            counts: ["completed": 1, "running": 1, "paused": 2],
            bytesPerSecond: 1_048_576, bytesDone: 5, size: 9, bytesReceived: 12_345)
    }

    func events() -> AsyncStream<QueueEvent> { AsyncStream { $0.finish() } }

    /// Replaces all tasks.
    func replace(_ tasks: [TaskReport]) { self.tasks = tasks }
}

/// The tasks of the fake queue, which `docs/api.md` shows too.
enum Sample {
    static let first = id("53a1f0c2b7d94e68")
    static let second = id("9d04c7be21a65f3b")

    static let tasks: [TaskReport] = [running, completed]

    private static func id(_ text: String) -> QueueTask.ID {
        QueueTask.ID(text) ?? QueueTask.ID()
    }

    private static let running = TaskReport(
        id: first, state: "running", wanted: .run, url: "https://example.org/file.iso",
        path: "/home/u/Downloads/file.iso", folder: "/home/u/Downloads", position: 1,
        rank: 1_048_576,
        bytesDone: 268_435_456, size: 1_073_741_824, bytesPerSecond: 1_048_576, secondsLeft: 768,
        connections: 4, attempts: 0, added: 1_751_364_000, started: 1_751_364_001,
        lastByte: 1_751_364_256, contentType: "application/octet-stream", digests: [],
        tags: ["iso"])

    private static let completed = TaskReport(
        id: second, state: "completed", wanted: .run, url: "https://example.org/notes.txt",
        path: "/home/u/Downloads/notes.txt", folder: "/home/u/Downloads", rank: 2_097_152,
        bytesDone: 5, size: 5,
        attempts: 0, added: 1_751_363_000, started: 1_751_363_000, finished: 1_751_363_001,
        lastByte: 1_751_363_001, contentType: "text/plain", digests: [], tags: [], seen: false,
        file: "there")

    static func detail(_ task: TaskReport) -> TaskDetail {
        TaskDetail(
            task: task, urls: [task.url], etag: "\"v1\"", identity: "etag", map: [8, 8, 3, 0],
            segments: [TaskDetail.Segment(start: 0, end: task.bytesDone)],
            connections: task.isFetched
                ? [
                    .init(
                        server: 0, state: "receiving", start: 0, end: 9, position: 5,
                        bytesPerSecond: 2, address: "127.0.0.1", httpVersion: "1.1")
                ] : nil,
            servers: task.isFetched
                ? [.init(url: task.url, state: "used", bytes: 5, connections: 1)] : nil,
            events: [TaskEvent(time: task.added, event: "waiting", message: "was added")])
    }
}

extension TaskReport {
    fileprivate var isFetched: Bool { state == "running" }
}
