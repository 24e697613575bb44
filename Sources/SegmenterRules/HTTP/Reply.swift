// The rules decide about the public values, so importing them imports the values too.
@_exported public import SegmenterValues

/// The head of a final response, reduced to the fields that segget uses.
///
/// This folder implements RFC 9110 and related RFCs for URLs, fields and status codes; libcurl
/// parses URLs and dates. The code here does not know who sends a request, or what happens to the
/// body.
package struct Reply: Sendable, Hashable {
    /// The fields that are kept, in lower case; all others are ignored.
    package static let fieldNames = [
        "accept-ranges", "content-digest", "content-disposition", "content-encoding",
        "content-length", "content-md5",
        "content-range", "content-type", "date", "digest", "etag", "last-modified", "link",
        "location",
        "ratelimit", "ratelimit-limit", "ratelimit-policy", "ratelimit-remaining",
        "ratelimit-reset",
        "repr-digest", "retry-after", "transfer-encoding", "x-amz-checksum-crc32",
        "x-amz-checksum-sha1",
        "x-amz-checksum-sha256", "x-amz-checksum-type", "www-authenticate", "x-goog-hash",
        "x-goog-stored-content-encoding", "x-ratelimit-limit", "x-ratelimit-remaining",
        "x-ratelimit-reset", "x-error-code", "x-linked-etag", "x-repo-commit",
    ]

    /// The largest file size that is accepted, in bytes: 1 EiB, more than any disk has.
    static let largestSize = Int64(1) << 60

    /// The status code (RFC 9110 §15).
    package var status: Int
    /// The field values by lowercase name; different values of a repeated field are joined by `, `.
    package var fields: [String: String] = [:]
    /// Whether the server requires digest authentication and does not offer basic.
    package var asksForDigest = false
    /// The delay in seconds from `Retry-After`, given as seconds or as a date.
    package var retryAfter: Double?

    package init(
        status: Int, fields: [String: String] = [:], asksForDigest: Bool = false,
        retryAfter: Double? = nil
    ) {
        self.status = status
        self.fields = fields
        self.asksForDigest = asksForDigest
        self.retryAfter = retryAfter
    }

    package subscript(_ name: String) -> String? { fields[name] }

    /// The `Content-Length` field, unless there is a transfer coding (RFC 9112 §6.3).
    private var lengthField: String? {
        let coding = self["transfer-encoding"]?.lowercased() ?? "identity"
        return coding == "identity" ? self["content-length"] : nil
    }

    /// The schemes of a 401 if segget supports none without a further option; `nil` otherwise.
    ///
    /// See RFC 9110 §11.6.1.
    package var unusableSchemes: [String]? {
        guard let field = self["www-authenticate"] else { return nil }
        let offered = Set(
            field.split(separator: ",").map { challenge in
                challenge.drop { $0 == " " }.prefix { $0 != " " }.lowercased()
            })
        guard offered.isDisjoint(with: ["basic", "digest", "bearer"]) else { return nil }
        let found = ["Negotiate", "NTLM"].filter { offered.contains($0.lowercased()) }
        return found.isEmpty ? nil : found
    }

    /// Returns the delay in seconds that a `Retry-After` field requests (RFC 9110 §10.2.3).
    ///
    /// A date is compared with the response's `Date`, because the clock of this machine may differ.
    ///
    /// - Parameters:
    ///   - now: The time of this machine in seconds since 1970, for responses without a `Date`.
    ///   - time: Returns the seconds since 1970 for an HTTP date.
    /// - Returns: The delay; `nil` if the field is missing or malformed, or requests no delay.
    package func wait(now: Int64, time: (String) -> Int64?) -> Double? {
        guard let field = self["retry-after"] else { return nil }
        let wait =
            Int64(digits: field)
            ?? self["retry-after"].flatMap(time).map { $0 - (self["date"].flatMap(time) ?? now) }
        return wait.flatMap { $0 > 0 ? Double($0) : nil }
    }

    /// The valid `Content-Length` in bytes; `nil` if it is missing or invalid.
    ///
    /// The field may repeat one number (RFC 9110 §8.6). A number above ``largestSize`` is invalid.
    package var contentLength: Int64? {
        guard let field = lengthField else { return nil }
        guard let length = Int64(digits: field) ?? Self.same(in: field), length <= Self.largestSize
        else { return nil }
        return length
    }

    /// Returns the number that all items of a list are equal to.
    private static func same(in list: String) -> Int64? {
        let all = Set(
            list.split(separator: ",", omittingEmptySubsequences: false).map { item in
                let words = item.split(separator: " ")
                return words.count == 1 ? Int64(digits: words[0]) : nil
            })
        return all.count == 1 ? all.first ?? nil : nil
    }

    /// Whether the end of the body is marked, by a length or by chunks.
    var provesItsEnd: Bool {
        contentLength != nil
            || self["transfer-encoding"]?.lowercased().contains("chunked") == true
    }

    /// The violation if there is an invalid `Content-Length`.
    ///
    /// libcurl uses the last of several values. If a value does not fit into 63 bits, libcurl reads
    /// until the connection closes.
    package var lengthBreach: ContractBreach? {
        guard let field = lengthField, contentLength == nil else { return nil }
        return .contentLengthUnusable(field)
    }

    /// The content codings of the body in lower case, joined by `, ` (RFC 9110 §8.4).
    ///
    /// `nil` if the body is not encoded.
    package var coding: String? {
        guard let field = self["content-encoding"] else { return nil }
        let codings = field.split(separator: ",").map { item in
            String(item.filter { $0 != " " && $0 != "\t" }).lowercased()
        }.filter { !$0.isEmpty && !Self.meaninglessCodings.contains($0) }
        return codings.isEmpty ? nil : codings.joined(separator: ", ")
    }

    /// Values of `Content-Encoding` that do not mean an encoded body.
    ///
    /// Servers send names of character sets there, and S3 repeats `aws-chunked` from the upload.
    private static let meaninglessCodings: Set = [
        "identity", "none", "null", "binary", "plain", "text", "raw", "7bit", "8bit", "ascii",
        "us-ascii", "utf-8", "utf8", "utf-16", "iso-8859-1", "latin1", "windows-1252",
        "aws-chunked",
    ]

    /// Returns the size and validators of the file's version.
    ///
    /// `size` is the length of the file, and `time` returns the seconds since 1970 for an HTTP
    /// date.
    package func identity(size: Int64?, time: (String) -> Int64?) -> RemoteIdentity {
        let modified = self["last-modified"]
        // RFC 9110 §8.8.2.2: a date is strong if it is at least a second older than the response. A
        // value that looks like a weak tag is not a date, but lenient parsers accept it.
        let date = modified?.hasPrefix("W/") == true ? nil : modified
        let changed = date.flatMap(time)
        let age = changed.flatMap { modified in self["date"].flatMap(time).map { $0 - modified } }
        var identity = RemoteIdentity(
            size: size, etag: self["etag"], lastModified: modified,
            lastModifiedIsStrong: (age ?? 0) >= 1, coding: coding)
        identity.distrustBlank(date: changed)
        return identity
    }
}

