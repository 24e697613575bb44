import SeggetQueue

extension Endpoint {
    /// Opens the page for this user, without the secret.
    static let openings = Endpoint(
        method: .post, path: "/openings", listeners: [.socket], name: "openings",
        summary: "The page's address with a token that is valid once",
        reply: Reply(description: "The address", schema: .object(["url": .text])),
        handler: .answer { _, api in
            guard let url = api.openings.open() else {
                throw QueueError(
                    .unavailable, "the service does not serve the web page",
                    hint: "`segget serve --web PORT` serves it")
            }
            return try APIReply(Opening(url: url))
        })
}

/// The answer of `POST /v2/openings`: the page's address with a token that is valid once.
struct Opening: Codable {
    var url: String
}
