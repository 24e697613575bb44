import SeggetQueue

extension Endpoint {
    static let links = Endpoint(
        path: "/links", name: "links", summary: "The full links of tasks",
        parameters: Parameter.ofFilter,
        reply: Reply(description: "The links", schema: .links), ownErrors: ErrorReply.ofQueue,
        handler: .answer { call, api in
            let filter = try TaskFilter(call.query)
            return try await AnswerGate.shared.pass {
                let links = try await api.door.links(filter)
                return try await APIReply.long(
                    LinkList(links: links.filter { api.givesAllLinks || $0.isOfClient }))
            }
        })
}

/// The answer of `GET /v2/links`: the whole links of tasks.
struct LinkList: Codable, Sendable {
    var links: [TaskLinks]
}

extension Schema {
    fileprivate static let links = object([
        "links": .list(
            of: .object([
                "id": .taskID, "url": .text, "urls": .list(of: .text), "from_client": .flag,
            ]))
    ]).named("Links")
}
