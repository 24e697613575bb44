import Segmenter
import SeggetReports

// Adding a URL that a task has already.
extension QueueCoordinator {
    /// Finds the tasks of a new one's URL, in whatever folder, that the client may know of.
    func allKnown(_ new: NewTask) throws(QueueError) -> [QueueTask] {
        try store.known(url: new.url).filter { task in
            isKnown(task, by: new.url) && new.mayKnow(task.place.folderPath)
        }
    }

    /// Picks the task that a new one is: in the same folder before others, and one that has not
    /// ended before others.
    static func known(_ new: NewTask, among tasks: [QueueTask]) -> QueueTask? {
        func pick(_ tasks: [QueueTask]) -> QueueTask? {
            tasks.last { !$0.status.isEnded } ?? tasks.last
        }
        if let known = pick(tasks.filter { isAtPlace($0, of: new) }) { return known }
        guard new.isKnownAnywhere else { return nil }
        return pick(tasks.filter { new.place.name == nil || new.place.name == $0.place.name })
    }

    /// Returns whether the file of a task has the place of a new one's.
    static func isAtPlace(_ task: QueueTask, of new: NewTask) -> Bool {
        task.place.folderPath == new.place.folderPath
            && (new.place.name == nil || new.place.name == task.place.name)
    }

    /// Returns whether a task that ``QueueStore/known(url:folder:)`` has found also has the query
    /// of a URL.
    ///
    /// A task whose query is lost has none.
    private func isKnown(_ task: QueueTask, by url: String) -> Bool {
        guard task.secretParts.contains(.query) else { return true }
        guard let full = unstored[task.id]?.url else { return false }
        return WebAddress.withoutSecrets(full) == WebAddress.withoutSecrets(url)
    }

    /// Describes a known task to a client.
    static func describe(
        _ task: QueueTask, differs: [String] = []
    ) -> CommandResult.KnownTask {
        CommandResult.KnownTask(
            id: task.id, path: task.place.path ?? task.place.folderPath, differs: differs)
    }

    /// Adds the URL of a known task; refuses it if something was given that this task does not
    /// have.
    func continueKnown(
        _ task: QueueTask, _ new: NewTask, _ machine: inout QueueMachine,
        _ now: QueueMachine.Moment
    ) throws(QueueError) -> CommandResult {
        let differs = try whole(task.id).map { new.differences(from: $0) } ?? []
        guard differs.isEmpty else {
            let path = task.place.path ?? task.place.folderPath
            var result = CommandResult.refused(task.id, .differs(path: path, differs))
            result.known = Self.describe(task, differs: differs)
            return result
        }
        var result = try goOn(task, new, &machine, now)
        result.known = Self.describe(task)
        return result
    }

    private func goOn(
        _ task: QueueTask, _ new: NewTask, _ machine: inout QueueMachine,
        _ now: QueueMachine.Moment
    ) throws(QueueError) -> CommandResult {
        let id = task.id
        let state = task.status.word
        let again = CommandNote.again(after: state.rawValue, isPaused: new.isPaused)
        switch task.status.state {
        case .completed:
            let standing = FinishedFile.look(at: task)
            guard standing != .there else {
                return CommandResult(id, .unchanged, .isComplete)
            }
            var task = task
            if standing == .changed, !task.options.overwrite {
                guard !task.place.isNameGiven else {
                    return .refused(id, .fileChanged(task.place.path ?? "")).then(.place)
                }
                // The changed file remains, and the new one gets another name.
                task.place.name = nil
            }
            try fetchAgain(task, at: new.position, isPaused: new.isPaused, &machine, now)
            return CommandResult(
                id, .done, .againWithout(file: standing.rawValue, isPaused: new.isPaused))
        case .cancelled where machine.entries[id] != nil:
            // Its part is still being deleted.
            _ = machine.retry(id)
            if new.isPaused { _ = machine.pause(id) }
            return CommandResult(id, .done, again)
        case .failed, .cancelled:
            try fetchAgain(task, at: new.position, isPaused: new.isPaused, &machine, now)
            return CommandResult(id, .done, again)
        default:
            guard task.status.isPaused, !new.isPaused else {
                return CommandResult(id, .unchanged, .isIn(state.text))
            }
            return CommandResult(id, machine.resume(id) ? .done : .unchanged, .resumed)
        }
    }
}

extension NewTask {
    /// Returns whether the client may know of tasks in a folder.
    fileprivate func mayKnow(_ folder: String) -> Bool {
        guard let knownBelow else { return true }
        return knownBelow.contains { root in
            guard folder == root || folder.hasPrefix(root + "/") else { return false }
            return !folder.dropFirst(root.count).split(separator: "/").contains {
                $0.hasPrefix(".")
            }
        }
    }

    /// Returns the given values that differ from those of a task with the same URL.
    ///
    /// A client over TCP could guess passwords and headers if they were compared, so all that it
    /// gives counts as different.
    ///
    /// - Parameter task: The task, with its secrets.
    /// - Returns: The names of the values, as in ``CommandResult/KnownTask/differs``.
    func differences(from task: QueueTask) -> [String] {
        let compares = knownBelow == nil
        let (given, has) = (options.access, task.options.access)
        var differs: [String] = []
        if let checksum = options.checksum, checksum != task.options.checksum,
            !task.verified.contains(checksum)
        {
            differs.append("checksum")
        }
        let hasUser = WebAddress.hasUser(url)
        let isUserGiven = given.credentials != nil || given.bearerToken != nil || hasUser
        let isSameUser =
            (given.credentials == nil || given.credentials == has.credentials)
            && (given.bearerToken == nil || given.bearerToken == has.bearerToken)
            && (!hasUser || url == task.url)
        if isUserGiven, !compares || !isSameUser { differs.append("user") }
        if !options.headers.isEmpty, !compares || options.headers != task.options.headers {
            differs.append("headers")
        }
        return differs
    }
}
