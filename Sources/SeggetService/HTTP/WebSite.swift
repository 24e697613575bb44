import FoundationEssentials
import NIOCore
import NIOHTTP1
import SeggetQueue
import Segmenter
import Synchronization

/// What is served over TCP: aria2's JSON-RPC at `/jsonrpc`, and the API below `/api`.
package final class WebSite: Sendable {
    let rpc: RPCService?
    /// Who may ask at all; `nil` where everybody may, as with aria2.
    let gate: Gate?
    /// Whether pages of any origin may read answers, where there is no gate.
    private let allowsAllOrigins: Bool
    private let secret: Secret?
    private let lockout = Mutex(Lockout())
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant

    /// Makes a site.
    ///
    /// - Parameters:
    ///   - rpc: Answers aria2's clients; `nil` for none of them.
    ///   - gate: Who may ask at all; `nil` where everybody may.
    ///   - secret: What clients of the API have to know; `nil` has no API.
    ///   - allowsAllOrigins: Whether pages of any origin may read answers, where there is no gate.
    package init(
        rpc: RPCService?, gate: Gate?, secret: String?, allowsAllOrigins: Bool = false
    ) {
        (self.rpc, self.gate, self.allowsAllOrigins) = (rpc, gate, allowsAllOrigins)
        self.secret = secret.map(Secret.init)
        start = clock.now
    }

    private var now: Double { (clock.now - start) / .seconds(1) }

    /// Notes that somebody did not show the secret.
    ///
    /// - Returns: Time until that is answered.
    func fail(_ address: String) -> Duration {
        .seconds(lockout.withLock { $0.fail(address, now: now) })
    }

    /// Notes that somebody showed the secret.
    func succeed(_ address: String) { lockout.withLock { $0.succeed(address) } }

    /// Whether a request for the API shows the secret (RFC 6750 §2.1).
    func isAuthorized(_ headers: HTTPHeaders) -> Bool {
        let fields = headers["authorization"]
        guard let secret, fields.count == 1 else { return false }
        let parts = fields[0].split(separator: " ", maxSplits: 1)
        return parts.count == 2 && parts[0].lowercased() == "bearer" && secret.is(parts[1])
    }

    /// The target of a request for the API, as the socket has it, or of what there is beside it; `nil` for any other.
    func apiTarget(_ target: String) -> String? {
        guard secret != nil else { return nil }
        if Self.path(of: target) == "/metrics" { return target }
        return target.hasPrefix("/api/") ? String(target.dropFirst(4)) : nil
    }

    private static func path(of target: String) -> Substring { target.prefix { $0 != "?" } }

    /// Answers what the socket does not have: the numbers of the queue, and the description of the API.
    ///
    /// - Parameter request: With the target as the socket has it.
    /// - Returns: The answer; `nil` for what the socket has.
    func answerBeside(_ request: APIRequest) async -> APIReply? {
        let path = Self.path(of: request.target)
        guard let rpc, ["/metrics", "/openapi.json"].contains(path) else { return nil }
        guard ["GET", "HEAD"].contains(request.method) else {
            return Refusal(
                "this path has no such method", status: 405, allowed: ["GET", "HEAD"]
            ).reply
        }
        guard path == "/metrics" else {
            return APIReply(Data(OpenAPI.text.utf8), type: "application/json")
        }
        do throws(QueueError) {
            let metrics = Metrics(
                try await rpc.queue.snapshot(), version: seggetVersion, uptime: now)
            return APIReply(metrics.text, type: Metrics.type)
        } catch {
            return APIReply(error)
        }
    }

    /// Whether a request is for JSON-RPC.
    func isForRPC(_ target: String) -> Bool {
        rpc != nil && Self.path(of: target) == "/jsonrpc"
    }

    /// Answers a call.
    ///
    /// - Parameters:
    ///   - method: `GET` or `POST`.
    ///   - target: Path and query.
    ///   - body: The body.
    /// - Returns: The answer, and whether the secret was shown, or was missing.
    func answer(
        _ method: String, _ target: String, _ body: Data
    ) async -> (reply: APIReply, isRefused: Bool, isAuthorized: Bool) {
        guard let rpc else { return (Self.nothing, false, false) }
        guard method == "GET" else {
            let answer = await rpc.answer(body)
            return (APIReply(rpc: answer), answer.isRefused, answer.isAuthorized)
        }
        let query = RPCQuery(target)
        let answer = await rpc.answer(query.text, isExposed: gate != nil)
        var reply = APIReply(rpc: answer)
        reply.body = query.wrapped(reply.body)
        if query.callback != nil {
            // A script that the browser does not run tells nobody anything.
            (reply.status, reply.type) = (200, "text/javascript")
        }
        return (reply, answer.isRefused, answer.isAuthorized)
    }

    /// Adds what browsers have to know: which page may read the answer, and that it is nothing to be run or shown.
    func addFields(to headers: inout HTTPHeaders, for head: HTTPRequestHead) {
        headers.add(name: "X-Content-Type-Options", value: "nosniff")
        let any = gate == nil && allowsAllOrigins ? "*" : nil
        guard let origin = gate?.origin(head.headers) ?? any else { return }
        headers.add(name: "Access-Control-Allow-Origin", value: origin)
        headers.add(name: "Vary", value: "Origin")
        guard head.method == .OPTIONS else { return }
        headers.add(name: "Access-Control-Allow-Methods", value: "GET, POST, PUT, OPTIONS")
        headers.add(name: "Access-Control-Max-Age", value: "1728000")
        if let asked = head.headers.first(name: "access-control-request-headers") {
            headers.add(name: "Access-Control-Allow-Headers", value: asked)
        }
    }

    /// There is nothing here, and no more is said.
    static let nothing = Refusal("there is nothing at this path", status: 404).reply
    /// The secret is missing.
    static let unauthorized = Refusal("the request does not show the secret", status: 401).reply
}

extension APIReply {
    /// An answer of JSON-RPC.
    init(rpc answer: RPCAnswer) {
        (status, body, type) = (answer.status, answer.body, "application/json-rpc")
    }
}
