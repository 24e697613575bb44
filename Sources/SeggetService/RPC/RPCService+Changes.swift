import SeggetFormats
package import SeggetQueue
import SeggetReports
import Segmenter
import Synchronization
package import SeggetAria2

// The methods that change tasks and options.
extension RPCService {
    // MARK: Adding

    func addURI(_ parameters: RPCParameters) async throws -> JSONValue {
        let urls = try parameters.texts(0)
        guard !urls.isEmpty else { throw RPCError("URI is not provided.") }
        let given = try read(try parameters.object(1))
        let position = try parameters.position(2)
        var seen: Set<String> = []
        let options = common.withLock { $0 }.replaced(by: given)
        let web = urls.filter { DownloadSession.problem(with: $0) == nil }
            .filter { seen.insert($0).inserted }
        guard !web.isEmpty else { throw RPCError("No URI to download.") }
        var task = try newTask(web, options)
        if let gid = given.text("gid") { task.id = try await free(gid) }
        task.isPaused = given.flag("pause") ?? false
        if let position { task.position = try await place(before: position) }
        guard let id = try await carryOut(.add(task)).first?.id else {
            throw RPCError("No URI to download.")
        }
        return .string(id.description)
    }

    /// Returns the id that a client requests, unless it is invalid or in use.
    private func free(_ gid: String) async throws -> QueueTask.ID {
        guard let id = QueueTask.ID(gid.lowercased()), gid.contains(where: { $0 != "0" }) else {
            throw RPCError("\(PrintableText.escape(gid)) is invalid for GID.")
        }
        guard try await queue.whole(id) == nil else { throw RPCError("GID \(id) is not unique.") }
        return id
    }

    /// Creates a task as aria2 does, from valid URLs.
    private func newTask(_ urls: [String], _ options: Aria2Options) throws -> NewTask {
        let aria2 = Aria2Task(urls: urls, options: options)
        let (place, problem) = try place(options)
        if problem == nil, let problem = aria2.problem { throw RPCError(problem.text) }
        var task = NewTask(of: aria2, policy)
        (task.place, task.problem) = (place, problem)
        if task.options.naming.numbersTaken { task.place.isNameGiven = false }
        return task
    }

    /// Returns the destination of a file, and the problem if clients may not use it.
    private func place(
        _ options: Aria2Options
    ) throws -> (place: QueueTask.Place, problem: TaskProblem?) {
        let place = Self.place(options, in: policy.folder)
        do throws(RPCPolicy.Forbidden) {
            try policy.check(place)
            return (place, nil)
        } catch {
            let problem = TaskProblem(
                .place, kind: "folder_unavailable", message: error.message,
                code: ExitStatus.cannotCreate.rawValue)
            // A retry stores the file in the download folder.
            return (QueueTask.Place(root: policy.folder), problem)
        }
    }

    /// Returns the destination that aria2's options describe.
    ///
    /// - Parameters:
    ///   - options: The options, of which `dir` and `out` are used.
    ///   - root: The folder for relative paths, absolute.
    /// - Returns: The destination; contains `..` if the options do.
    package static func place(_ options: Aria2Options, in root: String) -> QueueTask.Place {
        var folder = options.text("dir") ?? root
        if !folder.hasPrefix("/") { folder = "\(root)/\(folder)" }
        var name = options.text("out")
        // aria2 accepts folders in `out`.
        if let out = name, let slash = out.lastIndex(of: "/") {
            folder += "/\(out[..<slash])"
            name = String(out[out.index(after: slash)...])
        }
        folder = "/" + folder.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
        guard folder.hasPrefix(root + "/") else { return QueueTask.Place(root: folder, name: name) }
        return QueueTask.Place(
            root: root, folder: String(folder.dropFirst(root.count + 1)), name: name)
    }

    /// Returns the destination of a file; throws if clients may not use it.
    private func allowedPlace(_ options: Aria2Options) throws -> QueueTask.Place {
        let (place, problem) = try place(options)
        if let problem { throw RPCError(problem.message) }
        return place
    }

    /// Reads the options that a client sent.
    private func read(
        _ members: [String: JSONValue], ofQueue isGlobal: Bool = false
    ) throws -> Aria2Options {
        var allowed = policy.isDropIn ? Aria2Option.forOwnClients : Aria2Option.forClients
        if isGlobal {
            allowed.formUnion(policy.isDropIn ? Aria2Option.forOwnQueues : Aria2Option.forQueues)
        }
        var options = Aria2Options()
        for (name, value) in members {
            let texts = value.string.map { [$0] } ?? value.array?.compactMap(\.string)
            guard let texts, !texts.isEmpty else { continue }
            do throws(Aria2Option.Refused) {
                try options.take(client: name, texts, allowed: allowed)
            } catch {
                throw RPCError(
                    "We encountered a problem while processing the option '--\(error.name)'.")
            }
        }
        return options
    }

    // MARK: Pausing and removing

