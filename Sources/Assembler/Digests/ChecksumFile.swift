/// A file of checksums as GNU coreutils and BSD write them, such as `SHA256SUMS`.
///
/// Pure.
public struct ChecksumFile: Sendable {
    /// One line: the digest of the file with this name.
    public struct Entry: Sendable, Hashable {
        /// The name as it stands there, escapes undone.
        public var name: String
        /// Its digest.
        public var digest: Digest
    }

    /// Why a file of checksums says nothing about a file.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Problem: Error, Sendable, Hashable {
        /// No line of it is one of a known algorithm.
        case unreadable
        /// It has no line for a file of this name.
        case missing(name: String)
        /// It has several lines for this name that contradict each other.
        case ambiguous(name: String)
    }

    /// The lines that could be read.
    public private(set) var entries: [Entry] = []

    /// Reads the bytes of a file of checksums.
    ///
    /// Lines that are malformed, or of an unknown algorithm, are left out.
    ///
    /// - Parameters:
    ///   - bytes: The content.
    ///   - fileName: Its name, which may state the algorithm: `MD5SUMS`, `SHA1SUMS`, `SHA256SUMS`,
    ///     `SHA512SUMS`. Otherwise the length of each value does.
    /// - Throws: `unreadable`, when no line could be read.
    public init(_ bytes: some Sequence<UInt8>, fileName: String) throws(Problem) {
        let upper = fileName.uppercased()
        let named = [
            ("SHA512", DigestAlgorithm.sha512), ("SHA256", .sha256), ("SHA1", .sha1),
            ("MD5", .md5),
        ].first { upper.contains($0.0) }?.1
        // BLAKE2's values are as long as SHA-512's.
        guard !upper.hasPrefix("B2") else { throw .unreadable }
        for line in Array(bytes).split(separator: UInt8(ascii: "\n")) {
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if let entry = Self.entry(line, named) { entries.append(entry) }
        }
        guard !entries.isEmpty else { throw .unreadable }
    }

    /// The digest of the file at `path`.
    ///
    /// A line with the same last component is taken; where several are, one whose whole name is
    /// that.
    ///
    /// - Throws: `missing`, `ambiguous`.
    public func digest(of path: String) throws(Problem) -> Digest {
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
        // A backslash in front says that the name has escapes.
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

    /// `HEX  NAME`, or `HEX *NAME` for binary mode.
    private static func gnu(_ line: ArraySlice<UInt8>) -> Parts? {
        guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { return nil }
        let rest = line[(space + 1)...]
        guard let mark = rest.first, mark == UInt8(ascii: " ") || mark == UInt8(ascii: "*") else {
            return nil
        }
        return (line[..<space], rest.dropFirst(), nil)
    }

    /// `ALGORITHM (NAME) = HEX`.
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
