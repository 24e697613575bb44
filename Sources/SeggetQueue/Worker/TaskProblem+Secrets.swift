import SeggetReports
import Segmenter

extension TaskProblem {
    /// Why a task is not fetched of whose secrets some are gone: without them another file might come, and be taken for
    /// this one.
    ///
    /// - Parameter task: The task with all its secrets that there are; it has no such problem when none is missing.
    init?(secretsGoneOf task: QueueTask) {
        let given: [(part: QueueTask.SecretParts, secret: TaskFailure.Secret)] = [
            (.urls, .urls), (.headers, .headers), (.user, .user), (.other, .options),
        ]
        // By the URL as it was added it is known only.
        let gone = given.filter { task.secretParts.contains($0.part) }
        guard !gone.isEmpty else { return nil }
        self.init(.secretsGone(gone.map(\.secret), areStored: !task.keepsNoSecrets))
    }
}
