import SeggetReports
import Segmenter

extension TaskProblem {
    /// Why a task is not fetched of whose secrets some are gone: without them another file might come, and be taken for
    /// this one.
    ///
    /// - Parameter task: The task with all its secrets that there are; it has no such problem when none is missing.
    init?(secretsGoneOf task: QueueTask) {
        let given: [(part: QueueTask.SecretParts, word: String, member: String)] = [
            (.urls, "user, password or query of its URLs", "urls"),
            (.headers, "headers", "headers"),
            (.user, "user and password", "user"), (.other, "other secret options", "options"),
        ]
        // By the URL as it was added it is known only.
        let gone = given.filter { task.secretParts.contains($0.part) }
        guard !gone.isEmpty else { return nil }
        let words = gone.map(\.word).joined(separator: "; ")
        self.init(
            .secrets, kind: "secrets_gone",
            message: task.keepsNoSecrets
                ? "the task's secrets were not stored, and segget no longer has them: \(words)"
                : "the queue no longer has the task's secrets: \(words)",
            code: ExitStatus.refused.rawValue, needed: gone.map(\.member))
    }
}
