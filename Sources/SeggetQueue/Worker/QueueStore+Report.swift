import SeggetReports
import Assembler
import Segmenter

// Reports of records, with the progress of running tasks.
extension QueueStore {
    /// Returns the report of the tasks that match a filter.
    ///
    /// - Parameters:
    ///   - filter: The filter.
    ///   - worker: The worker of the queue; `nil` for none.
    ///   - view: How far the queue is.
    /// - Returns: The report.
    /// - Throws: `QueueError`.
    func report(
        _ filter: TaskFilter, worker: Int32?, _ view: QueueView
    ) throws(QueueError) -> QueueReport {
        let reports = try reports(
            filter, among: nil, worker: worker, pause: view.pauseReason, run: { _ in nil })
        return try report(of: reports, filter, worker: worker, view)
    }

    /// Returns the reports of some of the tasks that match a filter, in the queue's order; their
    /// positions are only placeholders.
    ///
    /// - Parameters:
    ///   - filter: The filter.
    ///   - ids: The tasks; `nil` for all.
    ///   - worker: The process that works the queue; `nil` for none.
    ///   - pause: The reason why the queue is paused, as text; `nil` if it is not.
    ///   - run: Returns how far the download of a task is, if it has one.
    /// - Returns: The reports.
    /// - Throws: `QueueError`.
    func reports(
        _ filter: TaskFilter, among ids: Set<QueueTask.ID>?, worker: Int32?, pause: String?,
        run: (QueueTask.ID) -> RunFigures?
    ) throws(QueueError) -> [TaskReport] {
        var reports: [TaskReport] = []
        try lookInOrder(at: filter, among: ids) { task in
            var report = TaskReport(
                task, position: 1, run: run(task.id),
                file: task.status.state == .completed ? FinishedFile.look(at: task) : nil,
                pause: pause)
            if worker == nil, task.status.hasSlot { report.stop(task) }
            reports.append(report)
        }
        return reports
    }

    /// Returns the report that consists of reports of tasks.
    ///
    /// - Parameters:
    ///   - reports: All reports of ``reports(_:among:worker:pause:run:)``.
    ///   - filter: The filter.
    ///   - worker: The worker of the queue; `nil` for none.
    ///   - view: How far the queue is.
    /// - Returns: The report.
    /// - Throws: `QueueError`.
    func report(
        of reports: [TaskReport], _ filter: TaskFilter, worker: Int32?, _ view: QueueView
    ) throws(QueueError) -> QueueReport {
        var reports = reports
        if filter == TaskFilter() {
            // Unfinished tasks are first, in queue order.
            for index in reports.indices where reports[index].position != nil {
                reports[index].position = index + 1
            }
        } else {
            try place(&reports)
        }
        return QueueReport(
            version: seggetVersion, worker: worker, tasks: reports, view.totals(of: reports))
    }

    /// Returns a part of the tasks.
    ///
    /// - Parameters:
    ///   - filter: The tasks that are sorted and counted.
    ///   - window: The part of them that the page has.
    ///   - worker: The worker of the queue.
    ///   - view: How far the queue is.
    /// - Returns: The page, whose speed is that of all tasks.
    /// - Throws: `QueueError`.
    func page(
        _ filter: TaskFilter, _ window: TaskWindow, worker: Int32, _ view: QueueView
    ) throws(QueueError) -> TaskPage {
        let (tasks, matching) = try page(filter, window, live: view.running)
        let running = Dictionary(
            view.running.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        var reports = tasks.map { task in
            guard var report = running[task.id] else {
                return TaskReport(
                    task, position: 1,
                    file: task.status.state == .completed ? FinishedFile.look(at: task) : nil,
                    pause: view.pauseReason)
            }
            report.position = task.status.isEnded ? nil : 1
            report.pause(view.pauseReason)
            return report
        }
        try place(&reports)
        return TaskPage(
            report: QueueReport(version: seggetVersion, worker: worker, tasks: reports, view),
            matching: matching)
    }

    /// For up to this many tasks, those before each are counted; for more, one pass over all is
    /// faster.
    private static let fewPlaces = 8

    /// Sets the places of reports among all unfinished tasks.
    private func place(_ reports: inout [TaskReport]) throws(QueueError) {
        let ordered = reports.indices.filter { reports[$0].position != nil }
        if ordered.count <= Self.fewPlaces {
            for index in ordered { reports[index].position = try place(of: reports[index].id) }
        } else {
            let places = try places(of: ordered.map { reports[$0].id })
            for index in ordered { reports[index].position = places[reports[index].id] }
        }
    }

    /// Returns the details of one task, as far as they are recorded.
    ///
    /// - Parameters:
    ///   - id: The task.
    ///   - isWorked: Whether the queue has a worker.
    ///   - secrets: The secrets that are not stored.
    ///   - run: How far its download is, while it has one.
    ///   - pause: The reason why the queue is paused, as text; `nil` if it is not.
    /// - Returns: The details.
    /// - Throws: `QueueError`.
    func detail(
        _ id: QueueTask.ID, isWorked: Bool, secrets: TaskSecrets? = nil,
        run: RunFigures? = nil, pause: String? = nil
    ) throws(QueueError) -> TaskDetail {
        guard let task = try task(id) else {
            throw QueueError(.taskRemoved(id))
        }
        var whole = task
        if let secrets { whole = secrets.merged(into: task) }
        if let stored = try self.secrets(of: id) { whole = stored.merged(into: task) }
        let file = task.status.state == .completed ? FinishedFile.look(at: task) : nil
        var shown = task.options.withoutSecrets
        // `urls` has them, without their queries.
        shown.mirrors = []
        shown.access.referer = shown.access.referer.map(DownloadSession.redacted)
        let options = OptionChanges(from: DownloadOptions(), to: shown)
        var detail = TaskDetail(
            task: TaskReport(
                task, position: try place(of: id), run: run, file: file, pause: pause),
            urls: (task.urls + whole.options.mirrors).map(DownloadSession.redacted),
            options: options.isEmpty ? nil : options, map: [], segments: [],
            events: try events(of: id))
        if !isWorked, task.status.hasSlot { detail.task.stop(task) }
        let progress = run?.progress
        detail.verifying = (progress?.verifying ?? []).map { .init(start: $0.start, end: $0.end) }
        detail.segments = segments(of: whole, file: file, progress: progress)
        return detail
    }

    /// Returns the ranges of a task's file that are on the disk, as far as they are recorded.
    ///
    /// - Parameters:
    ///   - task: The task, with its secrets.
    ///   - file: The condition of its file, once it is completed.
    ///   - progress: Its progress, while it is downloaded.
    /// - Returns: The ranges, in ascending order.
    func segments(
        of task: QueueTask, file: FinishedStanding?, progress: DownloadProgress?
    ) -> [TaskDetail.Segment] {
        guard task.fileSet == nil else { return [] }
        var there = RangeSet()
        let told = progress.map { $0.done + $0.verifying } ?? []
        if !told.isEmpty {
            for range in told { there.insert(range) }
        } else if file == .there, let size = task.size, size > 0 {
            there.insert(ByteRange(0, size))
        } else if let target = Chores.target(task.place),
            let standing = try? Assembly.standing(at: target, owner: Chores.owner(task)),
            case .ours(let record) = standing.manifest
        {
            for extent in record.extents { there.insert(extent.range) }
        }
        return there.ranges.map { .init(start: $0.start, end: $0.end) }
    }
}
