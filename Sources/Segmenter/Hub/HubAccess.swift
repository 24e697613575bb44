import Assembler
import Glibc
import SegmenterTransport
public import SegmenterValues

/// The server of the Hugging Face Hub, and the token for it.
///
/// The token goes to the Hub and to the configured endpoint only, and over http only to this
/// machine.
public struct HubAccess: Sendable, Hashable {
    /// The origins of the Hub itself.
    static let own = ["https://huggingface.co", "https://hf.co"]

    /// The URL of the server, without a slash at its end.
    public let endpoint: String
    /// The token; `nil` for none.
    public let token: String?

    /// Takes the server and the token.
    ///
    /// - Parameters:
    ///   - endpoint: An http or https URL; `nil` for the Hub.
    ///   - token: The token. Line breaks and spaces around it are removed.
    /// - Throws: `invalidURL`; `access` if the token has a control character.
    public init(
        endpoint: String? = nil, token: String? = nil
    ) throws(DownloadError.Reason) {
        var text = endpoint ?? Self.own[0]
        while text.hasSuffix("/") { text.removeLast() }
        guard text.contains("://"), let url = WebURL(text), url.login == nil,
            url.redacted == url.text
        else { throw .invalidURL(WebURL(text)?.redacted ?? "") }
        self.endpoint = text
        let word = token.map { token in
            let isBlank = { (byte: UInt8) in " \t\r\n".utf8.contains(byte) }
            let bytes = token.utf8
            let start = bytes.firstIndex { !isBlank($0) } ?? bytes.endIndex
            let end = bytes.lastIndex { !isBlank($0) }.map { bytes.index(after: $0) } ?? start
            return String(token[start..<end])
        }
        if let word, !word.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) {
            throw .access(.malformed(.bearerToken))
        }
        self.token = word?.isEmpty ?? true ? nil : word
    }

    /// Looks up the token that a grant means.
    ///
    /// A variable or file that does not exist means none.
    ///
    /// - Parameter grant: The server, and where the token is.
    /// - Throws: `invalidURL`; `access` if the token has a control character.
    public init(_ grant: HubGrant) throws(DownloadError.Reason) {
        var token = grant.variable.flatMap { getenv($0) }.map { String(cString: $0) }
        if let path = grant.file {
            let bytes = Folder.read(at: path, most: 64 << 10)
            token = bytes.map { String(decoding: $0, as: UTF8.self) }
        }
        try self.init(endpoint: grant.endpoint, token: token)
    }

    /// Whether the server is the Hub itself.
    public var isHub: Bool { Self.own.contains(endpoint) }

    /// Returns the token for requests to a URL; `nil` if it must not have one.
    public func token(for url: String) -> String? {
        guard let token, let url = WebURL(url),
            (Self.own + [endpoint]).contains(where: { WebURL($0)?.origin == url.origin })
        else { return nil }
        return url.isSecure || url.isLoopback ? token : nil
    }
}

extension WebURL {
    /// Whether the host is this machine, by an address or by `localhost`.
    fileprivate var isLoopback: Bool {
        let host = origin.drop { $0 != ":" }.dropFirst(3)
        return host.hasPrefix("localhost:") || host.hasPrefix("[::1]:")
            || host.hasPrefix("127.") && NamedHost(origin: origin) == nil
    }
}
