import SeggetQueue

extension Endpoint {
    static let tasks = Endpoint(
        path: "/tasks", name: "tasks", summary: "Tasks, and totals of the queue",
        parameters: Parameter.ofFilter + Parameter.ofWindow,
        reply: Reply(description: "The tasks", schema: .report), ownErrors: ErrorReply.ofQueue,
        handler: .answer { call, api in
            let filter = try TaskFilter(call.query)
            if let window = try TaskWindow(call.query) {
                return try APIReply(try await api.door.page(filter, window))
            }
            return try await AnswerGate.shared.pass {
                try await APIReply.long(try await api.door.report(filter))
            }
        })
}

extension Schema {
    fileprivate static let report = object(
        [
            "tasks": .list(of: .task), "counts": .map(of: .integer(from: 0)),
            "unseen": .map(of: .integer(from: 0)), "bytes_per_second": .number(from: 0),
            "version": .text,
        ],
        optional: [
            "matching": .integer(from: 0), "pause_reason": .text, "worker": .integer(from: 1),
        ]
    ).named("Report")

    static let taskID = text(pattern: "^[0-9a-f]{16}$").named("TaskID")

    static let taskState = words(TaskStatus.Word.all.map(\.rawValue)).named("TaskState")

    /// A task, as lists show it.
    static let task = object(
        [
            "id": .taskID, "state": .taskState, "wanted": .words(["run", "paused"]), "url": .text,
            "folder": .text, "bytes_done": .integer(from: 0), "attempts": .integer(from: 0),
            "added": .number(), "digests": .list(of: .text), "tags": .list(of: .text),
        ],
        optional: [
            "current_url": .text, "query_tag": .text(pattern: "^[0-9a-f]{4}$"), "path": .text,
            "position": .integer(from: 1), "rank": .integer(), "size": .integer(from: 0),
            "bytes_per_second": .number(from: 0), "seconds_left": .number(from: 0),
            "connections": .integer(from: 0), "error": .taskProblem, "retry_at": .number(),
            "waiting_since": .number(), "pause_reason": .text, "started": .number(),
            "finished": .number(), "last_byte": .number(), "type": .text, "seen": .flag,
            "file": .words(["there", "missing", "changed"]), "skipped": .flag, "html": .flag,
            "files": .integer(from: 1), "files_done": .integer(from: 0),
            "files_failed": .integer(from: 0),
        ]
    ).named("Task")

    static let taskProblem = object(
        ["kind": .text, "message": .text, "hint": .text, "code": .integer(from: 0)],
        optional: [
            "step": .text, "needed": .list(of: .text), "starts_over": .flag,
            "status": .integer(), "curl_code": .integer(), "errno": .integer(),
        ]
    ).named("TaskProblem")
}
