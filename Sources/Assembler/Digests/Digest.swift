// Digests: checksum algorithms, digest values, and their text formats. Pure: this folder does not open
// files, and its callers handle files whose digest is wrong.

/// A checksum algorithm that segget can verify.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum DigestAlgorithm: String, Sendable, Hashable, CaseIterable {
    case sha256 = "sha-256"
    case sha512 = "sha-512"
    case sha1 = "sha-1"
    case md5 = "md5"
    case crc32 = "crc32"
    /// The name of a file's content in git: the SHA-1 of `blob SIZE`, a NUL and the bytes.
    ///
    /// See git-hash-object(1).
    case gitSHA1 = "git-sha1"

    /// The length of a digest, in bytes.
    public var byteCount: Int {
        switch self {
        case .sha256: 32
        case .sha512: 64
        case .sha1, .gitSHA1: 20
        case .md5: 16
        case .crc32: 4
        }
    }

    /// Finds the algorithm by name, in any case, with or without dashes: `SHA-256`, `sha256`.
    public init?(name: some StringProtocol) {
        let wanted = name.lowercased().filter { $0 != "-" && $0 != "_" }
        let found = Self.allCases.first { $0.rawValue.filter { $0 != "-" } == wanted }
        guard let found else { return nil }
        self = found
    }
}

/// A digest of a whole file: an algorithm and its value.
public struct Digest: Sendable, Hashable {
    /// The algorithm of the value.
    public let algorithm: DigestAlgorithm
    /// The value, with the length of the algorithm; a CRC-32 is big-endian.
    public let bytes: [UInt8]

    /// Creates a digest; `nil` if the value does not have the length of the algorithm.
    public init?(_ algorithm: DigestAlgorithm, _ bytes: [UInt8]) {
        guard bytes.count == algorithm.byteCount else { return nil }
        self.algorithm = algorithm
        self.bytes = bytes
    }

    /// Creates a digest from a CRC-32.
    public init(crc32: UInt32) {
        algorithm = .crc32
        bytes = (0..<4).map { UInt8(truncatingIfNeeded: crc32 >> (24 - 8 * $0)) }
    }

    /// Parses `ALGO:HEX`, `ALGO=HEX` or `HEX`, in any case.
    ///
    /// For `HEX`, the length determines the algorithm.
    ///
    /// - Throws: ``DigestSyntaxError`` if the text is malformed.
    public init(parsing text: String) throws(DigestSyntaxError) {
        let separator = text.firstIndex { $0 == ":" || $0 == "=" }
        let hex = text[(separator.map { text.index(after: $0) } ?? text.startIndex)...].utf8
        let algorithm: DigestAlgorithm
        if let name = separator.map({ text[..<$0] }) {
            guard let named = DigestAlgorithm(name: name) else {
                throw .unknownAlgorithm(String(name))
            }
            algorithm = named
        } else {
            let fitting = DigestAlgorithm.allCases.first { 2 * $0.byteCount == hex.count }
            guard let fitting, hex.allSatisfy({ Self.nibble($0) != nil }) else {
                throw .noSeparator
            }
            algorithm = fitting
        }
        guard hex.count == 2 * algorithm.byteCount else {
            throw .wrongLength(algorithm, expected: 2 * algorithm.byteCount, got: hex.count)
        }
        let nibbles = hex.compactMap { Self.nibble($0) }
        guard nibbles.count == hex.count else { throw .notHexadecimal }
        self.algorithm = algorithm
        bytes = stride(from: 0, to: nibbles.count, by: 2).map { nibbles[$0] << 4 | nibbles[$0 + 1] }
    }

    /// The value in lower-case hexadecimal.
    public var hex: String { hexadecimal(bytes) }

    private static func nibble(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension Digest: CustomStringConvertible {
    /// The digest as `algorithm:hex`, the format of `--checksum`.
    public var description: String { "\(algorithm.rawValue):\(hex)" }
}

extension Digest: Codable {
    /// Reads `"algorithm:hex"`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do throws(DigestSyntaxError) {
            try self.init(parsing: text)
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(error)")
        }
    }

    /// Stores `"algorithm:hex"`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension Digest {
    /// The value of a CRC-32 as a number.
    package var crc32: UInt32 { bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }
}

extension [Digest] {
    /// Returns the first digest with this algorithm, or `nil`.
    func first(of algorithm: DigestAlgorithm) -> Digest? { first { $0.algorithm == algorithm } }

    /// The digests without duplicates, in order of first occurrence.
    package var distinct: [Digest] { reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }

    /// Returns the first expected digest that differs from the computed one.
    ///
    /// Digests whose algorithm was not computed are ignored.
    func mismatch(with computed: [Digest]) -> (expected: Digest, actual: Digest)? {
        for expected in self {
            guard let actual = computed.first(of: expected.algorithm), actual != expected else {
                continue
            }
            return (expected, actual)
        }
        return nil
    }
}

/// The reason why a text is not a valid digest.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum DigestSyntaxError: Error, Sendable, Hashable {
    /// The text has no `:` or `=`, and is not a hexadecimal value of a known algorithm's length.
    case noSeparator
    /// The algorithm is unknown.
    case unknownAlgorithm(String)
    /// The value has the wrong number of hexadecimal digits.
    case wrongLength(DigestAlgorithm, expected: Int, got: Int)
    /// The value contains characters other than hexadecimal digits.
    case notHexadecimal
}

/// Returns bytes in lower-case hexadecimal.
func hexadecimal(_ bytes: some Collection<UInt8>) -> String {
    func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
    return String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
        var end = 0
        for byte in bytes {
            (text[end], text[end + 1]) = (digit(byte >> 4), digit(byte & 15))
            end += 2
        }
        return end
    }
}
