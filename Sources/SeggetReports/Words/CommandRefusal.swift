package import Segmenter

/// Why a command was refused for a task.
package enum CommandRefusal: Error, Sendable, Hashable {
    /// The selection names no task, for a reason in words.
    case noTask(String)
    /// No task has the tag.
    case noTag(String)
    /// There already is a task with the id.
    case idTaken(Download.ID)
    /// The URL cannot be downloaded.
    case url(DownloadError.Reason)
    /// The plan cannot be used.
    case plan(PlanError, path: String)
    /// The plan has no files.
    case emptyPlan(String)
    /// The task is a data set, whose files the queue does not move.
    case movesNoSet
    /// The files of the task are in the Hub's cache, and are not removed with it.
    case keepsCache
    /// The task would have no URL.
    case noURL
    /// The text is not the name of a file.
    case invalidName(String)
    /// The name ends like that of a part or a manifest.
    case reservedName(String)
    /// Another task downloads to the path.
    case pathTaken(by: Download.ID, String)
    /// A file that no task has downloaded exists at the path.
    case fileExists(String)
    /// The task was cancelled, so there is no file to rename.
    case cancelled
    /// The task was complete, and its file, which has a given name, was changed later.
    case fileChanged(String)
    /// A task has the URL already, for this path, but other values of these members.
    case differs(path: String, [String])
    /// A member of the command has a value that cannot be used.
    case member(String, MemberFault)
    /// A client over TCP may not change this option of a task that a user of the machine has added.
    case guarded(String)

    /// The refusal in words.
    package var message: String {
        switch self {
        case .noTask(let reason): reason
        case .noTag(let tag): "no task has the tag \(Diagnostic.quote(String(tag.prefix(64))))"
        case .idTaken(let id): "there already is a task \(id); give another id, or none"
        case .url(let reason): Self.diagnostic(reason).message
        case .plan(let error, let path): Diagnostic.messages(error, path: path)[0].text
        case .emptyPlan(let path): "the plan \(Diagnostic.quote(path)) has no files"
        case .movesNoSet: "is a data set, whose files the queue neither moves nor renames"
        case .keepsCache:
            "its files are in the Hub's cache, which other programs use: remove it without them"
        case .noURL: "a task needs a URL"
        case .invalidName(let name):
            "\(Diagnostic.quote(String(name.prefix(80)))) is not a file name: it must have no `/`, "
                + "and be at most 240 bytes long"
        case .reservedName(let name): "\(Diagnostic.quote(name)) ends like segget's own files"
        case .pathTaken(let owner, let path):
            "task \(owner) already downloads to \(Diagnostic.quote(path))"
        case .fileExists(let path): "\(Diagnostic.quote(path)) exists already, and is not replaced"
        case .cancelled: "was cancelled, and has no file to rename"
        case .fileChanged(let path):
            "was complete, and \(Diagnostic.quote(path)) was changed later: it is not replaced"
        case .differs(let path, let members):
            "already has this URL, for \(Diagnostic.quote(path)), but not the same "
                + "\(members.joined(separator: " and ")): nothing was changed"
        case .member(let member, let fault): "\(Diagnostic.quote(member)): \(fault.text)"
        case .guarded(let key):
            "only a user of the machine can change `\(key)` of a task that was added there"
        }
    }

    /// The exit code.
    package var status: ExitStatus {
        switch self {
        case .url(let reason): Self.diagnostic(reason).status
        case .plan(let error, _): Diagnostic.status(error)
        case .pathTaken, .fileExists, .cancelled, .fileChanged: .cannotCreate
        case .noTask, .noTag, .idTaken, .noURL, .invalidName, .reservedName, .differs, .member,
            .guarded, .emptyPlan, .movesNoSet, .keepsCache:
            .usage
        }
    }

    private static func diagnostic(_ reason: DownloadError.Reason) -> Diagnostic {
        Diagnostic(DownloadError(reason: reason, url: "", path: nil, bytesKept: 0))
    }
}