    func remove(_ parameters: RPCParameters) async throws -> JSONValue {
        let report = try await find(parameters)
        guard !Self.stopped.contains(report.state) else {
            throw RPCError("Active Download not found for GID#\(report.id)")
        }
        // aria2 writes its control file, and keeps both files (RequestGroupMan.cc,
        // ProcessStoppedRequestGroup).
        _ = try await carryOut(.cancel(TaskSelection(report.id), keepsPart: true))
        return .string(report.id.description)
    }

    func pause(_ parameters: RPCParameters) async throws -> JSONValue {
        let report = try await find(parameters)
        guard !Self.stopped.contains(report.state), report.state != .paused else {
            throw RPCError("GID#\(report.id) cannot be paused now")
        }
        _ = try await carryOut(.pause(TaskSelection(report.id)))
        return .string(report.id.description)
    }

    func unpause(_ parameters: RPCParameters) async throws -> JSONValue {
        let report = try await find(parameters)
        guard report.state == .paused else {
            throw RPCError("GID#\(report.id) cannot be unpaused now")
        }
        _ = try await carryOut(.resume(TaskSelection(report.id)))
        return .string(report.id.description)
    }

    func removeResult(_ parameters: RPCParameters) async throws -> JSONValue {
        let report = try await find(parameters)
        guard Self.stopped.contains(report.state) else {
            throw RPCError("Could not remove download result of GID#\(report.id)")
        }
        _ = try await carryOut(.remove(TaskSelection(report.id), files: false))
        return "OK"
    }

    func purge() async throws -> JSONValue {
        _ = try await carryOut(
            .remove(TaskSelection(isAll: true, states: Self.stopped), files: false))
        return "OK"
    }

    // MARK: Order

    func changePosition(_ parameters: RPCParameters) async throws -> JSONValue {
        let report = try await find(parameters)
        let (distance, how) = (try parameters.integer(1), try parameters.text(2))
        let waiting = try await tasks(in: Self.waiting)
        guard let present = waiting.firstIndex(where: { $0.id == report.id }) else {
            throw RPCError("GID#\(report.id) not found in the waiting queue.")
        }
        let last = waiting.count - 1
        let base =
            switch how {
            case "POS_SET": 0
            case "POS_CUR": present
            case "POS_END": last
            default: throw RPCError("Illegal argument.")
            }
        let wanted = min(max(0, base + Int(clamping: min(max(distance, -1 << 40), 1 << 40))), last)
        var others = waiting
        others.remove(at: present)
        let position = try await position(
            before: wanted < others.count ? others[wanted].id : nil, moving: report.id)
        _ = try await carryOut(.move(TaskSelection(report.id), to: position))
        return JSONValue(integerLiteral: wanted)
    }

    /// Returns the queue position of the task at an index of the waiting tasks.
    private func place(before position: Int) async throws -> QueuePosition {
        let waiting = try await tasks(in: Self.waiting)
        return try await self.position(
            before: position < waiting.count ? waiting[position].id : nil, moving: nil)
    }

    private func position(
        before id: QueueTask.ID?, moving own: QueueTask.ID?
    ) async throws -> QueuePosition {
        guard let id else { return .last }
        let order = try await tasks(in: Self.waiting + Self.active).filter { $0.id != own }
        return order.firstIndex { $0.id == id }.map { .at($0 + 1) } ?? .last
    }

    // MARK: URLs and options

    func changeURI(_ parameters: RPCParameters) async throws -> JSONValue {
        let report = try await find(parameters)
        guard try parameters.integer(1) == 1 else { throw RPCError("fileIndex is out of range") }
        let (removed, added) = (try parameters.texts(2), try parameters.texts(3))
        let position = try parameters.position(4)
        guard !Self.stopped.contains(report.state), let task = try await queue.whole(report.id)
        else { throw RPCError("Cannot change URIs for GID#\(report.id)") }
        let old = task.everyURL
        var urls = old
        var count = 0
        for url in removed {
            guard let place = urls.firstIndex(of: url) else { continue }
            urls.remove(at: place)
            count += 1
        }
        let usable = added.filter { DownloadSession.problem(with: $0) == nil }
        urls.insert(contentsOf: usable, at: min(position ?? urls.count, urls.count))
        // A task has at least one URL: keep the last one.
        if urls.isEmpty { urls = Array(old.suffix(1)) }
        if urls != old {
            var changes = TaskChanges()
            changes.urls = urls
            changes.deniesPrivate = policy.deniesPrivate
            changes.areOfClient = true
            _ = try await carryOut(.set(TaskSelection(report.id), changes))
        }
        return [JSONValue(integerLiteral: count), JSONValue(integerLiteral: usable.count)]
    }

