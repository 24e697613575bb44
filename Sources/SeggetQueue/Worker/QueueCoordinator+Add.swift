import Assembler
import SeggetFormats
import SeggetReports
import Segmenter

// Adding and changing tasks.
extension QueueCoordinator {
    /// Adds a task, or finds the existing one.
    func add(
        _ new: NewTask, _ machine: inout QueueMachine, _ now: QueueMachine.Moment
    ) throws(QueueError) -> CommandResult {
        var new = new
        new.url = WebAddress.trimmed(new.url)
        for url in [new.url] + new.options.mirrors {
            if let reason = DownloadSession.problem(with: url) {
                return .refused(nil, .url(reason), member: "url")
            }
        }
        let others = try allKnown(new)
        if !new.isAgain, let known = Self.known(new, among: others) {
            return try continueKnown(known, new, &machine, now)
        }
        let id = new.id ?? QueueTask.ID()
        if try store.task(id) != nil {
            return .refused(nil, .idTaken(id))
        }
        // The part of another task with the same URL must not be used for this one.
        if new.isAgain, new.place.name == nil {
            // The name of the first task has no number yet.
            let first = others.filter { Self.isAtPlace($0, of: new) }.min { $0.added < $1.added }?
                .place.name
            if let first { (new.place.name, new.place.isNameGiven) = (first, false) }
        }
        if new.replacesOwnFilesOnly, new.options.overwrite {
            let isOwn = try isOwn(new.place)
            new.options.overwrite = isOwn
            new.options.files.timestamping = isOwn && new.options.files.timestamping
        }
        if let name = new.place.name {
            if let refusal = Self.refusal(ofName: name) {
                return .refused(nil, refusal, member: "name")
            }
            if !new.place.isNameGiven {
                if try !isFree(new.place, but: nil) {
                    new.place = try freePlace(like: new.place, but: nil)
                }
            } else if !(new.replacesOwnFilesOnly && new.options.overwrite),
                let owner = try store.owner(of: new.place, but: nil)
            {
                let path = new.place.path ?? name
                guard new.failsWhereTaken else {
                    return .refused(nil, .pathTaken(by: owner, path), member: "name")
                        .then(.place)
                }
                new.problem = new.problem ?? TaskProblem(.pathTaken(by: owner, path))
            }
        }
        var task = QueueTask(new)
        task.id = id
        task.added = now.wall
        machine.insert(Self.entry(task), at: new.position, now)
        task.status = machine.entries[id]?.status ?? task.status
        if let problem = new.problem {
            machine.forget(id)
            (task.status.state, task.status.problem) = (.failed, problem)
            task.finished = now.wall
            hasRecorded(id)
        }
        let secrets = try store.insert(task)
        if new.isOfClient { try store.note(id, isOfClient: true) }
        if new.keepsNoSecrets, !secrets.isEmpty { unstored[id] = secrets }
        var result = CommandResult(id, .done)
        result.known = others.last.map { Self.describe($0) }
        return result
    }

    /// Returns the first numbered name that neither another task nor a file has.
    func freePlace(
        like place: QueueTask.Place, but id: QueueTask.ID?
    ) throws(QueueError) -> QueueTask.Place {
        var free = place
        for number in 1... {
            free.name = place.name.map { DownloadSession.numbered($0, number) }
            if try isFree(free, but: id) { break }
        }
        return free
    }

    /// Returns whether neither another task nor a file has a name.
    private func isFree(
        _ place: QueueTask.Place, but id: QueueTask.ID?
    ) throws(QueueError) -> Bool {
        guard let path = place.path else { return true }
        let names = [path] + PartNames.suffixes.map { path + $0 }
        return try store.owner(of: place, but: id) == nil
            && !names.contains(where: FinishedFile.anythingStands)
    }

    /// Returns whether the file at a place is the unchanged file of a completed task of this queue.
    private func isOwn(_ place: QueueTask.Place) throws(QueueError) -> Bool {
        guard let id = try store.owner(of: place, but: nil), let owner = try store.task(id),
            owner.status.state == .completed
        else { return false }
        return FinishedFile.look(at: owner) == .there
    }

