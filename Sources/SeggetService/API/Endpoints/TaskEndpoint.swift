import Foundation
import SeggetFormats
import SeggetQueue
import SeggetReports

extension Endpoint {
    static let task = Endpoint(
        path: "/tasks/{id}", name: "task", summary: "All details of one task",
        parameters: [.taskID],
        reply: Reply(description: "The task", schema: .taskDetail),
        ownErrors: ErrorReply.ofQueue + [.noTask],
        handler: .answer { call, api in
            let detail = try await api.door.detail(call.variable)
            return try APIReply(api.policy == nil ? detail : detail.forClients)
        })
}

extension TaskDetail {
    /// Returns the path, without its version, of one task.
    static func path(of selector: String) -> String {
        // All but letters and digits is encoded, so that it is one segment, whatever is in it.
        "/tasks/"
            + (selector.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? selector)
    }

    /// The same task with the options that clients over TCP may set: others name files and interfaces.
    fileprivate var forClients: TaskDetail {
        var detail = self
        for key in options?.keys ?? [] where TransferOption[key]?.places.contains(.tcp) != true {
            detail.options?.remove(key)
        }
        return detail
    }
}

extension Schema {
    fileprivate static let taskDetail = object(
        [
            "task": .task, "urls": .list(of: .text, from: 1),
            "map": .list(of: .integer(from: 0, to: 8)), "segments": .list(of: .byteRange),
            "events": .list(
                of: .object(["time": .number(), "event": .text, "message": .text])),
        ],
        optional: [
            "options": .options, "final_url": .text, "etag": .text, "last_modified": .text,
            "identity": .text, "verifying": .list(of: .byteRange),
            "servers": .list(of: .server), "connections": .list(of: .connection),
        ]
    ).named("TaskDetail")

    /// Bytes of a file; the end is not included.
    private static let byteRange = object([
        "start": .integer(from: 0), "end": .integer(from: 0),
    ]).named("ByteRange")

    private static let server = object(
        [
            "url": .text, "state": .words(["used", "waiting_for_sample", "dropped"]),
            "bytes": .integer(from: 0), "connections": .integer(from: 0),
        ], optional: ["reason": .text, "message": .text]
    ).named("Server")

    private static let connection = object(
        ["server": .integer(from: 0), "state": .text, "bytes_per_second": .number(from: 0)],
        optional: [
            "start": .integer(from: 0), "end": .integer(from: 0), "position": .integer(from: 0),
            "address": .text, "http_version": .text, "round_trip": .number(from: 0),
        ]
    ).named("Connection")
}
