import Crypto
import Foundation

/// The server's side of Digest authentication (RFC 7616), which computes the expected response.
public final class DigestGate: Sendable {
    /// A hash algorithm of the challenge.
    public enum Algorithm: String, Sendable, CaseIterable {
        case md5 = "MD5"
        case sha256 = "SHA-256"
    }

    /// The result of checking a request.
    public enum Verdict: Sendable, Hashable {
        /// The response is correct.
        case right
        /// The response is correct for an expired nonce.
        case stale
        /// The response is wrong.
        case wrong
        /// There is no response, or one of another scheme.
        case nothing
    }

    private let user: String
    private let password: String
    private let algorithm: Algorithm
    private let isProxy: Bool
    private let nonce = Guarded(1)
    private let realm = "a \"quoted\" realm"

    /// Accepts one user; with `isProxy`, it sends 407 instead of 401.
    public init(
        user: String, password: String, algorithm: Algorithm = .md5, isProxy: Bool = false
    ) {
        self.user = user
        self.password = password
        self.algorithm = algorithm
        self.isProxy = isProxy
    }

    /// Makes all earlier nonces stale.
    public func renew() { nonce.withLock { $0 += 1 } }

    /// Checks a request.
    public func verdict(on request: OriginRequest) -> Verdict {
        let field = request.header(isProxy ? "Proxy-Authorization" : "Authorization") ?? ""
        guard field.hasPrefix("Digest ") else { return .nothing }
        let given = Self.parameters(field.dropFirst(7))
        func value(_ name: String) -> String { given[name] ?? "" }
        guard value("username") == user, value("algorithm") == algorithm.rawValue,
            isProxy || value("uri") == request.target, value("qop") == "auth",
            !value("cnonce").isEmpty
        else { return .wrong }
        // The hash uses the realm without the backslashes of its quoted pairs.
        let first = hash("\(user):\(value("realm").replacing("\\\"", with: "\"")):\(password)")
        let second = hash("\(request.method):\(value("uri"))")
        let expected = hash(
            [first, value("nonce"), value("nc"), value("cnonce"), "auth", second]
                .joined(separator: ":"))
        guard value("response") == expected else { return .wrong }
        return value("nonce") == "nonce\(nonce.withLock { $0 })" ? .right : .stale
    }

    /// Returns the reply with a challenge.
    public func challenge(isStale: Bool = false, alsoBasic: Bool = false) -> OriginReply {
        let name = isProxy ? "Proxy-Authenticate" : "WWW-Authenticate"
        let nonce = nonce.withLock { $0 }
        var reply = OriginReply.text(isProxy ? 407 : 401, "who are you?")
        if alsoBasic { reply.headers.append(HeaderField(name, "Basic realm=\"x\"")) }
        reply.headers.append(
            HeaderField(
                name,
                "Digest realm=\"\(realm.replacing("\"", with: "\\\""))\", qop=\"auth\", "
                    + "algorithm=\(algorithm.rawValue), nonce=\"nonce\(nonce)\""
                    + (isStale ? ", stale=true" : "")))
        return reply
    }

    private func hash(_ text: String) -> String {
        let data = Data(text.utf8)
        return switch algorithm {
        case .md5: Self.hex(Insecure.MD5.hash(data: data))
        case .sha256: Self.hex(SHA256.hash(data: data))
        }
    }

    private static func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// Parses `name=value, name="value"`.
    private static func parameters(_ text: Substring) -> [String: String] {
        var found: [String: String] = [:]
        var rest = text
        while let equals = rest.firstIndex(of: "=") {
            let name = rest[..<equals].filter { $0 != "," && $0 != " " }
            rest = rest[rest.index(after: equals)...]
            var value = ""
            if rest.first == "\"" {
                rest = rest.dropFirst()
                while let character = rest.popFirst(), character != "\"" {
                    value.append(character)
                    if character == "\\", let next = rest.popFirst() { value.append(next) }
                }
            } else {
                value = String(rest.prefix { $0 != "," })
                rest = rest.dropFirst(value.count)
            }
            found[String(name).lowercased()] = value
        }
        return found
    }
}
