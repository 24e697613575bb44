import Assembler
public import Segmenter

/// The whole links of a task: with their queries, and with `***` in place of passwords.
///
/// They are sent on request only, because a query may be as secret as a password.
public struct TaskLinks: Sendable, Hashable, Codable, Identifiable {
    /// The id of the task.
    public var id: QueueTask.ID
    /// The URL as it was added.
    public var url: String
    /// The present URLs, including mirrors.
    public var urls: [String]
    /// Whether a client over TCP has given the URLs.
    public var isOfClient: Bool

    enum CodingKeys: String, CodingKey {
        case id, url, urls
        case isOfClient = "from_client"
    }

    /// Creates the links of a task.
    ///
    /// - Parameters:
    ///   - task: The task with its secrets; a query that was not stored is missing.
    ///   - isOfClient: Whether a client over TCP added it.
    package init(_ task: QueueTask, isOfClient: Bool) {
        id = task.id
        url = WebAddress.withoutPassword(task.url)
        urls = (task.urls + task.options.mirrors).map(WebAddress.withoutPassword)
        self.isOfClient = isOfClient
    }
}

extension TaskReport {
    /// Returns a text that distinguishes URLs that differ only in the query: the first 16 bits of a
    /// hash of it, as four hexadecimal digits; `nil` without a query.
    static func queryTag(_ url: String) -> String? {
        guard let start = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
        let digits = String(shortHash(of: String(url[start...])) >> 48, radix: 16)
        return String(repeating: "0", count: 4 - digits.utf8.count) + digits
    }
}

extension [TaskReport] {
    /// The query tags of the tasks whose URL another task has with another query.
    package var tellingTags: [QueueTask.ID: String] {
        var tags: [String: Set<String>] = [:]
        for task in self { tags[task.url, default: []].insert(task.queryTag ?? "") }
        return reduce(into: [:]) { telling, task in
            guard let tag = task.queryTag, tags[task.url]?.count ?? 0 > 1 else { return }
            telling[task.id] = tag
        }
    }
}
