public import Segmenter

/// How a task has ended: its file is complete, or it has failed for good.
public struct TaskEnd: Sendable {
    /// What is told of the task.
    public var task: TaskReport
    /// How its download ended; `nil` where it could not begin, as the task's error says.
    public var result: Result<DownloadedFile, DownloadError>?
}

// What has been recorded, to whoever wants to know.
extension DownloadQueue {
    /// Tells of the records that have changed.
    func tellChanges(_ coordinator: QueueCoordinator) {
        subscribers.touch(coordinator.store.takeTouched())
        let (changed, removed) = coordinator.takeRecorded()
        var hasEnded = false
        for id in removed { ends[id] = nil }
        defer { if hasEnded, coordinator.machine.isDone { configuration.idle?() } }
        guard subscribers.wantsEvents || !ends.isEmpty else { return }
        // In their order, so that those that start together are told of so.
        func place(_ id: QueueTask.ID) -> Int64 {
            coordinator.machine.entries[id]?.status.position ?? .max
        }
        for id in changed.sorted(by: { place($0) < place($1) }) {
            // A record that cannot be read is found out by whoever needs it.
            guard subscribers.wantsEvents || ends[id] != nil,
                let task = try? coordinator.store.task(id)
            else { continue }
            let progress = runs[id]?.download.progress
            let report = TaskReport(task, position: nil, progress: progress, pause: pause)
            subscribers.tell(.changed(report))
            if tellEnd(task, report) { hasEnded = true }
        }
        for id in removed { subscribers.tell(.removed(id)) }
    }

    /// Notes how the download of a task ended, where the task has ended with it.
    ///
    /// - Parameters:
    ///   - result: How it ended; `nil` where it could not begin.
    ///   - id: The task.
    ///   - machine: The rules, which know its end.
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

    /// Tells of the end of a task, once its file is where it is to be.
    ///
    /// - Returns: Whether that was told.
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
