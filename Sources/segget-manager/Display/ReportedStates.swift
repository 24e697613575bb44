import SeggetQueue

/// The reported states of tasks, which distinguish news from repetitions.
///
/// Pure. It stores one word for each changed task that is not removed.
struct ReportedStates {
    private var told: [QueueTask.ID: TaskStatus.Word] = [:]
    private let start: Double

    /// Creates an empty record.
    ///
    /// - Parameter start: The start of reporting, in seconds since 1970: earlier results are not
    ///   news.
    init(since start: Double = secondsSinceEpoch()) { self.start = start }

    /// Records a changed task; the change may concern only its name or place.
    ///
    /// - Returns: The state that was reported before, or an empty text; `nil` if the state is not
    ///   news.
    mutating func take(_ task: TaskReport) -> TaskStatus.Word? {
        let before = told.updateValue(task.state, forKey: task.id)
        if let before { return before == task.state ? nil : before }
        return task.isEnded && (task.finished ?? start) < start ? nil : ""
    }

    /// Forgets a task that was removed.
    mutating func forget(_ id: QueueTask.ID) { told[id] = nil }
}