    func changeOption(_ parameters: RPCParameters) async throws -> JSONValue {
        let report = try await find(parameters)
        guard !Self.stopped.contains(report.state), let task = try await queue.whole(report.id)
        else { throw RPCError("Cannot change option for GID#\(report.id)") }
        let own = presentOptions(task)
        var present = common.withLock { $0 }.replaced(by: own)
        present.set("gid", report.id.description)
        present.set("pause", report.state == .paused ? "true" : "false")
        // Clients send back the unchanged values of `getOption`.
        let shown = present.shown
        let given = try parameters.members(1).filter { $1.string == nil || $1.string != shown[$0] }
        let changed = try read(given).changes(from: present)
        for name in changed.names
        where Aria2Option.named(name)?.canChange(isOwn: policy.isDropIn) == false {
            throw RPCError("The option '\(name)' of GID#\(report.id) cannot be changed.")
        }
        func options(_ aria2: Aria2Options) -> DownloadOptions {
            Aria2Task(urls: task.everyURL, options: aria2).batchItem(
                home: policy.isDropIn ? policy.home : "", exists: policy.exists
            ).options
        }
        let all = own.replaced(by: changed)
        let new = options(all)
        var changes = TaskChanges()
        changes.options = OptionChanges(from: options(own), to: new)
        // aria2's options cannot express every number of connections: compare with that of the
        // task.
        if changed["split"] != nil || changed["max-connection-per-server"] != nil,
            new.connections != task.options.connections
        {
            changes.options.set("connections") { $0.connections = new.connections }
        }
        changes.areOfClient = !policy.isDropIn
        changes.deniesPrivate =
            policy.deniesPrivate && changes.options.keys.contains("access.proxy")
        if let (member, fault) = changes.fault { throw RPCError("\(member): \(fault.text)") }
        // The destination first, because the queue can refuse it.
        if changed["dir"] != nil || changed["out"] != nil {
            let place = try allowedPlace(all)
            _ = try await carryOut(
                .rename(TaskSelection(report.id), name: place.name, folder: place.folderPath))
        }
        if !changes.options.isEmpty {
            _ = try await carryOut(.set(TaskSelection(report.id), changes))
        }
        return "OK"
    }

    /// Returns the options of a task as aria2's.
    private func presentOptions(_ task: QueueTask) -> Aria2Options {
        Aria2Options(
            of: task.options, folder: task.place.folderPath,
            name: task.place.isNameGiven ? task.place.name : nil, isOwn: policy.isDropIn)
    }

    func option(_ parameters: RPCParameters) async throws -> JSONValue {
        let report = try await find(parameters)
        guard let task = try await queue.whole(report.id) else {
            throw RPCError("GID \(report.id) is not found")
        }
        let own = presentOptions(task)
        return Self.object(common.withLock { $0 }.replaced(by: own).shown)
    }

    func globalOption() async throws -> JSONValue {
        let settings = try await queue.settings()
        var options = common.withLock { $0 }.shown
        options["dir"] = options["dir"] ?? policy.folder
        options["max-concurrent-downloads"] = String(settings.maxRunning)
        options["max-overall-download-limit"] = String(Int64(min(settings.rateLimit ?? 0, 0x1p62)))
        return Self.object(options)
    }

    func changeGlobalOption(_ parameters: RPCParameters) async throws -> JSONValue {
        let given = try read(try parameters.members(0), ofQueue: true)
        if given["dir"] != nil { _ = try allowedPlace(given) }
        let old = try await queue.settings()
        var settings = old
        if let number = given.number("max-concurrent-downloads") {
            settings.maxRunning = Int(min(max(1, number), 64))
        }
        if let rate = given.number("max-overall-download-limit") {
            settings.rateLimit = rate > 0 ? Double(rate) : nil
        }
        if settings != old { try await queue.change(settings) }
        common.withLock { common in
            common = common.replaced(by: given)
            if let path = given.text("save-session") { common.set("save-session", path) }
        }
        return "OK"
    }

    private static func object(_ texts: [String: String]) -> JSONValue {
        .object(texts.mapValues(JSONValue.string))
    }
}

extension NewTask {
    /// Creates the task for a download of aria2; the policy's folder is its destination.
    ///
    /// - Parameters:
    ///   - task: aria2's task, without a problem.
    ///   - policy: The limits of clients.
    package init(of task: Aria2Task, _ policy: RPCPolicy) {
        let home = policy.isDropIn ? policy.home : ""
        var item = task.batchItem(home: home, exists: policy.exists)
        if !policy.isDropIn {
            // Without an option of the client, the environment of the service determines the proxy.
            let hasProxy = ["all-proxy", "http-proxy", "https-proxy"].contains {
                task.options[$0] != nil
            }
            if !hasProxy { item.options.access.proxy = nil }
            if task.options["no-proxy"] == nil { item.options.access.noProxy = nil }
            item.options.takesOver = .nothing
            item.options.waitsForNetwork = true
        }
        item.options.access.deniesPrivate = policy.deniesPrivate
        self.init(item.url, to: QueueTask.Place(root: policy.folder), options: item.options)
        // Each call adds a task, and a problem of its destination is that task's failure.
        (isAgain, failsWhereTaken) = (true, true)
        replacesOwnFilesOnly = !policy.isDropIn
        isPaused = task.isPaused
        isOfClient = true
    }
}
