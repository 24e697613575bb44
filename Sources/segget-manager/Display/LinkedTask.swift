import SeggetQueue

/// A task in JSON, with its complete URLs.
struct LinkedTask: Encodable {
    var task: TaskReport
    var links: TaskLinks?

    private enum CodingKeys: String, CodingKey { case link, links }

    func encode(to encoder: any Encoder) throws {
        try task.forCommands.encode(to: encoder)
        guard let links else { return }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(links.url, forKey: .link)
        try container.encode(links.urls, forKey: .links)
    }
}
