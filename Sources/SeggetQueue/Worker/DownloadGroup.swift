public import Segmenter

/// Tasks of a queue that belong together while a part of a program runs.
public actor DownloadGroup {
    /// What happens to unfinished tasks at the end of the group.
    public enum AtEnd: Sendable, Hashable {
        /// They are paused, and keep their bytes.
        case holds
        /// They are cancelled.
        case cancels
        /// They continue.
        case leaves
    }

    private let queue: DownloadQueue
    private var ids: [QueueTask.ID] = []

    init(_ queue: DownloadQueue) { self.queue = queue }

    /// The tasks, in the order in which they were added.
    public var tasks: [QueueTask.ID] { ids }

    /// Adds a task to the queue and the group.
    ///
    /// - Returns: Its id.
    /// - Throws: `QueueError`.
    @discardableResult
    public func add(_ task: NewTask) async throws(QueueError) -> QueueTask.ID {
        let id = try await queue.add(task)
        if !ids.contains(id) { ids.append(id) }
        return id
    }

    /// Waits until all tasks of the group have ended.
    ///
    /// - Returns: Their reports, in the order in which they were added.
    /// - Throws: `QueueError`.
    public func ended() async throws(QueueError) -> [TaskReport] {
        var reports: [TaskReport] = []
        for id in ids { reports.append(try await queue.ended(id)) }
        return reports
    }

    func end(_ end: AtEnd) async throws(QueueError) {
        guard !ids.isEmpty else { return }
        let selection = TaskSelection(ids: ids.map(\.description))
        switch end {
        case .holds: _ = try await queue.perform([.pause(selection)])
        case .cancels: _ = try await queue.perform([.cancel(selection)])
        case .leaves: break
        }
    }
}

extension DownloadQueue {
    /// Runs a part of a program with tasks that belong together.
    ///
    /// - Parameters:
    ///   - end: What happens to unfinished tasks when `body` has returned or thrown.
    ///   - body: Adds the tasks.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, and `QueueError`.
    public nonisolated(nonsending) func withGroup<Result>(
        atEnd end: DownloadGroup.AtEnd, _ body: (DownloadGroup) async throws -> sending Result
    ) async throws -> sending Result {
        let group = DownloadGroup(self)
        do {
            let result = try await body(group)
            try await group.end(end)
            return result
        } catch {
            try? await group.end(end)
            throw error
        }
    }
}
