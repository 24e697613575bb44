// API: what requests ask for, and what is answered, in JSON. It knows the queue's door; it never knows a socket.

import SeggetReports

/// One method of one path of the API: how a request is answered, and how that is documented.
///
/// Each has a file in `Endpoints`, and is listed in ``Router``. ``OpenAPI`` is made from them.
struct Endpoint: Sendable {
    /// Returns the answer to a request, or throws a ``Refusal`` or a `QueueError`.
    typealias Answer = @Sendable (APICall, QueueAPI) async throws -> APIReply

    /// The methods of HTTP that the API uses; `HEAD` is `GET` without the body.
    enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
    }

    /// How a request is answered.
    enum Handler: Sendable {
        /// With one answer.
        case answer(Answer)
        /// With the events of the tasks that the query selects, until the connection ends.
        case events
    }

    /// A request's body, in JSON.
    struct Body: Sendable {
        var schema: Schema
        /// Examples by name.
        var examples: [String: JSONValue] = [:]
    }

    /// A successful answer.
    struct Reply: Sendable {
        var description: String
        var type = "application/json"
        var schema = Schema.text
    }

    var method = Method.get
    /// The path below the version; a name in braces matches any one segment: `/tasks/{id}`.
    var path: String
    /// Where it exists.
    var listeners: Set<Listener> = [.socket, .tcp]
    /// The operation's name in generated clients, unique among the endpoints.
    var name: String
    var summary: String
    /// All parameters; a query with any other is refused.
    var parameters: [Parameter] = []
    var body: Body?
    var reply: Reply
    /// The errors beside those of every endpoint: see ``errors``.
    var ownErrors: [ErrorReply] = []
    var handler: Handler

    /// All errors that may be the answer over TCP.
    var errors: [ErrorReply] {
        ErrorReply.ofAll + ownErrors + (body == nil ? [] : [.bodyTooLong])
    }

    /// Matches a path with this endpoint's.
    ///
    /// - Parameter segments: The path's segments below the version, decoded.
    /// - Returns: The segment of the name in braces, empty if there is none; `nil` for another path.
    func match(_ segments: ArraySlice<String>) -> String? {
        let parts = path.split(separator: "/")
        guard parts.count == segments.count else { return nil }
        var variable = ""
        for (part, segment) in zip(parts, segments) {
            if part.hasPrefix("{"), !segment.isEmpty {
                variable = segment
            } else if part != segment {
                return nil
            }
        }
        return variable
    }
}

/// Where a request arrives.
enum Listener: Sendable {
    /// The queue's own socket, for this user's processes.
    case socket
    /// A port, for clients that know the secret.
    case tcp
}

/// A parameter of an endpoint.
struct Parameter: Sendable {
    /// Where a request has it.
    enum Place: String, Sendable { case path, query, header }

    var name: String
    var place = Place.query
    var description: String
    var schema: Schema
    /// Examples by name.
    var examples: [String: JSONValue] = [:]
}

/// An error that an endpoint may answer with; the raw value is its name in ``OpenAPI``.
enum ErrorReply: String, Sendable, CaseIterable {
    case invalid = "Invalid"
    case unauthorized = "Unauthorized"
    case forbidden = "Forbidden"
    case noTask = "NoTask"
    case wrongMethod = "WrongMethod"
    case hasWorker = "HasWorker"
    case bodyTooLong = "BodyTooLong"
    case headTooLong = "HeadTooLong"
    case queueUnusable = "QueueUnusable"
    case shuttingDown = "ShuttingDown"
    case busy = "Busy"
    case diskFull = "DiskFull"

    /// The errors of every endpoint.
    static let ofAll: [ErrorReply] = [
        .invalid, .unauthorized, .forbidden, .wrongMethod, .headTooLong,
    ]
    /// The errors of endpoints that read the queue.
    static let ofQueue: [ErrorReply] = [.queueUnusable, .shuttingDown, .busy]

    /// The status code of HTTP.
    var status: Int {
        switch self {
        case .invalid: 400
        case .unauthorized: 401
        case .forbidden: 403
        case .noTask: 404
        case .wrongMethod: 405
        case .hasWorker: 409
        case .bodyTooLong: 413
        case .headTooLong: 431
        case .queueUnusable: 500
        case .shuttingDown: 502
        case .busy: 503
        case .diskFull: 507
        }
    }

    /// When it is the answer.
    var description: String {
        switch self {
        case .invalid: "The request, or a value in it, is invalid"
        case .unauthorized: "The request has no valid secret"
        case .forbidden:
            "A page of another site sent the request, or clients over TCP may not do this"
        case .noTask: "No task has this id, several have it, or the path does not exist"
        case .wrongMethod: "`Allow` lists the methods of the path"
        case .hasWorker: "Another process runs the queue"
        case .bodyTooLong: "The body is too long"
        case .headTooLong: "The header section is too long"
        case .queueUnusable: "The queue's file cannot be used"
        case .shuttingDown: "The worker is shutting down"
        case .busy: "Another process has locked the queue and did not release it in time"
        case .diskFull: "The disk is full"
        }
    }
}
