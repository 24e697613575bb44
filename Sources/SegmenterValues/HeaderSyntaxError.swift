/// The reason why a request header cannot be sent, without the value, which may be a secret.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum HeaderSyntaxError: Error, Sendable, Hashable {
    /// The line has no colon, so it is not of the form `Name: value`.
    case noColon
    /// The name is not a field name (RFC 9110 §5.1).
    case badName(String)
    /// The value of the field with this name contains a line break or a control character.
    case badValue(name: String)
    /// segget sets the field with this name itself.
    case reserved(name: String)
}

extension DownloadOptions {
    /// The fields that segget sets itself.
    private static let reserved: Set<String> = [
        "range", "if-range", "accept-encoding", "content-length", "transfer-encoding",
    ]

    /// Checks that a header line has the form `Name: value`, without control characters.
    ///
    /// The name must be a token (RFC 9110 §5.1, §5.5). The check prevents header injection.
    ///
    /// - Parameter line: A line of the form `Name: value`.
    /// - Throws: `HeaderSyntaxError`.
    public static func check(header line: String) throws(HeaderSyntaxError) {
        guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { throw .noColon }
        let name = line[..<colon]
        let marks = Set("!#$%&'*+-.^_`|~".utf8)
        let isToken = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: marks.contains(byte)
            }
        }
        guard !name.isEmpty, isToken else { throw .badName(String(name)) }
        guard line[colon...].utf8.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7f) }) else {
            throw .badValue(name: String(name))
        }
        guard !reserved.contains(name.lowercased()) else { throw .reserved(name: String(name)) }
    }
}
