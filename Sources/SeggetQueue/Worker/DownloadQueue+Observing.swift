import SeggetReports
import Assembler
import Glibc
public import Segmenter

// Reports and streams, and waiting for tasks.
extension DownloadQueue {
    /// The number of tasks whose reports the actor makes without a pause: a few milliseconds.
    private static let slice = 100

    /// Returns the report of the tasks that match a filter.
    ///
    /// Many tasks are reported in slices, between which the queue does its other work, so they may
    /// not all be of the same moment.
    public func report(_ filter: TaskFilter) async throws(QueueError) -> QueueReport {
        let ids = try coordinator().store.orderedIDs(filter)
        var reports: [TaskReport] = []
        for start in stride(from: 0, to: ids.count, by: Self.slice) {
            if start > 0 { await Task.yield() }
            let slice = ids[start..<min(start + Self.slice, ids.count)]
            reports += try coordinator().store.reports(
                filter, among: Set(slice), worker: getpid(), pause: pause
            ) { RunFigures(runs[$0]) }
        }
        return try coordinator().store.report(of: reports, filter, worker: getpid(), try view())
    }

    /// Returns the whole links of tasks.
    public func links(_ filter: TaskFilter) throws(QueueError) -> [TaskLinks] {
        try coordinator().links(filter)
    }

    /// Returns the details of one task.
    public func detail(_ selector: String) async throws(QueueError) -> TaskDetail {
        let id = try coordinator().id(selector)
        let asked = runs[id]?.download
        let traffic = await asked?.traffic()
        // Meanwhile the task may have ended or been removed, or the queue shut down.
        let coordinator = try coordinator()
        let run = runs[id]
        let figures = RunFigures(run)
        var detail = try coordinator.store.detail(
            id, isWorked: true, secrets: coordinator.unstored[id], run: figures, pause: pause)
        guard let run else { return detail }
        detail.map = figures?.progress.map ?? []
        detail.identity = run.identity
        detail.etag = run.remote?.etag ?? detail.etag
        detail.lastModified = run.remote?.lastModified ?? detail.lastModified
        detail.finalURL = run.remote?.effectiveURL
        if let traffic, run.download === asked { detail.take(traffic) }
        detail.events = Array(
            (detail.events + run.timeline.events).suffix(TaskTimeline.mostEvents))
        return detail
    }

    /// Returns how far the queue is.
    public func snapshot() throws(QueueError) -> QueueView {
        var view = try view()
        let machine = try coordinator().machine
        for index in view.running.indices {
            view.running[index].position = machine.place(of: view.running[index].id)
        }
        return view
    }

    /// Returns how far the queue is; its running tasks are without their places in the order, which
    /// would have to be counted.
    package func view() throws(QueueError) -> QueueView {
        let store = try coordinator().store
        var view = try store.view()
        (view.bytesReceived, view.pauseReason) = (bytesReceived, pause)
        for (id, run) in runs {
            guard let task = try store.task(id) else { continue }
            let figures = RunFigures(run.download)
            view.add(TaskReport(task, position: nil, run: figures), recorded: task)
            view.bytesReceived += figures.progress.bytesReceived
        }
        view.running.sort { ($0.rank ?? .max) < ($1.rank ?? .max) }
        return view
    }

    /// Returns a stream of views, one after each change, at most ten a second.
    ///
    /// Each call returns a separate stream for one reader. It begins with the present view, keeps
    /// only the newest one for a slow reader, and ends with the queue.
    public func snapshots() -> AsyncStream<QueueView> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: QueueView.self, bufferingPolicy: .bufferingNewest(1))
        let number = subscribers.add(continuation)
        continuation.onTermination = { [weak self] _ in
            Task { [weak self] in await self?.unsubscribe(number) }
        }
        if let now = try? snapshot() { continuation.yield(now) }
        publishSoon()
        return stream
    }

    /// Returns a stream of all later events.
    ///
    /// Each call returns a separate stream for one reader. It keeps the newest 256 events for a
    /// slow reader, and ends with the queue.
    public func events() -> AsyncStream<QueueEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: QueueEvent.self, bufferingPolicy: .bufferingNewest(Subscribers.mostEvents))
        let number = subscribers.add(continuation)
        continuation.onTermination = { [weak self] _ in
            Task { [weak self] in await self?.unsubscribe(number) }
        }
        return stream
    }

    private func unsubscribe(_ number: UInt64) { subscribers.remove(number) }

    // MARK: One task

    /// Adds a task, or finds the existing one with the same URL and folder.
    ///
    /// - Returns: Its id.
    /// - Throws: `QueueError`, also if the task is refused.
    @discardableResult
    public func add(_ task: NewTask) async throws(QueueError) -> QueueTask.ID {
        let result = try await perform([.add(task)])[0][0]
        guard let id = result.id, result.outcome != .refused else {
            throw QueueError(.notAdded(result.message))
        }
        return id
    }

    /// Waits for the end of a task.
    ///
    /// Cancelling the caller stops only the waiting.
    ///
    /// - Parameter id: The task.
    /// - Returns: Its report: it is completed, failed or cancelled.
    /// - Throws: `noTask` if the task does not exist or is removed; `worker` if the queue is shut
    ///   down, or the caller is cancelled.
    public func ended(_ id: QueueTask.ID) async throws(QueueError) -> TaskReport {
        while true {
            guard let task = try coordinator().store.task(id) else {
                throw QueueError(.taskGone(id))
            }
            guard !task.status.isEnded || task.chore != nil else {
                let file = task.status.state == .completed ? FinishedFile.look(at: task) : nil
                return TaskReport(task, position: nil, file: file)
            }
            guard !Task.isCancelled else {
                throw QueueError(.waitCancelled(.task))
            }
            await changeOrCancel()
        }
    }

    /// Waits until every task is paused or finished.
    ///
    /// - Throws: `QueueError`, if the queue cannot continue.
    public func idle() async throws(QueueError) {
        while try !coordinator().machine.isIdle {
            guard !Task.isCancelled else {
                throw QueueError(.waitCancelled(.queue))
            }
            await changeOrCancel()
        }
    }
}
