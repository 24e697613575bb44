import Assembler

/// The head of a final response: what the decisions need of it.
struct Reply: Sendable, Hashable {
    /// The fields that are read, in lower case; all others are ignored.
    static let fieldNames = [
        "accept-ranges", "content-disposition", "content-encoding", "content-length", "content-md5",
        "content-range", "content-type", "date", "digest", "etag", "last-modified", "location",
        "repr-digest", "transfer-encoding", "x-amz-checksum-crc32", "x-amz-checksum-sha1",
        "x-amz-checksum-sha256", "x-amz-checksum-type", "x-goog-hash",
        "x-goog-stored-content-encoding",
    ]

    /// Status code (RFC 9110 §15).
    var status: Int
    /// Field values by lower-case name; several lines of one field are joined by `, `.
    var fields: [String: String] = [:]
    /// Whether digest authentication is asked for, and basic is not.
    var asksForDigest = false
    /// Seconds that `Retry-After` asks to wait, of either form.
    var retryAfter: Double?

    subscript(_ name: String) -> String? { fields[name] }

    /// `Content-Length` in bytes, when it is one number.
    var contentLength: Int64? { self["content-length"].flatMap { Int64(digits: $0) } }

    /// What the reply says about the version of the file, with `size` as its length.
    ///
    /// `time` turns an HTTP date into seconds since 1970.
    func identity(size: Int64?, time: (String) -> Int64?) -> RemoteIdentity {
        let modified = self["last-modified"]
        // RFC 9110 §8.8.2.2: strong when at least a second older than the reply.
        let age = modified.flatMap(time).flatMap { modified in
            self["date"].flatMap(time).map { $0 - modified }
        }
        return RemoteIdentity(
            size: size, etag: self["etag"], lastModified: modified,
            lastModifiedIsStrong: (age ?? 0) >= 1)
    }
}

/// The value of a `Content-Range` field for a range that is served (RFC 9110 §14.4).
struct ContentRange: Sendable, Hashable {
    /// The range that follows, half-open.
    var range: ByteRange
    /// Length of the complete representation in bytes; `nil` for `*`.
    var total: Int64?

    /// Reads `bytes first-last/complete`; `nil` when it is malformed or impossible.
    init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let bounds = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2, let first = Int64(digits: bounds[0]),
            let last = Int64(digits: bounds[1]), first <= last, last < Int64.max
        else { return nil }
        if halves[1] != "*" {
            guard let total = Int64(digits: halves[1]), last < total else { return nil }
            self.total = total
        }
        range = ByteRange(first, last + 1)
    }
}

extension Int64 {
    /// Reads a number of digits only, as HTTP's `1*DIGIT`: no sign, no space.
    init?(digits text: some StringProtocol) {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        self.init(text)
    }
}
