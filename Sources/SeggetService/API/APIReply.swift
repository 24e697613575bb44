import Assembler
import FoundationEssentials
import SeggetQueue

/// A request, as the API sees it.
struct APIRequest: Sendable {
    /// `GET`, `POST` and so on.
    var method: String
    /// Path and query, as sent.
    var target: String
    /// The body; empty when there is none.
    var body = Data()
}

/// What a request is answered with.
struct APIReply: Sendable {
    /// The status code of HTTP.
    var status: Int
    /// The body.
    var body: Data
    /// What it is.
    var type = "application/json"
    /// The methods that the path has, where the request had another one.
    var allowed: [String] = []
    /// Further fields.
    var fields: [(name: String, value: String)] = []

    /// An answer that is not an error.
    ///
    /// - Throws: `QueueError`, when the value has no form in JSON.
    init(_ value: some Encodable) throws(QueueError) {
        (status, body) = (200, try JSON.write(value))
    }

    /// Makes an answer that may be long, on a thread of its own, so that it takes none of those that
    /// the queue needs.
    ///
    /// - Throws: `QueueError`, when the value has no form in JSON.
    static func long(_ value: some Encodable & Sendable) async throws(QueueError) -> APIReply {
        try await offLoop("answer") { () throws(QueueError) in try APIReply(value) }
    }

    /// An answer that tells of an error, whose status is that of its code unless another one is given.
    init(_ error: QueueError, status: Int? = nil, allowed: [String] = []) {
        self.status = status ?? Self.status(of: error.code)
        self.allowed = allowed
        // Three texts always have a form in JSON.
        body = (try? JSON.write(ErrorBody(error: error))) ?? Data()
    }

    /// A text of another type.
    init(_ text: Data, type: String) { (status, body, self.type) = (200, text, type) }

    /// An answer that says nothing.
    static let empty = APIReply()

    /// An answer without a body.
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

/// The body of an answer that tells of an error.
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
