import Assembler
import Crypto
import FoundationEssentials
import Synchronization

/// Who has logged in at the page.
///
/// A session is a cookie and a token; both are needed. A browser sends cookies to every port of a host, so whoever
/// listens at another one may learn it: it says nothing but for how long, and which token belongs to it. The token is
/// the cookie's code by the secret (HMAC, RFC 2104), so that sessions outlast the service, and end with the secret.
struct PageSessions: Sendable {
    /// How long a session lasts, in seconds.
    static let length = 7 * 86_400.0

    private let key: SymmetricKey

    /// Takes what clients have to know.
    init(secret: String) { key = SymmetricKey(data: Data("segget session \(secret)".utf8)) }

    /// A session.
    struct Session {
        var cookie: String
        var token: String
        /// When it ends, in seconds since 1970.
        var expires: Double
    }

    /// Begins a session.
    ///
    /// - Parameter now: The time, in seconds since 1970.
    /// - Returns: The session.
    func begin(now: Double) -> Session {
        let expires = (now + Self.length).rounded(.down)
        let cookie = "\(OpeningTokens.random()).\(Int64(expires))"
        return Session(cookie: cookie, token: token(of: cookie), expires: expires)
    }

    /// Whether a cookie and a token belong together, and the session has not ended.
    func isValid(cookie: String, token: String, now: Double) -> Bool {
        let end = cookie.split(separator: ".").last.flatMap { Double($0) } ?? 0
        guard end > now, end <= now + Self.length, let code = Data(digits: token) else {
            return false
        }
        // The library compares in constant time.
        return HMAC<SHA256>.isValidAuthenticationCode(
            code, authenticating: Data(cookie.utf8), using: key)
    }

    private func token(of cookie: String) -> String {
        HMAC<SHA256>.authenticationCode(for: Data(cookie.utf8), using: key)
            .map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }

    /// The name of the cookie of a port: a host's ports have their cookies in common.
    static func cookieName(port: Int) -> String { "segget-\(port)" }
}

extension Data {
    /// The bytes of hexadecimal digits.
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

/// What `segget open` lets in: each token once, and for a minute.
package final class OpeningTokens: Sendable {
    /// How long a token is good, in seconds.
    static let length = 60.0
    /// The most that are good at a time.
    static let most = 64

    private let state = Mutex<(address: String?, ends: [String: Double])>((nil, [:]))
    private let now: @Sendable () -> Double

    /// Makes no token yet.
    package convenience init() { self.init { monotonicSeconds() } }

    /// - Parameter now: The time, in seconds on any clock that never goes back.
    init(now: @escaping @Sendable () -> Double) { self.now = now }

    /// Where the page is; `nil` where there is none.
    package var address: String? {
        get { state.withLock { $0.address } }
        set { state.withLock { $0.address = newValue } }
    }

    /// Makes a token.
    ///
    /// - Returns: The page's address with it; `nil` where there is no page.
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

    /// Whether a token is good; from then on it is not.
    func take(_ token: String) -> Bool {
        let now = now()
        // Whoever guesses learns nothing by the time that a dictionary takes: a token is 128 random bits.
        return state.withLock { $0.ends.removeValue(forKey: token).map { $0 > now } ?? false }
    }

    /// 128 random bits, as 32 hexadecimal digits.
    static func random() -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<2).map { _ in
            let digits = String(UInt64.random(in: 0...UInt64.max, using: &random), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
