import Foundation
import NIOCore
import NIOHTTP1
import SeggetQueue
import Segmenter
import Synchronization

/// What is served over TCP: aria2's JSON-RPC at `/jsonrpc`, the API below `/api`, and a page for browsers.
package final class WebSite: Sendable {
    let rpc: RPCService
    private let hasRPC: Bool
    private let page: Page?
    /// What lets into the page, beside the secret.
    private let openings: OpeningTokens?
    private let sessions: PageSessions?
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
    ///   - rpc: Answers aria2's clients.
    ///   - hasRPC: Whether it answers them.
    ///   - page: What browsers are shown; `nil` for nothing.
    ///   - openings: What lets into the page, beside the secret.
    ///   - gate: Who may ask at all; `nil` where everybody may.
    ///   - secret: What clients of the API have to know; `nil` has no API.
    ///   - allowsAllOrigins: Whether pages of any origin may read answers, where there is no gate.
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

    /// Notes that somebody did not show the secret.
    ///
    /// - Returns: Time until that is answered.
    func fail(_ address: String) -> Duration {
        .seconds(lockout.withLock { $0.fail(address, now: now) })
    }

    /// Notes that somebody showed the secret.
    func succeed(_ address: String) { lockout.withLock { $0.succeed(address) } }

    /// Why a request is refused by its head; `nil` where it is let in.
    func refusal(_ head: HTTPRequestHead) -> Refusal? {
        let isPage = page != nil && head.method == .GET && Self.path(of: head.uri) == "/"
        return gate?.refusal(head.headers, isPage: isPage)
    }

    /// What lets a request use the API.
    enum Credential { case secret, session }

    /// Whether a request for the API shows the secret (RFC 6750 §2.1), or the token and the cookie of a session.
    ///
    /// - Returns: Which of them; `nil` for neither.
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

    /// The value of a cookie (RFC 6265 §5.4).
    private static func cookie(_ headers: HTTPHeaders, _ name: String) -> String? {
        let pairs = headers["cookie"].flatMap { $0.split(separator: ";") }
        return pairs.lazy.map { $0.drop { $0 == " " } }.first { $0.hasPrefix("\(name)=") }
            .map { String($0.dropFirst(name.utf8.count + 1)) }
    }

    /// The target of a request for the API, as the socket has it, or of what there is beside it; `nil` for any other.
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

    // MARK: The page

    /// Answers a browser that asks for the page, or to be let in.
    ///
    /// - Parameters:
    ///   - head: The head of its request.
    ///   - body: The body.
    ///   - port: The port that it is connected to.
    /// - Returns: The answer; 401 where it may not be let in.
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

    /// What a browser shows to be let in.
    private struct Login: Decodable {
        var secret: String?
        var token: String?
    }

    /// What a browser is told that is let in.
    private struct Entry: Encodable {
        var token: String
        var expires: Double
    }

    /// Lets a browser in, or out.
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
    static let nothing = Refusal("nothing exists at this path", status: 404).reply
    /// The secret is missing.
    static let unauthorized = Refusal("the request has no valid secret", status: 401).reply
}

extension APIReply {
    /// An answer of JSON-RPC.
    init(rpc answer: RPCAnswer) {
        (status, body, type) = (answer.status, answer.body, "application/json-rpc")
    }
}
