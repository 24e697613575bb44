// The bytes of a file that a body contains. Only this file distinguishes a part from the whole
// file.
extension Reply {
    /// Returns the `Content-Range` of a 200 or 206; `nil` if the body is the whole file.
    ///
    /// A response with `Content-Range` is a part, whatever its status, because some servers answer
    /// a range request with 200. The response to a request without a range must be the whole file.
    ///
    /// - Parameter asked: The requested bytes; `nil` for the whole file.
    /// - Returns: The part, with a plausible total size; not yet compared with the requested range.
    /// - Throws: The reason why the bytes of the body are unknown.
    package func part(asked: ByteRange?) throws(ContractBreach) -> ContentRange? {
        let isMultipart =
            self["content-type"]?.lowercased().hasPrefix("multipart/byteranges") == true
        // Each of several ranges has its own header in the body (RFC 9110 §14.6). Without a range
        // in the request, this media type is that of the file itself.
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

    /// Checks that a part starts at the requested position and has its stated length.
    ///
    /// A server may send less than requested. A response with status 200 must have exactly the
    /// requested end, because such a server may not support ranges correctly.
    ///
    /// - Throws: The difference.
    package func check(_ part: ContentRange, asked: ByteRange) throws(ContractBreach) {
        let end = min(asked.end, part.total ?? asked.end)
        guard part.range.start == asked.start, part.range.end <= asked.end,
            status == 206 || part.range.end == end
        else { throw .otherRange(asked: asked, got: part.range) }
        if let breach = lengthBreach { throw breach }
        if let length = contentLength, length != part.range.count {
            throw .otherLength(expected: part.range.count, got: length)
        }
    }

    /// Returns whether a body without `Content-Range` may be only the requested range.
    ///
    /// An intermediary may have removed the `Content-Range` field and changed the status.
    ///
    /// - Parameters:
    ///   - asked: The requested bytes; `nil` for the whole file.
    ///   - length: The length of the body in bytes; `nil` if unknown.
    /// - Returns: Whether the body is exactly as long as the requested range.
    package func mayBePart(of asked: ByteRange?, length: Int64?) -> Bool {
        guard let asked, self["content-range"] == nil else { return false }
        return length == asked.count
    }
}
