import Assembler
import Glibc
import SeggetFormats
import SeggetQueue
import SeggetReports
import Segmenter

/// Answers requests with what a queue says.
struct QueueAPI: Sendable {
    let door: any QueueFeed
    /// What clients over TCP may do; `nil` for this user's own processes, which may do everything.
    var policy: RPCPolicy?
    /// Whether the links of all tasks are given, not only of those that clients have added.
    var givesAllLinks = true
    /// What lets into the page.
    let openings: OpeningTokens

    /// Answers a request of any version; carries it out even if the client has disconnected.
    func answer(_ request: APIRequest) async -> APIReply {
        let version = APIVersion(target: request.target)
        var request = request
        request.body = version.current(request.body)
        var reply = await answerCurrent(request)
        reply.body = version.body(reply.body)
        return reply
    }

    private func answerCurrent(_ request: APIRequest) async -> APIReply {
        do {
            let route = try Route(request.method, request.target)
            return try await answer(route, request)
        } catch let refusal as Refusal {
            return refusal.reply
        } catch let error as QueueError {
            return APIReply(policy == nil ? error : error.forClients)
        } catch {
            preconditionFailure("nothing else is thrown: \(error)")
        }
    }

    private func answer(_ route: Route, _ request: APIRequest) async throws -> APIReply {
        switch route {
        case .health: try APIReply(await health())
        case .tasks(let filter):
            try await AnswerGate.shared.pass {
                let report = try await door.report(filter)
                return try await APIReply.long(report)
            }
        case .page(let filter, let window): try APIReply(try await door.page(filter, window))
        case .tags: try APIReply(TagCounts(tags: try await door.tags()))
        case .speeds: try APIReply(await door.speedHistory())
        case .task(let selector):
            try APIReply(
                try await policy == nil ? door.detail(selector) : door.detail(selector).forClients)
        case .links(let filter):
            try await AnswerGate.shared.pass {
                try await APIReply.long(
                    LinkList(
                        links: try await door.links(filter).filter {
                            givesAllLinks || $0.isOfClient
                        }))
            }
        // Whoever asks for events is not answered once, but listens.
        case .events: throw Refusal("nothing exists at this path", status: 404)
        case .commands:
            try await perform(try JSON.read(CommandBatch.self, from: request.body).commands)
        case .settings: try APIReply(try await door.settings())
        case .openings: try open()
        case .newSettings:
            try await change(try JSON.read(QueueSettings.self, from: request.body))
        }
    }

    private func health() async -> HealthReport {
        var report = HealthReport(version: seggetVersion, worker: getpid())
        guard let folder = policy?.folder else { return report }
        report.folder = folder
        // A disk that is away may keep whoever asks.
        report.freeBytes = await offLoop("free space") { Self.freeBytes(at: folder) }
        return report
    }

    /// Bytes that are free for this user where a folder is, or is going to be; `nil` when nobody knows.
    static func freeBytes(at folder: String) -> Int64? {
        var path = folder
        var status = statvfs()
        while statvfs(path, &status) != 0 {
            guard errno == ENOENT, let slash = path.lastIndex(of: "/"), path != "/" else {
                return nil
            }
            path = slash == path.startIndex ? "/" : String(path[..<slash])
        }
        let (bytes, isTooMuch) = UInt64(status.f_bavail)
            .multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return isTooMuch ? .max : Int64(clamping: bytes)
    }

    private func perform(_ commands: [QueueCommand]) async throws -> APIReply {
        do throws(RPCPolicy.Forbidden) {
            try policy?.check(commands)
        } catch {
            var forbidden = QueueError(.invalid, error.message, hint: "nothing was done")
            forbidden.member = error.member
            return APIReply(forbidden, status: 403)
        }
        for (index, command) in commands.enumerated() {
            guard let fault = command.fault else { continue }
            let member = "commands[\(index)].\(fault.member)"
            var error = QueueError(
                .invalid, "\(Diagnostic.quote(member)): \(fault.message)", hint: "nothing was done")
            error.member = member
            throw error
        }
        let isRestricted = policy?.deniesPrivate ?? false
        let commands = commands.map { command in
            var command = isRestricted ? command.denyingPrivate : command
            if policy != nil { command = command.ofClient }
            return command.knowing(policy?.folders)
        }
        return try APIReply(BatchResults(results: try await door.perform(commands)))
    }

    private func open() throws -> APIReply {
        guard policy == nil else { throw Refusal("nothing exists at this path", status: 404) }
        guard let url = openings.open() else {
            throw QueueError(
                .unavailable, "the service does not serve the web page",
                hint: "`segget serve --web PORT` serves it")
        }
        return try APIReply(Opening(url: url))
    }

    private func change(_ settings: QueueSettings) async throws -> APIReply {
        try await door.change(settings)
        return try APIReply(try await door.settings())
    }
}

extension TaskDetail {
    /// The same task with the options that clients over TCP may set: others name files and interfaces.
    fileprivate var forClients: TaskDetail {
        var detail = self
        for key in options?.keys ?? [] where TransferOption[key]?.places.contains(.tcp) != true {
            detail.options?.remove(key)
        }
        return detail
    }
}

/// The whole links of tasks.
struct LinkList: Codable, Sendable {
    var links: [TaskLinks]
}

extension QueueCommand {
    /// The same command, noted as a client's over TCP.
    fileprivate var ofClient: QueueCommand {
        switch self {
        case .add(var new):
            new.isOfClient = true
            return .add(new)
        case .set(let selection, var changes):
            changes.areOfClient = true
            return .set(selection, changes)
        default: return self
        }
    }

    /// The same command, where an added URL is known by tasks in these folders only; `nil` for all.
    fileprivate func knowing(_ folders: [String]?) -> QueueCommand {
        guard case .add(var new) = self else { return self }
        new.knownBelow = folders
        return .add(new)
    }

    /// The same command, where the URLs that it brings must not lead to private addresses.
    fileprivate var denyingPrivate: QueueCommand {
        switch self {
        case .add(var new):
            new.options.access.deniesPrivate = true
            return .add(new)
        case .set(let selection, var changes)
        where changes.urls != nil || changes.options.keys.contains("access.proxy"):
            changes.deniesPrivate = true
            return .set(selection, changes)
        default: return self
        }
    }
}
