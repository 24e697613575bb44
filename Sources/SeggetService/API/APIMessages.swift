// API: what requests ask for, and what is answered, in JSON. It knows the queue's door; it never knows a socket.

import SeggetQueue

/// The answer of `GET /v2/health`.
package struct HealthReport: Sendable, Hashable, Codable {
    /// The version of the API.
    package static let api = APIVersion.current.rawValue

    /// The version of segget.
    package var version: String
    /// The version of the API that it speaks.
    package var api: String
    /// The process that works the queue.
    package var worker: Int32
    /// The download folder of clients over TCP; `nil` on the socket.
    package var folder: String?
    /// Bytes that are free there; `nil` where that is not known, and on the socket.
    package var freeBytes: Int64?

    enum CodingKeys: String, CodingKey {
        case version, api, worker, folder
        case freeBytes = "free_bytes"
    }

    /// Makes a report.
    package init(version: String, api: String = HealthReport.api, worker: Int32) {
        (self.version, self.api, self.worker) = (version, api, worker)
    }
}

/// The answer of `GET /v2/tags`: the number of tasks that have each tag.
struct TagCounts: Codable {
    var tags: [String: Int]
}

/// The body of `POST /v2/commands`.
struct CommandBatch: Codable {
    var commands: [QueueCommand]
}

/// The answer to a batch of commands: for each, what it has done to each of its tasks.
struct BatchResults: Codable {
    var results: [[CommandResult]]
}

/// The answer of `POST /v2/openings`: the page's address with a token that is valid once.
struct Opening: Codable {
    var url: String
}

/// The body of an answer that tells of an error.
struct ErrorBody: Codable {
    var error: QueueError
}
