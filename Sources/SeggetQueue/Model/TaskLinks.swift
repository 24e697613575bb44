import Assembler
public import Segmenter

/// The whole links of a task: with their queries, and with `***` in place of passwords.
///
/// They are given on request only: a query may be as secret as a password.
public struct TaskLinks: Sendable, Hashable, Codable, Identifiable {
    /// Which task it is.
    public var id: QueueTask.ID
    /// The URL as it was added.
    public var url: String
    /// The URLs that it is fetched from now, mirrors included.
    public var urls: [String]
    /// Whether a client over TCP added it, and nobody else has changed its URLs.
    public var isOfClient: Bool

    enum CodingKeys: String, CodingKey {
        case id, url, urls
        case isOfClient = "from_client"
    }

    /// Takes the links of a task.
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
    /// Tells URLs that differ only in the query apart: the first 16 bits of a hash of it, as four hexadecimal
    /// digits; `nil` without a query.
    static func queryTag(_ url: String) -> String? {
        guard let start = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
        let digits = String(shortHash(of: String(url[start...])) >> 48, radix: 16)
        return String(repeating: "0", count: 4 - digits.utf8.count) + digits
    }
}

extension [TaskReport] {
    /// The tags of those tasks whose URL another one has, too, with another query.
    package var tellingTags: [QueueTask.ID: String] {
        var tags: [String: Set<String>] = [:]
        for task in self { tags[task.url, default: []].insert(task.queryTag ?? "") }
        return reduce(into: [:]) { telling, task in
            guard let tag = task.queryTag, tags[task.url]?.count ?? 0 > 1 else { return }
            telling[task.id] = tag
        }
    }
}
