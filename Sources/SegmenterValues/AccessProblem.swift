import Glibc

/// The reason why access options cannot be used, without values that may be secrets.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum AccessProblem: Error, Sendable, Hashable {
    /// An access option.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Part: String, Sendable, Hashable, CaseIterable {
        case credentials, netrcFile, bearerToken, cookieFile, cookies, userAgent, referer, proxy
        case noProxy, interface, resolve, pinnedPublicKey, clientCertificate, clientKey
        case clientKeyPassword
    }

    /// The file of this option cannot be read; carries the `errno`.
    case unreadable(Part, path: String, errno: Int32)
    /// The value is malformed, or contains a line break or another control character.
    case malformed(Part)
    /// These two options exclude each other.
    case conflict(Part, Part)
    /// The first option has no effect without the second.
    case incomplete(Part, without: Part)
    /// The value is well-formed but cannot be used.
    ///
    /// For example, the interface does not exist, or the file contains no key.
    case unusable(Part)
}

extension AccessOptions {
    /// The longest value, in bytes.
    private static let longestValue = 64 << 10

    /// Checks that all values are well-formed and compatible, and that their files can be read.
    ///
    /// - Throws: `AccessProblem`.
    public func check() throws(AccessProblem) {
        try checkValues()
        guard credentials == nil || bearerToken == nil else {
            throw .conflict(.credentials, .bearerToken)
        }
        guard clientKey == nil || clientCertificate != nil else {
            throw .incomplete(.clientKey, without: .clientCertificate)
        }
        guard clientKeyPassword == nil || clientCertificate != nil else {
            throw .incomplete(.clientKeyPassword, without: .clientCertificate)
        }
        if usesNetrc, let file = netrcFile ?? Self.netrcAtHome {
            try Self.checkFile(.netrcFile, file)
        }
        let pin = pinsHashes ? nil : pinnedPublicKey
        for (part, path) in [
            (.cookieFile, cookieFile), (.clientCertificate, clientCertificate),
            (.clientKey, clientKey), (.pinnedPublicKey, pin),
        ] as [(AccessProblem.Part, String?)] {
            if let path { try Self.checkFile(part, path) }
        }
    }

    package func checkValues() throws(AccessProblem) {
        let texts: [(AccessProblem.Part, String?)] = [
            (.credentials, credentials?.user), (.credentials, credentials?.password),
            (.bearerToken, bearerToken), (.cookies, cookies), (.userAgent, userAgent),
            (.referer, referer), (.proxy, proxy), (.noProxy, noProxy), (.interface, interface),
            (.pinnedPublicKey, pinnedPublicKey), (.clientKeyPassword, clientKeyPassword),
        ]
        for (part, text) in texts {
            guard text.map(Self.isFieldText) ?? true else { throw .malformed(part) }
        }
        guard credentials?.user.contains(":") != true else { throw .malformed(.credentials) }
        if let bearerToken {
            // RFC 6750 §2.1 defines b64token; of the other characters, only spaces and controls
            // would do harm.
            guard !bearerToken.isEmpty, bearerToken.utf8.allSatisfy({ (33...126).contains($0) })
            else { throw .malformed(.bearerToken) }
        }
        guard cookies?.contains("=") ?? true else { throw .malformed(.cookies) }
        guard interface != "" else { throw .malformed(.interface) }
        if let proxy, !proxy.isEmpty {
            guard isProxyURL(proxy) else { throw .malformed(.proxy) }
        }
        for entry in resolve {
            guard Self.isResolveEntry(entry) else { throw .malformed(.resolve) }
        }
        if let pin = pinnedPublicKey {
            let isPin = pinsHashes ? Self.isPin(pin) : !pin.isEmpty
            guard isPin else { throw .malformed(.pinnedPublicKey) }
        }
    }

    private static let pinPrefix = "sha256//"

    /// Whether ``pinnedPublicKey`` contains hashes of keys, not the path of a file.
    package var pinsHashes: Bool { pinnedPublicKey?.hasPrefix(Self.pinPrefix) ?? false }

    /// Returns whether a text is valid in a header field (RFC 9110 §5.5).
    ///
    /// Such a text is also valid in all other places where libcurl uses these options.
    private static func isFieldText(_ text: String) -> Bool {
        text.utf8.count <= longestValue
            && text.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7f) }
    }

    /// Returns whether a text is a list of pins: SHA-256 as 43 digits of Base64 and one `=`.
    private static func isPin(_ text: String) -> Bool {
        text.split(separator: ";", omittingEmptySubsequences: false).allSatisfy { pin in
            guard pin.hasPrefix(pinPrefix), pin.hasSuffix("=") else { return false }
            let digits = pin.dropFirst(pinPrefix.count).dropLast()
            return digits.utf8.count == 43
                && digits.utf8.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"),
                        UInt8(ascii: "A")...UInt8(ascii: "Z"),
                        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"),
                        UInt8(ascii: "/"):
                        true
                    default: false
                    }
                }
        }
    }

    /// Returns whether a text is `HOST:PORT:ADDRESS[,ADDRESS]`; an IPv6 address may be in brackets.
    private static func isResolveEntry(_ text: String) -> Bool {
        let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let port = Int64(digits: parts[1]), (1...65535).contains(port),
            !parts[0].isEmpty, text.utf8.count <= longestValue,
            parts[0].utf8.allSatisfy({ (33...126).contains($0) }), !parts[0].hasPrefix("-"),
            !parts[0].hasPrefix("+")
        else { return false }
        return parts[2].split(separator: ",", omittingEmptySubsequences: false).allSatisfy {
            isAddress(String($0))
        }
    }

    private static func isAddress(_ text: String) -> Bool {
        var room = in6_addr()
        if inet_pton(AF_INET, text, &room) == 1 { return true }
        let isBracketed = text.hasPrefix("[") && text.hasSuffix("]") && text.count > 2
        let bare = isBracketed ? String(text.dropFirst().dropLast()) : text
        return inet_pton(AF_INET6, bare, &room) == 1
    }

    private static var netrcAtHome: String? {
        getenv("HOME").flatMap { String(validatingCString: $0) }.map { $0 + "/.netrc" }
    }

    private static func checkFile(
        _ part: AccessProblem.Part, _ path: String
    ) throws(AccessProblem) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreadable(part, path: path, errno: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
            throw .unreadable(part, path: path, errno: EISDIR)
        }
    }
}
