import TestSupport

/// A program that reports the states of its tasks.
protocol TaskStates {
    /// Returns the state of a task.
    func state(_ id: String) throws -> String
}

extension TaskStates {
    /// Waits until a task is in a state.
    func waits(for state: String, of id: String) throws -> Bool {
        try eventually(timeout: 120, poll: 0.1) { try self.state(id) == state }
    }
}
