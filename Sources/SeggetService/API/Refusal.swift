import SeggetQueue

/// Why a request is not answered with what it asks for.
struct Refusal: Error, Hashable {
    /// The fault, in words that quote nothing of the request.
    var message: String
    /// The status code of HTTP.
    var status: Int
    /// The methods that the path has, where the request had another one.
    var allowed: [String] = []

    init(_ message: String, status: Int, allowed: [String] = []) {
        (self.message, self.status, self.allowed) = (message, status, allowed)
    }

    /// The request to send instead.
    private var hint: String {
        switch status {
        case 400, 404, 405: "`GET /api/openapi.json` describes the paths and their queries"
        case 401: "send the secret as `Authorization: Bearer SECRET`"
        default: "nothing was done"
        }
    }

    /// The answer with the fault.
    var reply: APIReply {
        APIReply(
            QueueError(.invalid, message, hint: hint), status: status, allowed: allowed)
    }
}
