import SeggetReports
import Assembler
import Segmenter

/// The way to a queue that nobody works: its records, under its lock.
///
/// Each call has the lock for itself only as long as it lasts, and waits 5 s for it at the most.
public struct DirectDoor: QueueDoor {
    private let files: QueueFiles
    private let patience: Double

    /// Takes the path of the queue's file; it is made where there is none and something is to be
    /// written.
    public init(_ path: String, patience: Double = 5) {
        files = QueueFiles(path)
        self.patience = patience
    }

    private var now: QueueMachine.Moment {
        QueueMachine.Moment(wall: secondsSince1970(), boot: bootSeconds())
    }

    /// Carries out commands, and what they do on the disk.
    public func perform(
        _ commands: [QueueCommand]
    ) async throws(QueueError) -> [[CommandResult]] {
        try await locked { store throws(QueueError) in
            try DownloadQueue.restore(store, now)
            let coordinator = try QueueCoordinator(store, maxRunning: 0, now)
            try doChores(coordinator)
            var results = try store.transaction { () throws(QueueError) in
                let results = try coordinator.perform(commands, now)
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

    /// Does what is to be done on the disk.
    ///
    /// - Returns: What could not be done.
    @discardableResult
    private func doChores(
        _ coordinator: QueueCoordinator
    ) throws(QueueError) -> [QueueTask.ID: TaskProblem] {
        var problems: [QueueTask.ID: TaskProblem] = [:]
        var actions = coordinator.takeActions()
        while !actions.isEmpty {
            for case .doChore(let id) in actions {
                let task = try coordinator.whole(id)
                let outcome = task.map { Chores.run($0) } ?? .done
                if case .failed(let problem) = outcome { problems[id] = problem }
                try coordinator.change { machine throws(QueueError) in
                    try coordinator.choreDone(id, task, outcome, &machine, now)
                }
            }
            actions = coordinator.takeActions()
        }
        return problems
    }

    /// Makes a new queue of what can be read of a damaged one, which is kept beside it; blocks.
    ///
    /// - Returns: What was read.
    /// - Throws: `QueueError`.
    package func recover() throws(QueueError) -> Recovery {
        let lock = try QueueLock.acquire(files, waiting: patience, isWorker: false)
        defer { lock.release() }
        return try QueueStore.recover(files, now: now.wall)
    }

    /// Tells of tasks; where there is no queue yet, of none.
    public func report(_ filter: TaskFilter) async throws(QueueError) -> QueueReport {
        try await offLoop("queue") { () throws(QueueError) in try recorded(filter) }
    }

    /// Tells of tasks as they are recorded; blocks.
    package func recorded(_ filter: TaskFilter) throws(QueueError) -> QueueReport {
        do throws(QueueError) {
            let store = try QueueStore(files, mode: .readOnly)
            return try store.report(filter, worker: nil, store.view(isWorked: false))
        } catch  where error.code == .noQueue {
            return QueueReport(version: seggetVersion, worker: nil, tasks: [], QueueView())
        }
    }

    /// Tells everything of one task.
    public func detail(_ selector: String) async throws(QueueError) -> TaskDetail {
        try await offLoop("queue") { [files, now] () throws(QueueError) in
            let store = try QueueStore(files, mode: .readOnly)
            let id = try QueueCoordinator(store, maxRunning: 0, now).id(selector)
            return try store.detail(id, isWorked: false)
        }
    }

    /// The whole links of tasks; where there is no queue yet, of none.
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

    /// The settings.
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

    /// Runs something on the records while no other process does.
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
    /// A task that is to be added, with all that its secrets may be in.
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
