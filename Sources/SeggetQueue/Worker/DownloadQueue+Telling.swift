public import Segmenter

/// The end of a task: its file is complete, or it has failed.
public struct TaskEnd: Sendable {
    /// The report of the task.
    public var task: TaskReport
    /// The result of its download; `nil` if it could not start, as the task's error says.
    public var result: Result<DownloadedFile, DownloadError>?
}

// Notifications about recorded changes.
extension DownloadQueue {
    /// Notifies subscribers of changed records.
    func tellChanges(_ coordinator: QueueCoordinator) {
        subscribers.touch(coordinator.store.takeTouched())
        let (changed, removed) = coordinator.takeRecorded()
        var hasEnded = false
        for id in removed { ends[id] = nil }
        defer { if hasEnded, coordinator.machine.isDone { configuration.idle?() } }
        guard subscribers.wantsEvents || !ends.isEmpty else { return }
        // In queue order, so that tasks that start together are reported in that order.
        func place(_ id: QueueTask.ID) -> Int64 {
            coordinator.machine.entries[id]?.status.position ?? .max
        }
        for id in changed.sorted(by: { place($0) < place($1) }) {
            // A record that cannot be read is reported when it is needed.
            guard subscribers.wantsEvents || ends[id] != nil,
                let task = try? coordinator.store.task(id)
            else { continue }
            let report = TaskReport(
                task, position: nil, run: RunFigures(runs[id]), pause: pause)
            subscribers.tell(.changed(report))
            if tellEnd(task, report) { hasEnded = true }
        }
        for id in removed { subscribers.tell(.removed(id)) }
    }

    /// Notes the result of a download that has ended its task.
    ///
    /// - Parameters:
    ///   - result: The result; `nil` if the download could not start.
    ///   - id: The task.
    ///   - machine: The rules, which know the end of the task.
    func note(
        _ result: Result<DownloadedFile, DownloadError>?, of id: QueueTask.ID,
        _ machine: QueueMachine
    ) {
        guard configuration.ended != nil || configuration.idle != nil else { return }
        switch machine.entries[id]?.status.state {
        case .completed?, .failed?: ends.updateValue(result, forKey: id)
        default: ends[id] = nil
        }
    }

    /// Reports the end of a task, once its file is at its place.
    ///
    /// - Returns: Whether it was reported.
    private func tellEnd(_ task: QueueTask, _ report: TaskReport) -> Bool {
        guard let result = ends[task.id], task.status.isEnded else { return false }
        guard task.chore == nil else { return false }
        ends[task.id] = nil
        guard task.status.state != .cancelled else { return false }
        var end = TaskEnd(task: report, result: result)
        if case .success(var file)? = result, let path = task.place.path {
            file.path = path
            end.result = .success(file)
        }
        configuration.ended?(end)
        return true
    }
}
