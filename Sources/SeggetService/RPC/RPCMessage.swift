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

/// Why a call has no result.
struct RPCError: Error, Sendable, Hashable {
    /// The code of JSON-RPC, or 1 for all that a method has to say.
    var code: Int
    /// The same in words, as aria2 says it where it says the same.
    var message: String

    /// What a method has to say.
    init(_ message: String) { (code, self.message) = (1, message) }

    private init(code: Int, _ message: String) { (self.code, self.message) = (code, message) }

    /// The text is no JSON, or neither an object nor an array.
    static let parse = RPCError(code: -32700, "Parse error.")
    /// The object is no call.
    static let invalidRequest = RPCError(code: -32600, "Invalid Request.")
    /// The parameters have names.
    static let invalidParameters = RPCError(code: -32602, "Invalid params.")
    /// The token is missing, or is not the secret: clients look for exactly these words.
    static let unauthorized = RPCError("Unauthorized")

    /// The status code of HTTP, as aria2 has it.
    var status: Int { [-32700, -32602].contains(code) ? 500 : 400 }

    /// The object of JSON-RPC.
    var value: JSONValue {
        ["code": JSONValue(integerLiteral: code), "message": .string(message)]
    }
}

/// A call as it came, or why it is none; with the identifier by which its answer is known.
struct RPCRequest: Sendable, Hashable {
    /// The identifier, which the answer has, too.
    var id: JSONValue
    /// The call.
    var call: Result<RPCCall, RPCError>

    /// What stands for a text that is none.
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

/// All that came at once.
enum RPCBody: Sendable, Hashable {
    /// One request.
    case one(RPCRequest)
    /// A batch; what is no object in it is passed over, as aria2 does.
    case batch([RPCRequest])
    /// Nothing that could be answered.
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

/// What is answered.
package struct RPCAnswer: Sendable {
    /// The status code of HTTP.
    package var status: Int
    /// The text, JSON.
    package var body: Data
    /// Whether a call was refused for its token.
    package var isRefused = false
    /// Whether a call came with the right token.
    package var isAuthorized = false
}

extension RPCRequest {
    /// The object that answers it.
    func answer(_ result: Result<JSONValue, RPCError>) -> JSONValue {
        switch result {
        case .success(let value): ["id": id, "jsonrpc": "2.0", "result": value]
        case .failure(let error): ["id": id, "jsonrpc": "2.0", "error": error.value]
        }
    }
}
