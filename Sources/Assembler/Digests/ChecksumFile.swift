/// A checksum file in the format of GNU coreutils or BSD, such as `SHA256SUMS`.
///
/// Pure.
public struct ChecksumFile: Sendable {
    /// A line of the checksum file: a file name and its digest.
    public struct Entry: Sendable, Hashable {
        /// The file name, with escapes decoded.
        public var name: String
        /// The digest of the file.
        public var digest: Digest
    }

    /// The reason why a checksum file has no usable digest for a file.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum LookupError: Error, Sendable, Hashable {
        /// No line is valid and has a known algorithm.
        case unreadable
        /// The checksum file has no line for this name.
        case missing(name: String)
        /// The checksum file has several lines with different digests for this name.
        case ambiguous(name: String)
    }

    /// The valid lines.
    public private(set) var entries: [Entry] = []

    /// Parses the content of a checksum file.
    ///
    /// Malformed lines and lines with an unknown algorithm are ignored.
    ///
    /// - Parameters:
    ///   - bytes: The content.
    ///   - fileName: The name of the checksum file, which may contain the algorithm: `MD5SUMS`, `SHA1SUMS`, `SHA256SUMS`,
    ///     `SHA512SUMS`. Otherwise the length of each value determines it.
    /// - Throws: `unreadable` if no line is valid.
    public init(_ bytes: some Sequence<UInt8>, fileName: String) throws(LookupError) {
        let upper = fileName.uppercased()
        let named = [
            ("SHA512", DigestAlgorithm.sha512), ("SHA256", .sha256), ("SHA1", .sha1),
            ("MD5", .md5),
        ].first { upper.contains($0.0) }?.1
        // BLAKE2 is not supported, and its values have the length of SHA-512's.
        guard !upper.hasPrefix("B2") else { throw .unreadable }
        for line in Array(bytes).split(separator: UInt8(ascii: "\n")) {
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if let entry = Self.entry(line, named) { entries.append(entry) }
        }
        guard !entries.isEmpty else { throw .unreadable }
    }

    /// Returns the digest of the file at `path`.
    ///
    /// Only the last path component is compared. Lines whose name has no folder, or only `./`, are
    /// preferred.
    ///
    /// - Throws: `missing`, `ambiguous`.
    public func digest(of path: String) throws(LookupError) -> Digest {
        let name = Self.lastComponent(path)
        let found = entries.filter { Self.lastComponent($0.name) == name }
        let exact = found.filter { $0.name == name || $0.name == "./" + name }
        let candidates = exact.isEmpty ? found : exact
        guard let first = candidates.first else { throw .missing(name: name) }
        let others = candidates.filter { $0.digest.algorithm == first.digest.algorithm }
        guard others.allSatisfy({ $0.digest == first.digest }) else {
            throw .ambiguous(name: name)
        }
        return first.digest
    }

    private static func lastComponent(_ path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }

    private static func entry(_ line: ArraySlice<UInt8>, _ named: DigestAlgorithm?) -> Entry? {
        // A leading backslash means that the name contains escapes.
        let isEscaped = line.first == UInt8(ascii: "\\")
        let line = isEscaped ? line.dropFirst() : line
        guard let (value, name, tag) = gnu(line) ?? bsd(line) else { return nil }
        let hex = String(decoding: value, as: UTF8.self)
        let byLength = DigestAlgorithm.allCases.first { 2 * $0.byteCount == hex.utf8.count }
        let algorithm = tag ?? named ?? byLength
        let text = isEscaped ? unescaped(name) : Array(name)
        guard let algorithm, let digest = try? Digest(parsing: "\(algorithm.rawValue):\(hex)"),
            !text.isEmpty
        else { return nil }
        return Entry(name: String(decoding: text, as: UTF8.self), digest: digest)
    }

    private typealias Parts = (
        value: ArraySlice<UInt8>, name: ArraySlice<UInt8>, tag: DigestAlgorithm?
    )

    /// Parses `HEX  NAME`, or `HEX *NAME` for binary mode.
    private static func gnu(_ line: ArraySlice<UInt8>) -> Parts? {
        guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { return nil }
        let rest = line[(space + 1)...]
        guard let mark = rest.first, mark == UInt8(ascii: " ") || mark == UInt8(ascii: "*") else {
            return nil
        }
        return (line[..<space], rest.dropFirst(), nil)
    }

    /// Parses `ALGORITHM (NAME) = HEX`.
    private static func bsd(_ line: ArraySlice<UInt8>) -> Parts? {
        guard let space = line.firstIndex(of: UInt8(ascii: " ")),
            let tag = DigestAlgorithm(name: String(decoding: line[..<space], as: UTF8.self)),
            line[space...].starts(with: Array(" (".utf8)),
            let last = line.lastIndex(of: UInt8(ascii: " "))
        else { return nil }
        let middle = line[(space + 2)..<max(last, space + 2)]
        guard middle.suffix(3) == Array(") =".utf8)[...] else { return nil }
        return (line[(last + 1)...], middle.dropLast(3), tag)
    }

    private static func unescaped(_ name: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var isEscape = false
        for byte in name {
            if isEscape {
                switch byte {
                case UInt8(ascii: "n"): result.append(UInt8(ascii: "\n"))
                case UInt8(ascii: "r"): result.append(UInt8(ascii: "\r"))
                default: result.append(byte)
                }
                isEscape = false
            } else if byte == UInt8(ascii: "\\") {
                isEscape = true
            } else {
                result.append(byte)
            }
        }
        return result
    }
}
