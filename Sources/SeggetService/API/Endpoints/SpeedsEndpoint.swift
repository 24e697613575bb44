import SeggetQueue

extension Endpoint {
    static let speeds = Endpoint(
        path: "/speeds", name: "speeds",
        summary: "Total speed of all tasks in the last ten minutes",
        reply: Reply(
            description: "A value for each second",
            schema: .object([
                "start": .integer(), "bytes_per_second": .list(of: .integer(from: 0), to: 600),
            ]).named("Speeds")),
        handler: .answer { _, api in try APIReply(await api.door.speedHistory()) })
}
