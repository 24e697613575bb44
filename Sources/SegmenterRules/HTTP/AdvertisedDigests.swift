import struct FoundationEssentials.Data
import RawStructuredFieldValues

/// The digests of the whole file that a server advertises and segget can verify.
///
/// Pure.
package enum AdvertisedDigests {
    /// Returns the digests in a response's fields, without malformed ones and unknown algorithms.
    ///
    /// `hasContent` is whether content follows, as for a `GET`. `Content-Digest` covers that
    /// content (RFC 9530 §2), and counts only if the content is the whole file.
    package static func all(in reply: Reply, hasContent: Bool = false) -> [Digest] {
        var found: [Digest] = []
        if let field = reply["repr-digest"] { found += structured(field) }
        if let field = reply["digest"] { found += listed(field) }
        // `x-goog-hash` covers the stored object, whose bytes differ if it is stored compressed.
        if let field = reply["x-goog-hash"],
            (reply["x-goog-stored-content-encoding"] ?? "identity").lowercased() == "identity"
        {
            found += listed(field)
        }
        // RFC 1864: the digest covers the body, which is the whole file only in a complete 200.
        let isWhole = reply.status == 200 && reply["content-range"] == nil
        if isWhole, let field = reply["content-md5"] {
            found += [digest(.md5, base64: field)].compactMap { $0 }
        }
        // In a 206, Amazon's checksums cover the part.
        if isWhole, !isComposite(reply) {
            let algorithms = [
                ("sha256", DigestAlgorithm.sha256), ("sha1", .sha1), ("crc32", .crc32),
            ]
            for (name, algorithm) in algorithms {
                // A checksum of the parts' checksums ends in `-` and the number of parts.
                guard let field = reply["x-amz-checksum-\(name)"] else { continue }
                found += [digest(algorithm, base64: field)].compactMap { $0 }
            }
        }
        if hasContent, let digest = content(of: reply), reply.isWhole { found.append(digest) }
        var unique: [Digest] = []
        for digest in found where !unique.contains(digest) { unique.append(digest) }
        return unique
    }

    /// Returns the digest of the file to which a redirect of the Hugging Face Hub leads.
    ///
    /// `X-Linked-Etag` is the SHA-256 of a file that is not in git itself, as an entity tag; such a
    /// response names the commit, too. See https://huggingface.co/docs/hub/storage-backends.
    package static func target(of redirect: Reply) -> Digest? {
        guard redirect["x-repo-commit"] != nil, let tag = redirect["x-linked-etag"] else {
            return nil
        }
        let hex = tag.filter { $0 != "\"" }
        return hex.utf8.count == 64 ? try? Digest(parsing: "sha-256:\(hex)") : nil
    }

    /// Returns whether Amazon's checksums may cover the checksums of the uploaded parts.
    ///
    /// `x-amz-checksum-type` states that. If it is missing, an entity tag of the form `"…-N"` is a
    /// sign of an object with N parts. Not every server also appends the number to the checksum.
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

    /// Returns the digest of the content of a response (`Content-Digest`, RFC 9530 §2).
    ///
    /// The digest covers the bytes as sent, in their content coding; in a 206, those of the range.
    package static func content(of reply: Reply) -> Digest? {
        guard let field = reply["content-digest"] else { return nil }
        let digests = structured(field).filter { [.sha256, .sha512].contains($0.algorithm) }
        return digests.first { $0.algorithm == .sha256 } ?? digests.first
    }

    /// Parses `Repr-Digest` or `Content-Digest` (RFC 9530): a dictionary of byte sequences.
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

    /// Parses `algorithm=base64`, separated by commas: `Digest` (RFC 3230 §4.3.2) and
    /// `x-goog-hash`.
    private static func listed(_ field: String) -> [Digest] {
        field.split(separator: ",").compactMap { item in
            let trimmed = item.drop { $0 == " " || $0 == "\t" }
            guard let equals = trimmed.firstIndex(of: "="),
                let algorithm = algorithm(trimmed[..<equals])
            else { return nil }
            return digest(algorithm, base64: String(trimmed[trimmed.index(after: equals)...]))
        }
    }

    /// Returns the algorithm with this name in HTTP; `sha` is SHA-1 (RFC 3230 §4.1.1).
    private static func algorithm(_ name: some StringProtocol) -> DigestAlgorithm? {
        let name = name.lowercased()
        // CRC-32 is not a registered HTTP digest, and Google's crc32c has another polynomial.
        return ["sha-256", "sha-512", "sha", "md5"].contains(name)
            ? DigestAlgorithm(name: name == "sha" ? "sha-1" : name) : nil
    }

    private static func digest(_ algorithm: DigestAlgorithm, base64: String) -> Digest? {
        let text = String(base64.drop { $0 == " " }.prefix { $0 != " " })
        return Data(base64Encoded: text).flatMap { Digest(algorithm, Array($0)) }
    }
}

extension Reply {
    /// Whether the content of the response is the whole file.
    fileprivate var isWhole: Bool {
        guard status == 206 else { return status == 200 && self["content-range"] == nil }
        guard let range = self["content-range"].flatMap(ContentRange.init) else { return false }
        return range.range.start == 0 && range.range.end == range.total
    }
}
