import SeggetQueue

/// The states of tasks that were reported, by which repetitions are told from news.
///
/// Pure. It holds one word for each task that has changed since the start and was not removed.
struct ReportedStates {
    private var told: [QueueTask.ID: String] = [:]
    private let start: Double

    /// - Parameter start: When reporting begins, in seconds since 1970: tasks that ended before are not news.
    init(since start: Double = secondsSinceEpoch()) { self.start = start }

    /// Takes a task that has changed, perhaps in its name or place only.
    ///
    /// - Returns: The state that was reported before, or an empty text; `nil` if the state is not news.
    mutating func take(_ task: TaskReport) -> String? {
        let before = told.updateValue(task.state, forKey: task.id)
        if let before { return before == task.state ? nil : before }
        return task.isEnded && (task.finished ?? start) < start ? nil : ""
    }

    /// Forgets a task that was removed.
    mutating func forget(_ id: QueueTask.ID) { told[id] = nil }
}
