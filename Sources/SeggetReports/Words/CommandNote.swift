/// A note about the result of a command for a task.
package enum CommandNote: Sendable, Hashable {
    /// The task no longer exists.
    case gone
    /// The task is in this state already.
    case isIn(String)
    /// The task is completed, but its file is `missing` or was `changed`.
    case isWithout(file: LostFile, state: String)
    /// The task is completed, and its file exists unchanged.
    case isComplete
    /// The task has ended, so it cannot be moved in the order.
    case hasNoPosition
    /// The task already has the name and folder.
    case hasPlace
    /// The task was in this state, and is downloaded again.
    case again(after: String, isPaused: Bool)
    /// The task was complete, but its file is not there; it is downloaded again.
    case againWithout(file: String, isPaused: Bool)
    /// The task, a data set, had ended in this state; its files are checked again.
    case checksFiles(after: String, isPaused: Bool)
    /// The plan of the task, a data set, was replaced with another one of the same set.
    case hasNewPlan
    /// The task waits again, because its file was missing.
    case waitsAgain
    /// The task was paused, and continues.
    case resumed

    /// The condition of the file of a completed task.
    package enum LostFile: Sendable, Hashable { case missing, changed }

    /// The note in words, to follow the id of the task.
    package var text: String {
        switch self {
        case .gone: "no longer exists"
        case .isIn(let state): "is \(state)"
        case .isWithout(.changed, let state): "is \(state), and its file was changed later"
        case .isWithout(.missing, let state): "is \(state), and its file is missing"
        case .isComplete: "is complete, and its file is there"
        case .hasNoPosition: "has ended, so it has no position"
        case .hasPlace: "already has that place"
        case .again(let state, let isPaused): "was \(state): \(Self.next(isPaused))"
        case .againWithout(let file, let isPaused):
            "was complete, and its file is \(file): \(Self.next(isPaused))"
        case .checksFiles(let state, let isPaused):
            "was \(state): "
                + (isPaused
                    ? "it is paused, and then checks its files"
                    : "it checks its files, and downloads what is missing")
        case .hasNewPlan: "has this plan from now on"
        case .waitsAgain: "waiting again: its file was missing"
        case .resumed: "was paused: it is resumed"
        }
    }

    private static func next(_ isPaused: Bool) -> String {
        isPaused ? "it is paused, to be downloaded again" : "it is downloaded again"
    }
}
