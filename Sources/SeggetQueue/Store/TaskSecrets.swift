// Store: the stored tasks of a queue, and its lock. It knows SQLite and files; it never knows what
// a task may do next, or how a file is downloaded.

import Segmenter

/// The secrets of a task, which are stored apart from its record, or kept in memory only.
///
/// Where a value is `nil`, the record has the whole value.
package struct TaskSecrets: Sendable, Hashable, Codable {
    /// The URL as it was added, in full.
    package var url: String?
    /// The present URLs, in full.
    package var urls: [String]?
    /// All options.
    package var options: DownloadOptions?
    /// The words of the command that prints a new link.
    package var refreshCommand: [String]?
    /// The parts whose secrets are neither here nor in the record.
    package var gone: QueueTask.SecretParts?

    /// Whether there are no secrets.
    package var isEmpty: Bool {
        url == nil && urls == nil && options == nil && refreshCommand == nil
    }

    enum CodingKeys: String, CodingKey {
        case url, urls, options, gone
        case refreshCommand = "refresh_command"
    }

    /// Returns a record with its secrets.
    ///
    /// - Parameter record: A record of ``QueueTask/split()``.
    /// - Returns: The whole task; the unchanged record if there are no secrets.
    package func merged(into record: QueueTask) -> QueueTask {
        guard !isEmpty else { return record }
        var task = record
        if let url { task.url = url }
        if let urls { task.urls = urls }
        if let options { task.options = options }
        if let refreshCommand { task.refreshCommand = refreshCommand }
        task.secretParts = gone ?? []
        return task
    }
}

extension QueueTask {
    /// Splits the task into a record and secrets; `secrets.merged(into: record)` is the task again.
    ///
    /// The record has neither user nor password in its URLs, no secret option, and no refresh
    /// command; with ``keepsNoSecrets`` its URLs, including those in its options, have no query and
    /// no fragment.
    ///
    /// - Returns: The record and the secrets.
    package func split() -> (record: QueueTask, secrets: TaskSecrets) {
        var record = self
        var secrets = TaskSecrets()
        record.url = bare(url)
        record.urls = urls.map { bare($0) }
        record.options = options.withoutSecrets
        if keepsNoSecrets {
            record.options.mirrors = record.options.mirrors.map { bare($0) }
            record.options.access.referer = record.options.access.referer.map { bare($0) }
            record.options.access.proxy = record.options.access.proxy.map { bare($0) }
        }
        if record.url != url { secrets.url = url }
        if record.urls != urls { secrets.urls = urls }
        if record.options != options { secrets.options = options }
        if !refreshCommand.isEmpty {
            (record.refreshCommand, secrets.refreshCommand) = ([], refreshCommand)
        }
        guard !secrets.isEmpty else { return (record, secrets) }
        if !secretParts.isEmpty { secrets.gone = secretParts }
        record.secretParts.formUnion(parts(missingIn: record))
        return (record, secrets)
    }

    /// Returns the parts that a record of this task lacks.
    private func parts(missingIn record: QueueTask) -> SecretParts {
        var parts: SecretParts = []
        if WebAddress.withoutSecrets(url) != record.url { parts.insert(.query) }
        var rest = record.options
        if record.urls != urls || rest.mirrors != options.mirrors { parts.insert(.urls) }
        if rest.headers != options.headers { parts.insert(.headers) }
        if rest.access.credentials != options.access.credentials { parts.insert(.user) }
        (rest.mirrors, rest.headers) = (options.mirrors, options.headers)
        rest.access.credentials = options.access.credentials
        if rest != options { parts.insert(.other) }
        return parts
    }

    private func bare(_ url: String) -> String {
        WebAddress.withoutSecrets(url, keepsQuery: !keepsNoSecrets)
    }
}
