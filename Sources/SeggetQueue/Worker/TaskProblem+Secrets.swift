import SeggetReports
import Segmenter

extension TaskProblem {
    /// Why a task is not fetched of whose secrets some are gone: without them another file might come, and be taken for
    /// this one.
    ///
    /// - Parameter task: The task with all its secrets that there are; it has no such problem when none is missing.
    init?(secretsGoneOf task: QueueTask) {
        let given: [(part: QueueTask.SecretParts, word: String, option: String?)] = [
            (.urls, "user, password or query of its URLs", "--url URL"),
            (.headers, "headers", "-H 'NAME: VALUE'"),
            (.user, "user and password", "-u USER:PASSWORD"),
            (.other, "other secret options", nil),
        ]
        // By the URL as it was added it is known only.
        let gone = given.filter { task.secretParts.contains($0.part) }
        guard !gone.isEmpty else { return nil }
        let options = gone.compactMap(\.option)
        let isAll = options.count == gone.count
        let words = gone.map(\.word).joined(separator: "; ")
        self.init(
            kind: "secrets_gone",
            message: task.keepsNoSecrets
                ? "secrets of the task were not to be stored, and are gone: \(words)"
                : "secrets of the task are not in the queue any more: \(words)",
            hint: isAll
                ? "give all of them again: `segget set \(task.id) \(options.joined(separator: " "))`, then "
                    + "`segget retry \(task.id)`"
                : "`segget set` cannot give all of them again: `segget remove \(task.id)`, then add it anew",
            code: ExitStatus.refused.rawValue)
    }
}
