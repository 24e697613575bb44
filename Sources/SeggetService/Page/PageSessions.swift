import Assembler
import Crypto
import FoundationEssentials
import Synchronization

/// Creates and checks the sessions of the web page.
///
/// A session is a cookie and a token, and a request needs both. Browsers send a cookie to every
/// port of a host, so that another server on the host may receive it. The cookie therefore contains
/// only a random number and the expiry time. The token is the HMAC (RFC 2104) of the cookie with
/// the secret as key. No state is stored: sessions survive a restart, and end when the secret
/// changes.
struct PageSessions: Sendable {
    /// The lifetime of a session, in seconds.
    static let length = 7 * 86_400.0

    private let key: SymmetricKey

    /// Creates the sessions of a secret.
    init(secret: String) { key = SymmetricKey(data: Data("segget session \(secret)".utf8)) }

    /// A session.
    struct Session {
        var cookie: String
        var token: String
        /// The expiry time, in seconds since 1970.
        var expires: Double
    }

    /// Starts a session.
    ///
    /// - Parameter now: The time, in seconds since 1970.
    /// - Returns: The session.
    func begin(now: Double) -> Session {
        let expires = (now + Self.length).rounded(.down)
        let cookie = "\(OpeningTokens.random()).\(Int64(expires))"
        return Session(cookie: cookie, token: token(of: cookie), expires: expires)
    }

    /// Returns whether a token belongs to a cookie, and the session has not expired.
    func isValid(cookie: String, token: String, now: Double) -> Bool {
        let end = cookie.split(separator: ".").last.flatMap { Double($0) } ?? 0
        guard end > now, end <= now + Self.length, let code = Data(digits: token) else {
            return false
        }
        // The comparison takes constant time.
        return HMAC<SHA256>.isValidAuthenticationCode(
            code, authenticating: Data(cookie.utf8), using: key)
    }

    private func token(of cookie: String) -> String {
        HMAC<SHA256>.authenticationCode(for: Data(cookie.utf8), using: key)
            .map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }

    /// Returns the name of the cookie for a port, because all ports of a host share their cookies.
    static func cookieName(port: Int) -> String { "segget-\(port)" }
}

extension Data {
    /// Creates the 32 bytes of 64 hexadecimal digits; returns `nil` for any other text.
    fileprivate init?(digits: String) {
        let digits = Array(digits.utf8)
        guard digits.count == 64 else { return nil }
        self.init()
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard
                let byte = UInt8(
                    String(decoding: digits[index...(index + 1)], as: UTF8.self), radix: 16)
            else { return nil }
            append(byte)
        }
    }
}

/// The tokens of `segget open`, each of which is valid once, for a minute.
package final class OpeningTokens: Sendable {
    /// The lifetime of a token, in seconds.
    static let length = 60.0
    /// The most tokens that are valid at a time.
    static let most = 64

    private let state = Mutex<(address: String?, ends: [String: Double])>((nil, [:]))
    private let now: @Sendable () -> Double

    /// Creates an empty set of tokens.
    package convenience init() { self.init { monotonicSeconds() } }

    /// Creates an empty set of tokens with a clock.
    ///
    /// - Parameter now: Returns the time, in seconds on any clock that never goes back.
    init(now: @escaping @Sendable () -> Double) { self.now = now }

    /// The address of the page; `nil` if there is none.
    package var address: String? {
        get { state.withLock { $0.address } }
        set { state.withLock { $0.address = newValue } }
    }

    /// Creates a token.
    ///
    /// - Returns: The page's address with the token; `nil` if there is no page.
    func open() -> String? {
        let (token, now) = (Self.random(), now())
        return state.withLock { state in
            guard let address = state.address else { return nil }
            state.ends = state.ends.filter { $0.value > now }
            if state.ends.count >= Self.most { state.ends = [:] }
            state.ends[token] = now + Self.length
            return "\(address)#token=\(token)"
        }
    }

    /// Returns whether a token is valid, and invalidates it.
    func take(_ token: String) -> Bool {
        let now = now()
        // The lookup need not take constant time: a token has 128 random bits.
        return state.withLock { $0.ends.removeValue(forKey: token).map { $0 > now } ?? false }
    }

    /// Returns 128 random bits, as 32 hexadecimal digits.
    static func random() -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<2).map { _ in
            let digits = String(UInt64.random(in: 0...UInt64.max, using: &random), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
