import Assembler
import FoundationEssentials
import SeggetQueue

/// A request to the API.
struct APIRequest: Sendable {
    /// The HTTP method: `GET`, `POST` and others.
    var method: String
    /// The path and the query, as sent.
    var target: String
    /// The body; empty if the request has none.
    var body = Data()
}

/// The response to a request.
struct APIReply: Sendable {
    /// The HTTP status code.
    var status: Int
    /// The body of the response.
    var body: Data
    /// The media type of the body.
    var type = "application/json"
    /// The methods that the path supports; set if the request used another one.
    var allowed: [String] = []
    /// Additional header fields.
    var fields: [(name: String, value: String)] = []

    /// Creates a response with a value as JSON, and status 200.
    ///
    /// - Throws: `QueueError`, if the value cannot be encoded as JSON.
    init(_ value: some Encodable) throws(QueueError) {
        (status, body) = (200, try JSON.write(value))
    }

    /// Encodes a response that may be long, on a separate thread.
    ///
    /// The thread is not one of the pool that the queue uses.
    ///
    /// - Throws: `QueueError`, if the value cannot be encoded as JSON.
    static func long(_ value: some Encodable & Sendable) async throws(QueueError) -> APIReply {
        try await offLoop("answer") { () throws(QueueError) in try APIReply(value) }
    }

    /// Creates a response that reports an error; without `status`, the error's code determines it.
    init(_ error: QueueError, status: Int? = nil, allowed: [String] = []) {
        self.status = status ?? Self.status(of: error.code)
        self.allowed = allowed
        // An error that has only texts can always be encoded.
        body = (try? JSON.write(ErrorBody(error: error))) ?? Data()
    }

    /// Creates a response of a media type other than JSON.
    init(_ text: Data, type: String) { (status, body, self.type) = (200, text, type) }

    /// A response with status 200 and an empty body.
    static let empty = APIReply()

    /// Creates a response without a body.
    init(status: Int) { (self.status, body) = (status, Data()) }

    /// The same answer with the names of a version of the API.
    func encoded(for version: APIVersion) -> APIReply {
        var reply = self
        reply.body = version.body(body)
        return reply
    }

    private init() { (status, body) = (200, Data()) }

    private static func status(of code: QueueError.Code) -> Int {
        switch code {
        case .invalid: 400
        case .noTask: 404
        case .hasWorker: 409
        case .damaged, .laterVersion, .noQueue, .unavailable: 500
        case .worker: 502
        case .busy: 503
        case .diskFull: 507
        }
    }
}

/// The body of an answer that reports an error.
struct ErrorBody: Codable {
    var error: QueueError
}

extension Schema {
    /// The body of every error.
    static let error = Schema.object([
        "error": .object(
            [
                "code": .words([
                    "invalid", "no_task", "has_worker", "damaged", "later_version", "no_queue",
                    "unavailable", "worker", "busy", "disk_full",
                ]),
                "message": .text(from: 1), "hint": .text,
            ], optional: ["member": .text])
    ]).named("Error")
}
