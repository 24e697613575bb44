import SeggetReports
import Assembler
import Segmenter

/// The access to a queue without a worker: its records, under its lock.
///
/// Each call holds the lock while it lasts, and waits for it for at most 5 s.
public struct DirectDoor: QueueDoor {
    private let files: QueueFiles
    private let patience: Double

    /// Creates the access to a queue's file, which the first change creates if it does not exist.
    public init(_ path: String, patience: Double = 5) {
        files = QueueFiles(path)
        self.patience = patience
    }

    private var now: QueueMachine.Moment {
        QueueMachine.Moment(wall: secondsSince1970(), boot: bootSeconds())
    }

    /// Carries out commands, and their work on the disk.
    public func perform(
        _ commands: [QueueCommand]
    ) async throws(QueueError) -> [[CommandResult]] {
        try await locked { store throws(QueueError) in
            try DownloadQueue.restore(store, now)
            let coordinator = try QueueCoordinator(store, maxRunning: 0, now)
            try doChores(coordinator)
            let drafts = store.plans.drafts(of: commands)
            defer { store.plans.discard(drafts) }
            var results = try store.transaction { () throws(QueueError) in
                let results = try coordinator.perform(commands, drafts: drafts, now)
                guard coordinator.unstored.contents.isEmpty else {
                    throw QueueError(.needsWorker)
                }
                return results
            }
            let problems = try doChores(coordinator)
            for (index, list) in results.enumerated() {
                for (place, result) in list.enumerated() {
                    guard let id = result.id, let problem = problems[id] else { continue }
                    results[index][place] = .refused(id, problem)
                }
            }
            return results
        }
    }

    /// Does all chores.
    ///
    /// - Returns: The chores that have failed.
    @discardableResult
    private func doChores(
        _ coordinator: QueueCoordinator
    ) throws(QueueError) -> [QueueTask.ID: TaskProblem] {
        var problems: [QueueTask.ID: TaskProblem] = [:]
        var actions = coordinator.takeActions()
        while !actions.isEmpty {
            for case .doChore(let id) in actions {
                let task = try coordinator.whole(id)
                let outcome = task.map { Chores.run($0, coordinator.store.plans) } ?? .done
                if case .failed(let problem) = outcome { problems[id] = problem }
                try coordinator.change { machine throws(QueueError) in
                    try coordinator.choreDone(id, task, outcome, &machine, now)
                }
            }
            actions = coordinator.takeActions()
        }
        return problems
    }

    /// Creates a new queue from the readable records of a damaged one, which is kept beside it;
    /// blocks.
    ///
    /// - Returns: The result.
    /// - Throws: `QueueError`.
    package func recover() throws(QueueError) -> Recovery {
        let lock = try QueueLock.acquire(files, waiting: patience, isWorker: false)
        defer { lock.release() }
        return try QueueStore.recover(files, now: now.wall)
    }

    /// Returns the report of tasks; without a queue, an empty one.
    public func report(_ filter: TaskFilter) async throws(QueueError) -> QueueReport {
        try await offLoop("queue") { () throws(QueueError) in try recorded(filter) }
    }

    /// Returns the report of tasks as they are recorded; blocks.
    package func recorded(_ filter: TaskFilter) throws(QueueError) -> QueueReport {
        do throws(QueueError) {
            let store = try QueueStore(files, mode: .readOnly)
            return try store.report(filter, worker: nil, store.view(isWorked: false))
        } catch  where error.code == .noQueue {
            return QueueReport(version: seggetVersion, worker: nil, tasks: [], QueueView())
        }
    }

    /// Returns the details of one task.
    public func detail(_ selector: String) async throws(QueueError) -> TaskDetail {
        try await offLoop("queue") { [files, now] () throws(QueueError) in
            let store = try QueueStore(files, mode: .readOnly)
            let id = try QueueCoordinator(store, maxRunning: 0, now).id(selector)
            return try store.detail(id, isWorked: false)
        }
    }

    /// Returns a part of the files of one task.
    public func files(
        _ selector: String, _ window: FileWindow
    ) async throws(QueueError) -> TaskFiles {
        try await offLoop("queue") { [files, now] () throws(QueueError) in
            let store = try QueueStore(files, mode: .readOnly)
            let id = try QueueCoordinator(store, maxRunning: 0, now).id(selector)
            guard let task = try store.task(id) else { throw QueueError(.taskRemoved(id)) }
            guard task.fileSet != nil else {
                var report = TaskReport(task, position: nil)
                if task.status.hasSlot { report.stop(task) }
                return TaskFiles(task, report, window)
            }
            return try TaskFiles(recorded: task, plan: store.plans.path(of: id), window)
        }
    }

    /// Returns the whole links of tasks; without a queue, none.
    public func links(_ filter: TaskFilter) async throws(QueueError) -> [TaskLinks] {
        do throws(QueueError) {
            return try await offLoop("queue") { [files, now] () throws(QueueError) in
                let store = try QueueStore(files, mode: .readOnly)
                return try QueueCoordinator(store, maxRunning: 0, now).links(filter)
            }
        } catch  where error.code == .noQueue {
            return []
        }
    }

    /// Returns the settings.
    public func settings() async throws(QueueError) -> QueueSettings {
        do throws(QueueError) {
            return try await offLoop("queue") { [files] () throws(QueueError) in
                try QueueStore(files, mode: .readOnly).settings()
            }
        } catch  where error.code == .noQueue {
            return QueueSettings()
        }
    }

    /// Changes the settings.
    public func change(_ settings: QueueSettings) async throws(QueueError) {
        let settings = try settings.checked()
        try await locked { store throws(QueueError) in try store.setSettings(settings) }
    }

    /// Runs a closure on the records, under the lock.
    private func locked<Result: Sendable>(
        _ body: @escaping @Sendable (QueueStore) throws(QueueError) -> Result
    ) async throws(QueueError) -> Result {
        try await offLoop("queue") { [files, patience] () throws(QueueError) in
            let lock = try QueueLock.acquire(files, waiting: patience, isWorker: false)
            defer { lock.release() }
            return try body(QueueStore(files, mode: .readWrite))
        }
    }
}

extension QueueTask {
    /// Creates a task to add, with its secrets.
    init(_ new: NewTask) {
        self.init(
            id: new.id ?? ID(), url: new.url, urls: [new.url], place: new.place,
            options: new.options)
        keepsNoSecrets = new.keepsNoSecrets
        umask = new.umask
        refreshCommand = new.refreshCommand
        for tag in new.tags where !tags.contains(tag) { tags.append(tag) }
        status.wanted = new.isPaused ? .paused : .run
    }
}
