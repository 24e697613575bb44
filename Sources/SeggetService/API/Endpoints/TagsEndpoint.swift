import SeggetQueue

extension Endpoint {
    static let tags = Endpoint(
        path: "/tags", name: "tags", summary: "Tags, with the number of tasks of each",
        reply: Reply(
            description: "The tags",
            schema: .object(["tags": .map(of: .integer(from: 1))]).named("Tags")),
        ownErrors: ErrorReply.ofQueue,
        handler: .answer { _, api in try APIReply(TagCounts(tags: try await api.door.tags())) })
}

/// The answer of `GET /v2/tags`: the number of tasks that have each tag.
struct TagCounts: Codable {
    var tags: [String: Int]
}
