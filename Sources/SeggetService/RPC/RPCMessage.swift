package import FoundationEssentials
import SeggetReports

/// A call of a method.
struct RPCCall: Sendable, Hashable {
    /// The method, such as `aria2.addUri`.
    var method: String
    /// Its parameters, by position.
    var parameters: [JSONValue]

    init(_ method: String, _ parameters: [JSONValue] = []) {
        (self.method, self.parameters) = (method, parameters)
    }
}

/// The error of a call.
struct RPCError: Error, Sendable, Hashable {
    /// The code of JSON-RPC, or 1 for errors of a method.
    var code: Int
    /// The message, with aria2's text for the same error.
    var message: String

    /// Creates an error of a method.
    init(_ message: String) { (code, self.message) = (1, message) }

    private init(code: Int, _ message: String) { (self.code, self.message) = (code, message) }

    /// The text is not JSON, or is neither an object nor an array.
    static let parse = RPCError(code: -32700, "Parse error.")
    /// The object is not a call.
    static let invalidRequest = RPCError(code: -32600, "Invalid Request.")
    /// The parameters have names.
    static let invalidParameters = RPCError(code: -32602, "Invalid params.")
    /// The token is missing or wrong; clients compare this exact text.
    static let unauthorized = RPCError("Unauthorized")

    /// The HTTP status code that aria2 uses for the error.
    var status: Int { [-32700, -32602].contains(code) ? 500 : 400 }

    /// The JSON-RPC object.
    var value: JSONValue {
        ["code": JSONValue(integerLiteral: code), "message": .string(message)]
    }
}

/// A received request: its id, and the call or the error that it contains.
struct RPCRequest: Sendable, Hashable {
    /// The id, which the response repeats.
    var id: JSONValue
    /// The call, or the reason why it is none.
    var call: Result<RPCCall, RPCError>

    /// The result for a text that is not a request.
    static let broken = RPCRequest(id: .null, call: .failure(.parse))

    private init(id: JSONValue, call: Result<RPCCall, RPCError>) {
        (self.id, self.call) = (id, call)
    }

    /// Reads a request.
    init(_ value: JSONValue) {
        guard let members = value.object else {
            (id, call) = (.null, .failure(.invalidRequest))
            return
        }
        guard let id = members["id"] else {
            (id, call) = (.null, .failure(.invalidRequest))
            return
        }
        self.id = id
        guard let method = members["method"]?.string else {
            call = .failure(.invalidRequest)
            return
        }
        switch members["params"] {
        case nil: call = .success(RPCCall(method))
        case .array(let parameters)?: call = .success(RPCCall(method, parameters))
        default: call = .failure(.invalidParameters)
        }
    }
}

/// The content of a body or message.
enum RPCBody: Sendable, Hashable {
    /// One request.
    case one(RPCRequest)
    /// A batch; elements that are not objects are ignored, as in aria2.
    case batch([RPCRequest])
    /// A text that is neither.
    case broken

    /// Reads the body of a request, or a message of a WebSocket.
    init(_ text: Data) {
        switch JSONValue.read(text) {
        case .object(let members)?: self = .one(RPCRequest(.object(members)))
        case .array(let values)?:
            self = .batch(values.filter { $0.object != nil }.map(RPCRequest.init))
        default: self = .broken
        }
    }
}

/// The response to a body or message.
package struct RPCAnswer: Sendable {
    /// The HTTP status code.
    package var status: Int
    /// The text, in JSON.
    package var body: Data
    /// Whether a call was refused because of its token.
    package var isRefused = false
    /// Whether a call had the right token.
    package var isAuthorized = false
}

extension RPCRequest {
    /// Returns the object of the response.
    func answer(_ result: Result<JSONValue, RPCError>) -> JSONValue {
        switch result {
        case .success(let value): ["id": id, "jsonrpc": "2.0", "result": value]
        case .failure(let error): ["id": id, "jsonrpc": "2.0", "error": error.value]
        }
    }
}
