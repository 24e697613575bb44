import Assembler

// Which bytes of a file a body brings: the one place where a part is distinguished from the whole
// file.
extension Reply {
    /// What `Content-Range` says of the body of a 200 or 206; `nil` when the body is the whole file.
    ///
    /// A reply with `Content-Range` is a part, whatever its status: some servers answer a range with 200.
    /// What was not asked for by a range is the whole file, or it is nothing that can be used.
    ///
    /// - Parameter asked: The bytes that the request asked for; `nil` for the whole file.
    /// - Returns: The part, with a total that a file can have; not compared with what was asked for yet.
    /// - Throws: Why nobody can say which bytes these are.
    func part(asked: ByteRange?) throws(ContractBreach) -> ContentRange? {
        let isMultipart =
            self["content-type"]?.lowercased().hasPrefix("multipart/byteranges") == true
        // Each of several ranges has a head of its own in the body (RFC 9110 §14.6). Without a range in
        // the request it is only what the file is called.
        guard !isMultipart || status == 200 && asked == nil else { throw .severalRanges }
        let field = self["content-range"]
        guard status == 206 || field != nil else {
            if let breach = lengthBreach { throw breach }
            return nil
        }
        guard let field, let part = ContentRange(field), let total = part.total,
            total <= Self.largestSize
        else { throw .contentRangeUnusable(field) }
        guard asked == nil else { return part }
        guard status == 200 else { throw .unexpectedStatus(status) }
        try check(part, asked: ByteRange(0, total))
        return nil
    }

    /// Checks that a part is the one that was asked for, and as long as it says.
    ///
    /// A server may cap a range: less than asked is fine, from the start that was asked. One that says 200
    /// has to be right to the byte: it knows ranges by hearsay.
    ///
    /// - Throws: How it differs.
    func check(_ part: ContentRange, asked: ByteRange) throws(ContractBreach) {
        let end = min(asked.end, part.total ?? asked.end)
        guard part.range.start == asked.start, part.range.end <= asked.end,
            status == 206 || part.range.end == end
        else { throw .otherRange(asked: asked, got: part.range) }
        if let breach = lengthBreach { throw breach }
        if let length = contentLength, length != part.range.count {
            throw .otherLength(expected: part.range.count, got: length)
        }
    }

    /// Whether a body without `Content-Range` may be no more than the range that was asked for, its
    /// `Content-Range` left out and its status changed on the way.
    ///
    /// - Parameters:
    ///   - asked: The bytes that the request asked for; `nil` for the whole file.
    ///   - length: Its length in bytes, as far as it is known.
    /// - Returns: Whether it is just as long as what was asked for.
    func mayBePart(of asked: ByteRange?, length: Int64?) -> Bool {
        guard let asked, self["content-range"] == nil else { return false }
        return length == asked.count
    }
}
