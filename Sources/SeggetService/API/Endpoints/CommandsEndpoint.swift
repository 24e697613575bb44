import SeggetQueue
import SeggetReports
import Segmenter

extension Endpoint {
    static let commands = Endpoint(
        method: .post, path: "/commands", name: "commands",
        summary: "Executes commands, one after the other",
        body: Body(
            schema: .commands,
            examples: ["pause": ["commands": [["command": "pause", "all": .bool(true)]]]]),
        reply: Reply(
            description: "The result of each command for each of its tasks", schema: .results),
        ownErrors: ErrorReply.ofQueue + [.hasWorker, .diskFull],
        handler: .answer { call, api in
            let commands = try JSON.read(CommandBatch.self, from: call.body).commands
            if let forbidden = forbidden(commands, api.policy) {
                return APIReply(forbidden, status: 403)
            }
            try checkValues(commands)
            let admitted = commands.map { $0.admitted(by: api.policy) }
            return try APIReply(BatchResults(results: try await api.door.perform(admitted)))
        })

    /// Why clients over TCP may not send some commands; `nil` if they may.
    private static func forbidden(
        _ commands: [QueueCommand], _ policy: RPCPolicy?
    ) -> QueueError? {
        do throws(RPCPolicy.Forbidden) {
            try policy?.check(commands)
            return nil
        } catch {
            var forbidden = QueueError(.invalid, error.message, hint: "nothing was done")
            forbidden.member = error.member
            return forbidden
        }
    }

    /// Refuses values that no request could be made with.
    private static func checkValues(_ commands: [QueueCommand]) throws(QueueError) {
        for (index, command) in commands.enumerated() {
            guard let fault = command.fault else { continue }
            let member = "commands[\(index)].\(fault.member)"
            var error = QueueError(
                .invalid, "\(Diagnostic.quote(member)): \(fault.message)", hint: "nothing was done")
            error.member = member
            throw error
        }
    }
}

/// The body of `POST /v2/commands`.
struct CommandBatch: Codable {
    var commands: [QueueCommand]
}

/// The answer to a batch of commands: for each, what it has done to each of its tasks.
struct BatchResults: Codable {
    var results: [[CommandResult]]
}

extension QueueCommand {
    /// The same command with what a policy for clients over TCP adds; `nil` adds nothing.
    fileprivate func admitted(by policy: RPCPolicy?) -> QueueCommand {
        guard let policy else { return self }
        return (policy.deniesPrivate ? denyingPrivate : self).ofClient.knowing(policy.folders)
    }

    /// The same command, noted as a client's over TCP.
    private var ofClient: QueueCommand {
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
    private func knowing(_ folders: [String]?) -> QueueCommand {
        guard case .add(var new) = self else { return self }
        new.knownBelow = folders
        return .add(new)
    }

    /// The same command, where its URLs must not lead to private addresses.
    private var denyingPrivate: QueueCommand {
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

extension Schema {
    fileprivate static let commands = object(
        ["commands": .list(of: .command)], isClosed: true
    ).named("Commands")

    private static let command = oneOf([
        .add, command("start"), command("pause"), command("resume"),
        command("cancel", optional: ["keep_part": .flag]), command("retry"),
        command("mark_seen"), command("remove", optional: ["files": .flag]),
        command("move", ["to": .position]),
        command("rename", optional: ["name": .text, "folder": .text]), .set,
        command("tag", optional: ["add": .list(of: .text), "remove": .list(of: .text)]),
    ]).named("Command")

    /// A command that selects tasks.
    private static func command(
        _ name: String, _ required: [String: Schema] = [:], optional: [String: Schema] = [:]
    ) -> Schema {
        object(
            required.merging(["command": .constant(name)]) { $1 },
            optional: optional.merging(selection) { $1 }, isClosed: true)
    }

    /// The members by which a command selects its tasks.
    private static let selection: [String: Schema] = [
        "ids": .list(of: .text, to: 1000), "tags": .list(of: .text, to: 1000), "all": .flag,
        "states": .list(of: .taskState, to: 1000),
    ]

    private static let set = command(
        "set",
        optional: [
            "urls": .list(of: .text), "connections": .connections, "rate_limit": .number(),
            "headers": .list(of: .text), "user": .text, "retries": .integer(from: 0, to: 1000),
            "options": .changedOptions,
        ])

    private static let add = object(
        [
            "command": .constant("add"), "url": .text,
            "root": .text.described("An absolute path in a folder that is open to clients"),
        ],
        optional: [
            "id": .taskID, "folder": .text, "name": .text, "name_given": .flag,
            "options": .options, "umask": .text(pattern: "^[0-7]{1,3}$"),
            "tags": .list(of: .text), "paused": .flag, "position": .position, "again": .flag,
            "known_anywhere": .flag, "store_secrets": .flag,
        ], isClosed: true
    ).named("Add")

    /// A position in the queue.
    private static let position = oneOf([.words(["first", "last"]), .integer(from: 1)])

    fileprivate static let results = object([
        "results": .list(of: .list(of: .result))
    ]).named("Results")

    private static let result = object(
        ["outcome": .words(["done", "unchanged", "refused"]), "code": .integer(from: 0)],
        optional: [
            "id": .taskID, "message": .text, "member": .text, "step": .text,
            "left": .object(["path": .text, "bytes": .integer(from: 0)]),
            "known": .object(["id": .taskID, "path": .text, "differs": .list(of: .text)]),
        ])
}
