import Foundation
import NIOCore
import NIOHTTP1
import SeggetQueue
import Segmenter
import Synchronization

/// The endpoints over TCP: aria2's JSON-RPC at `/jsonrpc`, the API below `/api`, and a web page.
package final class WebSite: Sendable {
    let rpc: RPCService
    private let hasRPC: Bool
    private let page: Page?
    /// The tokens that allow a browser to log in without the secret.
    private let openings: OpeningTokens?
    private let sessions: PageSessions?
    /// Decides which requests are allowed; `nil` allows all, like aria2.
    let gate: Gate?
    /// Whether pages of any origin may read responses, without a gate.
    private let allowsAllOrigins: Bool
    private let secret: Secret?
    private let lockout = Mutex(Lockout())
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant

    /// Creates a site.
    ///
    /// - Parameters:
    ///   - rpc: Answers aria2's clients.
    ///   - hasRPC: Whether to serve `/jsonrpc`.
    ///   - page: The page for browsers; `nil` for none.
    ///   - openings: The tokens that allow a browser to log in without the secret.
    ///   - gate: Decides which requests are allowed; `nil` allows all.
    ///   - secret: The secret that clients of the API have to send; `nil` serves no API.
    ///   - allowsAllOrigins: Whether pages of any origin may read responses, without a gate.
    package init(
        rpc: RPCService, hasRPC: Bool = true, page: Page? = nil, openings: OpeningTokens? = nil,
        gate: Gate?, secret: String?, allowsAllOrigins: Bool = false
    ) {
        (self.rpc, self.hasRPC, self.page, self.openings) = (rpc, hasRPC, page, openings)
        sessions = page == nil ? nil : secret.map(PageSessions.init)
        (self.gate, self.allowsAllOrigins) = (gate, allowsAllOrigins)
        self.secret = secret.map(Secret.init)
        start = clock.now
    }

    private var now: Double { (clock.now - start) / .seconds(1) }

    /// Records that a client has sent no valid secret.
    ///
    /// - Returns: The delay of the response.
    func fail(_ address: String) -> Duration {
        .seconds(lockout.withLock { $0.fail(address, now: now) })
    }

    /// Records that a client has sent the secret.
    func succeed(_ address: String) { lockout.withLock { $0.succeed(address) } }

    /// Returns the reason to refuse a request by its head; `nil` if it is allowed.
    func refusal(_ head: HTTPRequestHead) -> Refusal? {
        let isPage = page != nil && head.method == .GET && Self.path(of: head.uri) == "/"
        return gate?.refusal(head.headers, isPage: isPage)
    }

    /// The credential that allows a request to use the API.
    enum Credential { case secret, session }

    /// Checks a request for the secret (RFC 6750 §2.1), or for the token and the cookie of a
    /// session.
    ///
    /// - Returns: The credential; `nil` if neither is valid.
    func credential(_ headers: HTTPHeaders, port: Int) -> Credential? {
        let fields = headers["authorization"]
        guard let secret, fields.count == 1 else { return nil }
        let parts = fields[0].split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        if secret.is(parts[1]) { return .secret }
        guard let sessions, let cookie = Self.cookie(headers, PageSessions.cookieName(port: port))
        else { return nil }
        let isValid = sessions.isValid(
            cookie: cookie, token: String(parts[1]), now: Date().timeIntervalSince1970)
        return isValid ? .session : nil
    }

    /// Returns the value of a cookie (RFC 6265 §5.4).
    private static func cookie(_ headers: HTTPHeaders, _ name: String) -> String? {
        let pairs = headers["cookie"].flatMap { $0.split(separator: ";") }
        return pairs.lazy.map { $0.drop { $0 == " " } }.first { $0.hasPrefix("\(name)=") }
            .map { String($0.dropFirst(name.utf8.count + 1)) }
    }

    /// Returns the target of a request for the API as on the socket, or `/metrics`; `nil` for
    /// others.
    func apiTarget(_ target: String) -> String? {
        guard secret != nil else { return nil }
        if Self.path(of: target) == "/metrics" { return target }
        return target.hasPrefix("/api/") ? String(target.dropFirst(4)) : nil
    }

    private static func path(of target: String) -> Substring { target.prefix { $0 != "?" } }

    /// Whether a request is for JSON-RPC.
    func isForRPC(_ target: String) -> Bool {
        hasRPC && Self.path(of: target) == "/jsonrpc"
    }

    /// Answers a call of JSON-RPC.
    ///
    /// - Parameters:
    ///   - method: `GET` or `POST`.
    ///   - target: The path and the query.
    ///   - body: The body.
    /// - Returns: The response, and whether a call lacked the secret, or had it.
    func answer(
        _ method: String, _ target: String, _ body: Data
    ) async -> (reply: APIReply, isRefused: Bool, isAuthorized: Bool) {
        guard method == "GET" else {
            let answer = await rpc.answer(body)
            return (APIReply(rpc: answer), answer.isRefused, answer.isAuthorized)
        }
        let query = RPCQuery(target)
        let answer = await rpc.answer(query.text, isExposed: gate != nil)
        var reply = APIReply(rpc: answer)
        reply.body = query.wrapped(reply.body)
        if query.callback != nil {
            // A browser does not run a script of another status, so that its page would get no
            // response.
            (reply.status, reply.type) = (200, "text/javascript")
        }
        return (reply, answer.isRefused, answer.isAuthorized)
    }

    // MARK: The page

    /// Answers a browser's request for a file of the page, or for a session.
    ///
    /// - Parameters:
    ///   - head: The head of the request.
    ///   - body: The body.
    ///   - port: The local port of the connection.
    /// - Returns: The response; 401 if the browser may not log in.
    func answerPage(_ head: HTTPRequestHead, _ body: Data, port: Int) async -> APIReply {
        let path = Self.path(of: head.uri)
        if path == "/session", sessions != nil { return answerSession(head.method, body, port) }
        guard let page, head.method == .GET || head.method == .HEAD,
            let name = String(path).removingPercentEncoding, let file = page.file(at: name)
        else { return Self.nothing }
        let isKnown = head.headers[canonicalForm: "if-none-match"].contains {
            $0 == file.tag || $0 == "*"
        }
        var reply = isKnown ? APIReply(status: 304) : APIReply(file.bytes, type: file.type)
        reply.fields = [
            ("ETag", file.tag), ("Cache-Control", "no-cache"),
            ("Content-Security-Policy", page.policy), ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
        ]
        return reply
    }

    /// The body of a login.
    private struct Login: Decodable {
        var secret: String?
        var token: String?
    }

    /// The response to a successful login.
    private struct Entry: Encodable {
        var token: String
        var expires: Double
    }

    /// Logs a browser in or out.
    private func answerSession(_ method: HTTPMethod, _ body: Data, _ port: Int) -> APIReply {
        let name = PageSessions.cookieName(port: port)
        let attributes = "; Path=/; HttpOnly; SameSite=Strict"
        switch method {
        case .POST: break
        case .DELETE:
            var reply = APIReply(status: 204)
            reply.fields = [("Set-Cookie", "\(name)=; Max-Age=0\(attributes)")]
            return reply
        default:
            return Refusal(
                "this path does not support the method", status: 405, allowed: ["DELETE", "POST"]
            ).reply
        }
        guard let sessions, let login = try? JSON.read(Login.self, from: body) else {
            return Refusal("the body is not a login", status: 400).reply
        }
        let knowsSecret = login.secret.map { secret?.is($0) == true } ?? false
        let hasToken = login.token.map { openings?.take($0) == true }
        guard knowsSecret || hasToken == true else { return Self.unauthorized }
        let session = sessions.begin(now: Date().timeIntervalSince1970)
        do throws(QueueError) {
            var reply = try APIReply(Entry(token: session.token, expires: session.expires))
            let value =
                "\(name)=\(session.cookie); Max-Age=\(Int(PageSessions.length))\(attributes)"
            reply.fields = [("Set-Cookie", value)]
            return reply
        } catch {
            return APIReply(error)
        }
    }

    /// Adds header fields for browsers: which origin may read the response, and `nosniff`.
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

    /// The response to an unknown path, which reveals nothing else.
    static let nothing = Refusal("nothing exists at this path", status: 404).reply
    /// The response to a request without a valid secret.
    static let unauthorized = Refusal("the request has no valid secret", status: 401).reply
}

extension APIReply {
    /// Creates a response of JSON-RPC.
    init(rpc answer: RPCAnswer) {
        (status, body, type) = (answer.status, answer.body, "application/json-rpc")
    }
}
