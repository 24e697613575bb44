package import Segmenter

/// Why a task of a queue has failed without a download.
package enum TaskFailure: Sendable, Hashable {
    /// The record of the task cannot be read, for a reason in words.
    case record(String)
    /// Secrets are missing; `areStored` says whether the queue was to keep them.
    case secretsGone([Secret], areStored: Bool)
    /// Another task downloads to the path.
    case pathTaken(by: Download.ID, String)
    /// The file at the path is not the one that the task has finished, so it was not moved.
    case notMoved(String)

    /// The secrets of a task, by the member of `set` that gives them again.
    package enum Secret: String, Sendable, Hashable { case urls, headers, user, options }

    /// A stable name for programs: the `kind` of `docs/json.md`.
    package var kind: String {
        switch self {
        case .record: "queue"
        case .secretsGone: "secrets_gone"
        case .pathTaken: "destination_exists"
        case .notMoved: "file_changed"
        }
    }

    /// The message: what happened, to which file.
    package var message: String {
        switch self {
        case .record(let reason): reason
        case .secretsGone(let secrets, let areStored):
            (areStored
                ? "the queue no longer has the task's secrets: "
                : "the task's secrets were not stored, and segget no longer has them: ")
                + secrets.map(\.text).joined(separator: "; ")
        case .pathTaken(let owner, let path): CommandRefusal.pathTaken(by: owner, path).message
        case .notMoved(let path):
            "\(Diagnostic.quote(path)) is missing, or was changed after it was finished, so it was "
                + "not moved"
        }
    }

    /// The action that can help; `nil` if only ``hint`` names it.
    package var next: NextStep? {
        switch self {
        case .record: .disk
        case .secretsGone: .secrets
        case .pathTaken: .place
        case .notMoved: nil
        }
    }

    /// The hint where there is no ``next`` step.
    package var hint: String { "move it by hand, or remove the task" }

    /// The exit code.
    package var status: ExitStatus {
        switch self {
        case .record: .disk
        case .secretsGone: .refused
        case .pathTaken, .notMoved: .cannotCreate
        }
    }
}

extension TaskFailure.Secret {
    fileprivate var text: String {
        switch self {
        case .urls: "user, password or query of its URLs"
        case .headers: "headers"
        case .user: "user and password"
        case .options: "other secret options"
        }
    }
}
