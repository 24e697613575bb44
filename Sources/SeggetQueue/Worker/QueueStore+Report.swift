import Assembler
import Segmenter

// What is told of the records, with what is known of those that are being fetched.
extension QueueStore {
    /// Tells of tasks.
    ///
    /// - Parameters:
    ///   - filter: Which ones.
    ///   - worker: The process that works the queue.
    ///   - pause: Why nothing is fetched.
    ///   - progress: How far those are that are being fetched.
    /// - Returns: The report.
    /// - Throws: `QueueError`.
    func report(
        _ filter: TaskFilter, worker: Int32?, pause: String? = nil,
        progress: (QueueTask.ID) -> DownloadProgress? = { _ in nil }
    ) throws(QueueError) -> QueueReport {
        // Without a filter those that have not ended come first, in their order.
        let positions = filter == TaskFilter() ? nil : try positions()
        var reports: [TaskReport] = []
        try look(at: filter) { task in
            var report = TaskReport(
                task, position: positions.map { $0[task.id] } ?? reports.count + 1,
                progress: progress(task.id),
                file: task.status.state == .completed ? FinishedFile.look(at: task) : nil,
                pause: pause)
            if worker == nil, task.status.hasSlot { report.stop(task) }
            reports.append(report)
        }
        var counts = try counts()
        if worker == nil {
            let stopped = ["running", "verifying"].compactMap { counts.removeValue(forKey: $0) }
            if !stopped.isEmpty { counts["waiting", default: 0] += stopped.reduce(0, +) }
        }
        return QueueReport(
            version: seggetVersion, worker: worker, tasks: reports, counts: counts,
            bytesPerSecond: reports.reduce(0) { $0 + ($1.bytesPerSecond ?? 0) },
            unseen: try unseen(), paused: pause)
    }

    /// The places of the tasks that have not ended, from 1.
    private func positions() throws(QueueError) -> [QueueTask.ID: Int] {
        let order = try statuses().filter { !$0.status.isEnded }.sorted {
            $0.status.position < $1.status.position
        }
        return Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1.id, $0 + 1) })
    }

    /// Tells everything of one task, as far as it is recorded.
    ///
    /// - Parameters:
    ///   - id: The task.
    ///   - isWorked: Whether somebody works the queue.
    ///   - secrets: Those that are not stored.
    ///   - progress: How far it is, while it is fetched.
    ///   - pause: Why nothing is fetched, in words; `nil` where no rule says so.
    /// - Returns: What there is to tell.
    /// - Throws: `QueueError`.
    func detail(
        _ id: QueueTask.ID, isWorked: Bool, secrets: TaskSecrets? = nil,
        progress: DownloadProgress? = nil, pause: String? = nil
    ) throws(QueueError) -> TaskDetail {
        guard let task = try task(id) else {
            throw QueueError(.noTask, "task \(id) is gone", hint: "`segget list` shows the tasks")
        }
        var whole = task
        if let secrets { whole = secrets.merged(into: task) }
        if let stored = try self.secrets(of: id) { whole = stored.merged(into: task) }
        let file = task.status.state == .completed ? FinishedFile.look(at: task) : nil
        var detail = TaskDetail(
            task: TaskReport(
                task, position: try positions()[id], progress: progress, file: file, pause: pause),
            urls: (task.urls + whole.options.mirrors).map(DownloadSession.redacted), map: [],
            segments: [], events: try events(of: id))
        if !isWorked, task.status.hasSlot { detail.task.stop(task) }
        if file == .there, let size = task.size, size > 0 {
            detail.segments = [TaskDetail.Segment(start: 0, end: size)]
        } else if let target = Chores.target(task.place),
            let standing = try? Assembly.standing(at: target, owner: Chores.owner(whole)),
            case .ours(let record) = standing.manifest
        {
            var there = RangeSet()
            for extent in record.extents { there.insert(extent.range) }
            detail.segments = there.ranges.map { .init(start: $0.start, end: $0.end) }
        }
        return detail
    }
}