/// The value of a `Content-Range` field with a range (RFC 9110 §14.4).
package struct ContentRange: Sendable, Hashable {
    /// The range of the body, half-open.
    package var range: ByteRange
    /// The length of the complete representation in bytes; `nil` for `*`.
    package var total: Int64?

    /// Parses `bytes first-last/complete`; returns `nil` if it is malformed or impossible.
    package init?(_ text: String) {
        // Bytes are faster to parse than characters, and every partial response has this field.
        var words = text.utf8[...]
        while words.first == UInt8(ascii: " ") { words.removeFirst() }
        while words.last == UInt8(ascii: " ") { words.removeLast() }
        guard let space = words.firstIndex(of: UInt8(ascii: " ")),
            Substring(words[..<space]).lowercased() == "bytes"
        else { return nil }
        let rest = words[space...].drop { $0 == UInt8(ascii: " ") }
        guard let slash = rest.firstIndex(of: UInt8(ascii: "/")),
            let dash = rest[..<slash].firstIndex(of: UInt8(ascii: "-")),
            let first = Int64(digits: Substring(rest[..<dash])),
            let last = Int64(digits: Substring(rest[rest.index(after: dash)..<slash])),
            first <= last, last < Int64.max
        else { return nil }
        let complete = Substring(rest[rest.index(after: slash)...])
        if complete != "*" {
            guard let total = Int64(digits: complete), last < total else { return nil }
            self.total = total
        }
        range = ByteRange(first, last + 1)
    }
}
