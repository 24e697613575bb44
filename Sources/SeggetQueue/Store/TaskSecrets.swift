// Store: where a queue's tasks are kept, and who may work on them. It knows SQLite and files; it never knows what
// a task may do next, nor how a file is fetched.

import Segmenter

/// What of a task is secret, and so is kept apart from its record, or nowhere but in memory.
///
/// What is `nil` is whole in the record.
package struct TaskSecrets: Sendable, Hashable, Codable {
    /// The URL as it was added, in full.
    package var url: String?
    /// The URLs that it is fetched from, in full.
    package var urls: [String]?
    /// All options.
    package var options: DownloadOptions?
    /// The words of the command that gives a new link.
    package var refreshCommand: [String]?
    /// The parts of which there are secrets that are neither here nor in the record.
    package var gone: QueueTask.SecretParts?

    /// Whether there is nothing secret.
    package var isEmpty: Bool {
        url == nil && urls == nil && options == nil && refreshCommand == nil
    }

    enum CodingKeys: String, CodingKey {
        case url, urls, options, gone
        case refreshCommand = "refresh_command"
    }

    /// Puts the secrets back into a task.
    ///
    /// - Parameter record: The task without what ``QueueTask/split()`` took out of it.
    /// - Returns: The whole task; the record as it is when there are no secrets.
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
    /// Takes the task apart: `secrets.merged(into: record)` is the task again.
    ///
    /// The record has neither user nor password in its URLs, no secret option, and no refresh command; with
    /// ``keepsNoSecrets`` its URLs have no query and no fragment either, those in its options included.
    ///
    /// - Returns: What may be stored with all else, and what may not.
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

    /// What a record of this task lacks.
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
