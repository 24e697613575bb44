import Assembler
import FoundationEssentials
import SegmenterTransport
import SegmenterValues

/// The responses of the Hub's API.
///
/// Pure. See https://huggingface.co/docs/hub/api.
enum HubReplies {
    /// The response to a request for a revision.
    struct Revision: Decodable {
        /// The name of the repository, as the Hub spells it.
        var id: String?
        /// The commit.
        var sha: String
    }

    /// An entry of a tree.
    struct Entry: Decodable {
        struct LFS: Decodable {
            /// The SHA-256 of the file.
            var oid: String
            var size: Int64
        }

        var type: String
        var path: String
        var size: Int64?
        /// git's SHA-1: of the file, or of the text that replaces it in git.
        var oid: String?
        /// Present if the file is not in git itself.
        var lfs: LFS?
        /// The hash of the Xet protocol.
        var xetHash: String?
    }

    /// Decodes a body; `nil` if it is not what it should be.
    static func read<Value: Decodable>(_ body: [UInt8], as type: Value.Type) -> Value? {
        try? JSONDecoder().decode(type, from: Data(body))
    }

    /// Returns the URL of the next page from a `Link` field (RFC 8288); `nil` if there is none.
    ///
    /// The Hub names itself in the URL, also behind a mirror.
    static func next(_ link: String?, at url: WebURL, endpoint: String) -> WebURL? {
        for part in (link ?? "").split(separator: ",") {
            let fields = part.split(separator: ";").map {
                String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            }
            guard let first = fields.first, first.hasPrefix("<"), first.hasSuffix(">"),
                fields.dropFirst().contains(where: { ["rel=\"next\"", "rel=next"].contains($0) })
            else { continue }
            var text = String(first.dropFirst().dropLast())
            let hub = "https://huggingface.co/"
            if text.hasPrefix(hub) { text = endpoint + "/" + text.dropFirst(hub.count) }
            return WebURL(text, relativeTo: url)
        }
        return nil
    }

    /// Returns the digest of an entry's content; `nil` if it states none that can be used.
    static func digest(of entry: Entry) -> Digest? {
        if let lfs = entry.lfs { return try? Digest(parsing: "sha-256:\(lfs.oid)") }
        return entry.oid.flatMap { try? Digest(parsing: "git-sha1:\($0)") }
    }

    /// Returns the files of a model with a quantization, or the parts of one file.
    ///
    /// A file has the quantization if its name ends with it, before `.gguf` and the number of a
    /// part. Of several, the first in order counts.
    static func files(of entries: [Entry], quantization: String) -> [Entry] {
        let all = entries.filter {
            Self.quantization(of: $0.path)?.word == quantization.lowercased()
        }
        guard let first = all.map({ stem($0.path) }).min() else { return [] }
        return all.filter { stem($0.path) == first }
    }

    /// Returns the quantizations that the files of a model have, in order.
    static func quantizations(of entries: [Entry]) -> [String] {
        Set(entries.compactMap { quantization(of: $0.path)?.shown }).sorted()
    }

    /// A path without `.gguf` and the number of a part; empty for other files.
    private static func stem(_ path: String) -> String {
        guard path.lowercased().hasSuffix(".gguf") else { return "" }
        let stem = path.dropLast(5)
        let part = stem.suffix(15)
        let form = part.map { $0.isNumber ? "0" : $0 }
        return String(String(form) == "-00000-of-00000" ? stem.dropLast(15) : stem)
    }

    private static func quantization(of path: String) -> (word: String, shown: String)? {
        let stem = stem(path)
        guard let last = stem.split(separator: "/").last, !last.hasPrefix("mmproj"),
            let word = last.split(whereSeparator: { "-.".contains($0) }).last
        else { return nil }
        return (word.lowercased(), String(word))
    }
}
