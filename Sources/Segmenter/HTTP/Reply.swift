import Assembler

/// The head of a final response: what the decisions need of it.
///
/// This folder knows what RFC 9110 and its kin say of URLs, fields and statuses, and has libcurl read URLs and
/// dates; it never knows who asks, how often, or what becomes of the bytes.
struct Reply: Sendable, Hashable {
    /// The fields that are read, in lower case; all others are ignored.
    static let fieldNames = [
        "accept-ranges", "content-digest", "content-disposition", "content-encoding",
        "content-length", "content-md5",
        "content-range", "content-type", "date", "digest", "etag", "last-modified", "location",
        "repr-digest", "retry-after", "transfer-encoding", "x-amz-checksum-crc32",
        "x-amz-checksum-sha1",
        "x-amz-checksum-sha256", "x-amz-checksum-type", "www-authenticate", "x-goog-hash",
        "x-goog-stored-content-encoding",
    ]

    /// The largest size of a file that is believed, in bytes: 1 EiB, more than any disk has.
    static let largestSize = Int64(1) << 60

    /// Status code (RFC 9110 §15).
    var status: Int
    /// Field values by lower-case name; several lines of one field that differ are
    /// joined by `, `.
    var fields: [String: String] = [:]
    /// Whether digest authentication is asked for, and basic is not.
    var asksForDigest = false
    /// Seconds that `Retry-After` asks to wait, of either form.
    var retryAfter: Double?

    subscript(_ name: String) -> String? { fields[name] }

    /// The `Content-Length` field, unless chunks mark the end: then it means nothing (RFC 9112
    /// §6.3).
    private var lengthField: String? {
        let coding = self["transfer-encoding"]?.lowercased() ?? "identity"
        return coding == "identity" ? self["content-length"] : nil
    }

    /// The schemes that a 401 asks for, where segget can log in by none of them without being told to; `nil`
    /// otherwise (RFC 9110 §11.6.1).
    var unusableSchemes: [String]? {
        guard let field = self["www-authenticate"] else { return nil }
        let offered = Set(
            field.split(separator: ",").map { challenge in
                challenge.drop { $0 == " " }.prefix { $0 != " " }.lowercased()
            })
        guard offered.isDisjoint(with: ["basic", "digest", "bearer"]) else { return nil }
        let found = ["Negotiate", "NTLM"].filter { offered.contains($0.lowercased()) }
        return found.isEmpty ? nil : found
    }

    /// Seconds that a `Retry-After` field asks to wait (RFC 9110 §10.2.3).
    ///
    /// A date counts from the reply's own `Date`: the clock of this machine may be another one.
    ///
    /// - Parameters:
    ///   - now: What this machine's clock says, in seconds since 1970, for replies without a `Date`.
    ///   - time: Turns an HTTP date into seconds since 1970.
    /// - Returns: `nil` for a field that is missing, malformed, or asks for no wait.
    func wait(now: Int64, time: (String) -> Int64?) -> Double? {
        guard let field = self["retry-after"] else { return nil }
        let wait =
            Int64(digits: field)
            ?? self["retry-after"].flatMap(time).map { $0 - (self["date"].flatMap(time) ?? now) }
        return wait.flatMap { $0 > 0 ? Double($0) : nil }
    }

    /// `Content-Length` in bytes, when it can be believed: one number, which may be said again
    /// (RFC 9110 §8.6), of a size that a file can have.
    var contentLength: Int64? {
        guard let field = lengthField else { return nil }
        guard let length = Int64(digits: field) ?? Self.same(in: field), length <= Self.largestSize
        else { return nil }
        return length
    }

    /// The number that a list of numbers says several times.
    private static func same(in list: String) -> Int64? {
        let all = Set(
            list.split(separator: ",", omittingEmptySubsequences: false).map { item in
                let words = item.split(separator: " ")
                return words.count == 1 ? Int64(digits: words[0]) : nil
            })
        return all.count == 1 ? all.first ?? nil : nil
    }

    /// Whether its end shows that all of the body has come, by a length or by chunks.
    var provesItsEnd: Bool {
        contentLength != nil
            || self["transfer-encoding"]?.lowercased().contains("chunked") == true
    }

    /// Whether there is a `Content-Length` that cannot be believed.
    ///
    /// libcurl takes the last of several, and reads on until the connection closes when one does not
    /// fit into 63 bits.
    var lengthBreach: ContractBreach? {
        guard let field = lengthField, contentLength == nil else { return nil }
        return .contentLengthUnusable(field)
    }

    /// The content codings of the body in lower case, joined by `, `; `nil` when the bytes are the file's
    /// own (RFC 9110 §8.4).
    var coding: String? {
        guard let field = self["content-encoding"] else { return nil }
        let codings = field.split(separator: ",").map { item in
            String(item.filter { $0 != " " && $0 != "\t" }).lowercased()
        }.filter { !$0.isEmpty && !Self.meaninglessCodings.contains($0) }
        return codings.isEmpty ? nil : codings.joined(separator: ", ")
    }

    /// What stands in `Content-Encoding` without saying that the bytes are encoded: nothing, names of
    /// character sets, and how a client had uploaded the file to S3.
    private static let meaninglessCodings: Set = [
        "identity", "none", "null", "binary", "plain", "text", "raw", "7bit", "8bit", "ascii",
        "us-ascii", "utf-8", "utf8", "utf-16", "iso-8859-1", "latin1", "windows-1252",
        "aws-chunked",
    ]

    /// What the reply says about the version of the file, with `size` as its length.
    ///
    /// `time` turns an HTTP date into seconds since 1970.
    func identity(size: Int64?, time: (String) -> Int64?) -> RemoteIdentity {
        let modified = self["last-modified"]
        // RFC 9110 §8.8.2.2: strong when at least a second older than the reply. What looks like a weak
        // tag is no date, though parsers are lenient.
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

/// The value of a `Content-Range` field for a range that is served (RFC 9110 §14.4).
struct ContentRange: Sendable, Hashable {
    /// The range that follows, half-open.
    var range: ByteRange
    /// Length of the complete representation in bytes; `nil` for `*`.
    var total: Int64?

    /// Reads `bytes first-last/complete`; `nil` when it is malformed or impossible.
    init?(_ text: String) {
        // By bytes: every reply to a range has one.
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

extension Int64 {
    /// Reads a number of digits only, as HTTP's `1*DIGIT`: no sign, no space.
    init?(digits text: some StringProtocol) {
        var value: Int64 = 0
        for byte in text.utf8 {
            guard (48...57).contains(byte) else { return nil }
            let (tens, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, isLarger) = tens.addingReportingOverflow(Int64(byte) - 48)
            guard !isTooLarge, !isLarger else { return nil }
            value = sum
        }
        guard !text.isEmpty else { return nil }
        self = value
    }
}
