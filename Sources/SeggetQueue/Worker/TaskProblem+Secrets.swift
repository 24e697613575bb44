import SeggetReports
import Segmenter

extension TaskProblem {
    /// Creates the problem of a task with missing secrets, which is not downloaded: without them,
    /// the server might send another file.
    ///
    /// - Parameter task: The task with its secrets that are known; the result is `nil` if none is
    ///   missing.
    init?(secretsGoneOf task: QueueTask) {
        let given: [(part: QueueTask.SecretParts, secret: TaskFailure.Secret)] = [
            (.urls, .urls), (.headers, .headers), (.user, .user), (.other, .options),
        ]
        // The query of the URL as it was added only identifies the task, so it is not needed.
        let gone = given.filter { task.secretParts.contains($0.part) }
        guard !gone.isEmpty else { return nil }
        self.init(.secretsGone(gone.map(\.secret), areStored: !task.keepsNoSecrets))
    }
}