    /// Gives a task's file another name or folder.
    func rename(
        _ id: QueueTask.ID, _ name: String?, _ folder: String?, _ machine: inout QueueMachine,
        _ now: QueueMachine.Moment
    ) throws(QueueError) -> CommandResult {
        guard let task = try store.task(id) else {
            return CommandResult(id, .unchanged, .gone)
        }
        guard task.fileSet == nil else { return .refused(id, .movesNoSet) }
        if let name, let refusal = Self.refusal(ofName: name) {
            return .refused(id, refusal, member: "name")
        }
        guard task.status.state != .cancelled else {
            return .refused(id, .cancelled).then(.retry)
        }
        var place = task.place
        if let folder { (place.root, place.folder) = (folder, "") }
        if let name { (place.name, place.isNameGiven) = (name, true) }
        guard place != task.place else {
            return CommandResult(id, .unchanged, .hasPlace)
        }
        if let owner = try store.owner(of: place, but: id) {
            return .refused(id, .pathTaken(by: owner, place.path ?? ""), member: "name")
        }
        if let path = place.path, path != task.place.path, FinishedFile.anythingStands(at: path) {
            return .refused(id, .fileExists(path), member: "name")
        }
        try store.update(id) { task in
            task.place = place
            // The user has named that folder.
            if folder != nil { task.options.files.missingFolders = .made }
        }
        var origin = task.place
        // A file that an earlier command has not moved yet is still at its earlier place.
        if case .move(let older)? = machine.entries[id]?.chore { origin = older }
        if origin.path != nil {
            if machine.entries[id] == nil { machine.insert(Self.entry(task), now) }
            machine.moveFiles(id, from: origin)
        } else {
            machine.restart(id)
        }
        return CommandResult(id, .done)
    }

    /// Options that clients over TCP cannot change in a task that a user of this machine has added:
    /// they say which file is the right one, and who may send it.
    private static let guarded: Set = [
        "checksum", "limits.max_size", "access.scheme", "access.proxy", "access.no_proxy",
        "access.minimum_tls",
    ]

    /// Changes the URLs or options of a task.
    func set(
        _ id: QueueTask.ID, _ changes: TaskChanges, _ machine: inout QueueMachine
    ) throws(QueueError) -> CommandResult {
        guard var task = try whole(id) else {
            return CommandResult(id, .unchanged, .gone)
        }
        let chosen = changes.options
        if let (member, fault) = changes.fault {
            return .refused(id, .member(member, fault), member: member)
        }
        if changes.areOfClient, let key = Self.guarded.intersection(chosen.keys).min(),
            try !store.tasksOfClients().contains(id)
        {
            return .refused(id, .guarded(key), member: "options.\(key)")
        }
        if let urls = changes.urls {
            guard task.fileSet == nil else {
                return .refused(id, .member("urls", .ofPlan), member: "urls")
            }
            for url in urls {
                if let reason = DownloadSession.problem(with: url) {
                    return .refused(id, .url(reason), member: "url")
                }
            }
            guard let first = urls.first else {
                return .refused(id, .noURL, member: "urls")
            }
            task.urls = [first]
            task.secretParts.remove(.urls)
            task.options.mirrors = Array(urls.dropFirst())
            // The part is continued if something shows that it is the same file.
            if task.file != nil { task.options.continuesOtherURL = true }
            machine.changeHost(id, to: DownloadSession.origin(of: first))
        }
        task.options.apply(chosen)
        if chosen.keys.contains("headers") { task.secretParts.remove(.headers) }
        if chosen.keys.contains("access.credentials") { task.secretParts.remove(.user) }
        if changes.deniesPrivate { task.options.access.deniesPrivate = true }
        let secrets = try store.replace(task)
        if changes.urls != nil, !changes.areOfClient { try store.note(id, isOfClient: false) }
        unstored[id] = task.keepsNoSecrets && !secrets.isEmpty ? secrets : nil
        let isLater = chosen.keys.allSatisfy { TransferOption[$0]?.effect == .nextStart }
        if changes.urls != nil || chosen.isEmpty || !isLater { machine.restart(id) }
        return CommandResult(id, .done)
    }

    /// Returns a task with its secrets that are known; `nil` if it does not exist.
    func whole(_ id: QueueTask.ID) throws(QueueError) -> QueueTask? {
        try whole([id], readsAll: true).first
    }

    /// Returns the existing ones of some tasks, with their secrets that are known.
    ///
    /// - Parameters:
    ///   - ids: The tasks.
    ///   - readsAll: Whether to also read the secrets of tasks whose options and URLs have none, such
    ///     as a command that gets a new link.
    /// - Returns: The tasks.
    /// - Throws: `QueueError`.
    func whole(
        _ ids: [QueueTask.ID], readsAll: Bool = false
    ) throws(QueueError) -> [QueueTask] {
        var tasks = try store.tasks(ids)
        for index in tasks.indices where readsAll || !tasks[index].secretParts.isEmpty {
            let task = tasks[index]
            var secrets = unstored[task.id]
            if secrets == nil { secrets = try store.secrets(of: task.id) }
            tasks[index] = secrets?.merged(into: task) ?? task
        }
        return tasks
    }

    /// Returns why a name that the user gave is refused; `nil` if it is not.
    static func refusal(ofName name: String) -> CommandRefusal? {
        guard !name.isEmpty, !name.contains("/"), !name.utf8.contains(0),
            ![".", ".."].contains(name),
            name.utf8.count <= 240
        else {
            return .invalidName(name)
        }
        guard !PartNames.suffixes.contains(where: name.hasSuffix) else {
            return .reservedName(name)
        }
        return nil
    }

}
