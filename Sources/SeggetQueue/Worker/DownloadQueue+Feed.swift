import Glibc
import Segmenter

// Observers, which read the tasks that have changed.
extension DownloadQueue: QueueFeed {
    package func observe(_ bell: @escaping @Sendable () -> Void) -> UInt64 {
        subscribers.add(bell)
    }

    package func stopObserving(_ number: UInt64) { subscribers.remove(number) }

    package func changes(
        _ number: UInt64
    ) throws(QueueError) -> (touched: Set<QueueTask.ID>?, view: QueueView) {
        _ = try coordinator()
        return (subscribers.takeTouched(number), try view())
    }

    package func reports(
        of ids: Set<QueueTask.ID>, _ filter: TaskFilter
    ) throws(QueueError) -> [TaskReport] {
        var reports: [TaskReport] = []
        try coordinator().store.look(at: filter, among: ids) { task in
            let run = RunFigures(runs[task.id])
            let file = task.status.state == .completed ? FinishedFile.look(at: task) : nil
            reports.append(TaskReport(task, position: nil, run: run, file: file))
        }
        return reports
    }

    package func ids(_ filter: TaskFilter) throws(QueueError) -> Set<QueueTask.ID> {
        try coordinator().store.ids(filter)
    }

    package func page(
        _ filter: TaskFilter, _ window: TaskWindow
    ) throws(QueueError) -> TaskPage {
        try coordinator().store.page(filter, window, worker: getpid(), view())
    }

    package func speedHistory() -> SpeedReport { speeds.speeds(at: secondsSince1970()) }

    /// Notes the total speed each second while a task runs.
    func measureSpeed() {
        guard speedometer == nil else { return }
        speedometer = Task { [weak self] in
            while await self?.noteSpeed() == true {
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    private func noteSpeed() -> Bool {
        guard !runs.isEmpty, !Task.isCancelled else {
            speedometer = nil
            return false
        }
        speeds.note((try? view().bytesPerSecond) ?? 0, at: secondsSince1970())
        return true
    }

    package func tags() throws(QueueError) -> [String: Int] { try coordinator().store.tags() }
}

extension DownloadQueue: RPCQueue {
    package func whole(_ ids: [QueueTask.ID]) throws(QueueError) -> [QueueTask] {
        try coordinator().whole(ids)
    }

    package func segments(of task: QueueTask) throws(QueueError) -> [TaskDetail.Segment] {
        let file = task.status.state == .completed ? FinishedFile.look(at: task) : nil
        return try coordinator().store.segments(
            of: task, file: file, progress: runs[task.id]?.download.progress)
    }
}
