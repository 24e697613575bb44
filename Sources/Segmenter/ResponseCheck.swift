import Assembler

/// Decides whether the body of a reply may be written into the file.
///
/// Pure.
///
/// libcurl does not check this for `CURLOPT_RANGE`; a body whose head was not accepted here never
/// reaches the disk.
struct ResponseCheck: Sendable {
    /// The bytes that were asked for; `nil` for the whole file.
    var asked: ByteRange?
    /// The version that is being put together.
    var identity: RemoteIdentity
    /// Whether the request carried `If-Range`.
    var sentIfRange: Bool

    /// What to do with a reply.
    enum Verdict: Hashable {
        /// Write the body, which is this range; `nil` stands for a body of unknown length from 0.
        case accept(ByteRange?)
        /// Not ours: nothing of the body may be written.
        case breach(ContractBreach)
        /// An error status; the body is no part of the file.
        case status(Int)
    }

    /// Judges a reply by its head.
    func verdict(on reply: Reply) -> Verdict {
        switch reply.status {
        case 206: asked == nil ? .breach(.unexpectedStatus(206)) : partial(reply)
        case 200: whole(reply)
        case 416: .breach(.rangeNotSatisfiable)
        case 201..<300, 304: .breach(.unexpectedStatus(reply.status))
        default: .status(reply.status)
        }
    }

    /// Whether a reply leaves out the date that the version is known by: that the server has compared
    /// it is no more than assumed.
    func isUndated(_ reply: Reply) -> Bool {
        identity.strongETag == nil && identity.lastModified != nil
            && reply["last-modified"] == nil
    }

    private func partial(_ reply: Reply) -> Verdict {
        guard let asked else { return .breach(.unexpectedStatus(206)) }
        guard !reply.isMultipart else { return .breach(.severalRanges) }
        guard let field = reply["content-range"], let got = ContentRange(field),
            let total = got.total
        else { return .breach(.contentRangeUnusable(reply["content-range"])) }
        guard total == identity.size else {
            return .breach(.otherSize(expected: identity.size, got: total))
        }
        // A server may cap a range: less than asked is fine, from the start that was asked.
        guard got.range.start == asked.start, got.range.end <= asked.end else {
            return .breach(.otherRange(asked: asked, got: got.range))
        }
        if let breach = reply.lengthBreach { return .breach(breach) }
        if let length = reply.contentLength, length != got.range.count {
            return .breach(.otherLength(expected: got.range.count, got: length))
        }
        if let breach = validatorBreach(reply) ?? reply.codingBreach { return .breach(breach) }
        return .accept(got.range)
    }

    private func whole(_ reply: Reply) -> Verdict {
        if let breach = reply.codingBreach ?? reply.lengthBreach { return .breach(breach) }
        if let size = identity.size, let length = reply.contentLength, length != size {
            return .breach(.otherSize(expected: size, got: length))
        }
        if let breach = validatorBreach(reply) { return .breach(breach) }
        guard asked == nil else { return .breach(.wholeFileForRange) }
        return .accept((identity.size ?? reply.contentLength).map { ByteRange(0, $0) })
    }

    /// Whether the reply is about another version than the one that is being put together.
    private func validatorBreach(_ reply: Reply) -> ContractBreach? {
        // Every 206 carries the tag that a 200 would have had (RFC 9110 §15.3.7); one that comes where
        // there was none is as much another answer as one that is missing.
        let (tag, date) = (reply["etag"], reply["last-modified"])
        guard tag == identity.etag else { return .otherETag(expected: identity.etag, got: tag) }
        guard identity.strongETag == nil, date != identity.lastModified else { return nil }
        // A 206 to If-Range may leave Last-Modified out: the server has compared it.
        if date == nil, reply.status == 206, sentIfRange || tag != nil { return nil }
        return .otherLastModified(expected: identity.lastModified, got: date)
    }
}
