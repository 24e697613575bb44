import Assembler
import FoundationEssentials
import RawStructuredFieldValues

/// The whole-file digests that a server advertises and segget can verify.
///
/// Pure.
enum AdvertisedDigests {
    /// Collects them from a reply's fields; what is malformed or of an unknown algorithm is left out.
    ///
    /// `hasContent` says whether content comes with it, as with the reply to a `GET`: `Content-Digest` is
    /// about that (RFC 9530 §2), and about the file where it is all of it.
    static func all(in reply: Reply, hasContent: Bool = false) -> [Digest] {
        var found: [Digest] = []
        if let field = reply["repr-digest"] { found += structured(field) }
        if let field = reply["digest"] { found += listed(field) }
        // Of the stored object, which is another sequence of bytes when it is stored compressed.
        if let field = reply["x-goog-hash"],
            (reply["x-goog-stored-content-encoding"] ?? "identity").lowercased() == "identity"
        {
            found += listed(field)
        }
        // RFC 1864: of the body, which is the whole file on a 200 only, if that is no part.
        let isWhole = reply.status == 200 && reply["content-range"] == nil
        if isWhole, let field = reply["content-md5"] {
            found += [digest(.md5, base64: field)].compactMap { $0 }
        }
        // On a 206, of the part that the range covers.
        if isWhole, !isComposite(reply) {
            let algorithms = [
                ("sha256", DigestAlgorithm.sha256), ("sha1", .sha1), ("crc32", .crc32),
            ]
            for (name, algorithm) in algorithms {
                // A composite checksum, of the parts' checksums, ends in `-` and their number.
                guard let field = reply["x-amz-checksum-\(name)"] else { continue }
                found += [digest(algorithm, base64: field)].compactMap { $0 }
            }
        }
        if hasContent, reply.isWhole, let digest = content(of: reply) { found.append(digest) }
        var unique: [Digest] = []
        for digest in found where !unique.contains(digest) { unique.append(digest) }
        return unique
    }

    /// Whether Amazon's checksums may be of the checksums of the parts that an object was uploaded in.
    ///
    /// `x-amz-checksum-type` says. Where it does not, an entity tag of the form `"…-N"` does, which
    /// an object of N parts has: not every server writes the number behind the checksum too.
    private static func isComposite(_ reply: Reply) -> Bool {
        switch reply["x-amz-checksum-type"]?.uppercased() {
        case "FULL_OBJECT": return false
        case "COMPOSITE": return true
        default: break
        }
        guard let tag = reply["etag"]?.utf8.filter({ $0 != UInt8(ascii: "\"") }) else {
            return false
        }
        let digits = tag.reversed().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return !digits.isEmpty && tag.dropLast(digits.count).last == UInt8(ascii: "-")
    }

    /// The digest of the bytes that come with a reply (`Content-Digest`, RFC 9530 §2), which is that of
    /// the range with a 206: as they are sent, in whatever coding.
    static func content(of reply: Reply) -> Digest? {
        guard let field = reply["content-digest"] else { return nil }
        let digests = structured(field).filter { [.sha256, .sha512].contains($0.algorithm) }
        return digests.first { $0.algorithm == .sha256 } ?? digests.first
    }

    /// `Repr-Digest` (RFC 9530 §3): a dictionary of byte sequences.
    private static func structured(_ field: String) -> [Digest] {
        var parser = StructuredFieldValueParser(Array(field.utf8))
        guard let members = try? parser.parseDictionaryFieldValue() else { return [] }
        return members.compactMap { name, member in
            guard case .item(let item) = member, let algorithm = algorithm(name),
                case .undecodedByteSequence(let base64) = item.rfc9651BareItem
            else { return nil }
            return digest(algorithm, base64: base64)
        }
    }

    /// `algorithm=base64`, separated by commas: `Digest` (RFC 3230 §4.3.2) and `x-goog-hash`.
    private static func listed(_ field: String) -> [Digest] {
        field.split(separator: ",").compactMap { item in
            let trimmed = item.drop { $0 == " " || $0 == "\t" }
            guard let equals = trimmed.firstIndex(of: "="),
                let algorithm = algorithm(trimmed[..<equals])
            else { return nil }
            return digest(algorithm, base64: String(trimmed[trimmed.index(after: equals)...]))
        }
    }

    /// The algorithm that HTTP means by a name; `sha` is SHA-1 (RFC 3230 §4.1.1).
    private static func algorithm(_ name: some StringProtocol) -> DigestAlgorithm? {
        let name = name.lowercased()
        // CRC-32 is no registered HTTP digest; Google's crc32c is another polynomial.
        return ["sha-256", "sha-512", "sha", "md5"].contains(name)
            ? DigestAlgorithm(name: name == "sha" ? "sha-1" : name) : nil
    }

    private static func digest(_ algorithm: DigestAlgorithm, base64: String) -> Digest? {
        let text = String(base64.drop { $0 == " " }.prefix { $0 != " " })
        return Data(base64Encoded: text).flatMap { Digest(algorithm, Array($0)) }
    }
}

extension Reply {
    /// Whether the content that comes with it is all of the file.
    fileprivate var isWhole: Bool {
        guard status == 206 else { return status == 200 && self["content-range"] == nil }
        guard let range = self["content-range"].flatMap(ContentRange.init) else { return false }
        return range.range.start == 0 && range.range.end == range.total
    }
}
