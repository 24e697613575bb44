import Foundation
import SeggetQueue
import SeggetReports

extension Endpoint {
    static let files = Endpoint(
        path: "/tasks/{id}/files", name: "files", summary: "The files of one task",
        parameters: [.taskID] + Parameter.ofFiles,
        reply: Reply(description: "A part of the files", schema: .taskFiles),
        ownErrors: ErrorReply.ofQueue + [.noTask],
        handler: .answer { call, api in
            let window = try FileWindow(call.query)
            return try APIReply(try await api.door.files(call.variable, window))
        })
}

extension Parameter {
    /// The id of a task in a path.
    static let taskID = Parameter(
        name: "id", place: .path, description: "An id, or its first characters",
        schema: .text(from: 1), examples: ["begin": "53a1", "whole": "53a1f0c2b7d94e68"])

    /// The parameters that select files.
    fileprivate static let ofFiles =
        [
            Parameter(
                name: "file_state", description: "Files in this state",
                schema: .list(of: .fileState, to: TaskFile.State.allCases.count))
        ] + ofWindow.filter { ["offset", "limit"].contains($0.name) }
}

extension FileWindow {
    /// Reads the parameters of ``Parameter/ofFiles``.
    ///
    /// - Throws: ``Refusal``.
    init(_ query: [URLQueryItem]) throws(Refusal) {
        self.init()
        for item in query where item.name == "file_state" {
            guard let state = TaskFile.State(rawValue: item.value ?? "") else {
                throw Refusal("`file_state` has an unknown value", status: 400)
            }
            states.append(state)
        }
        if let window = try TaskWindow(query) { (offset, limit) = (window.offset, window.limit) }
    }

    /// Returns the path and query, without the version, that select these files of a task.
    func target(of selector: String) -> String {
        var items = states.map { "file_state=\($0.rawValue)" }
        if offset > 0 { items.append("offset=\(offset)") }
        items.append("limit=\(limit)")
        return "\(TaskDetail.path(of: selector))/files?\(items.joined(separator: "&"))"
    }
}

extension Schema {
    fileprivate static let fileState = words(TaskFile.State.allCases.map(\.rawValue))
        .named("FileState")

    fileprivate static let taskFiles = object([
        "id": .taskID, "folder": .text, "files": .list(of: .taskFile),
        "matching": .integer(from: 0), "counts": .map(of: .integer(from: 0)),
    ]).named("TaskFiles")

    private static let taskFile = object(
        [
            "index": .integer(from: 0), "path": .text, "state": .fileState,
            "bytes_done": .integer(from: 0), "url": .text,
        ], optional: ["size": .integer(from: 0), "error": .taskProblem]
    ).named("TaskFile")
}
