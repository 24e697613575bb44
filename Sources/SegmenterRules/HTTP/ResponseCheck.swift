// HTTP: the meaning of responses, ranges and status codes, and whether a body may be written. Pure.
// This folder implements RFC 9110, and knows no sockets, files or clocks.

/// Decides whether the body of a response may be written to the file.
///
/// Pure. libcurl does not check the response to `CURLOPT_RANGE`. A body is written only if this
/// type has accepted its head.
package struct ResponseCheck: Sendable {
    /// The requested bytes; `nil` for the whole file.
    package var asked: ByteRange?
    /// The version of the file that is being downloaded.
    package var identity: RemoteIdentity
    /// Whether the request contained `If-Range`.
    package var sentIfRange: Bool
    /// Dates that arrived with the same strong tag and for which a sample was equal.
    package var vouchedDates: Set<String> = []
    /// Whether libcurl decodes the body, so that length and validators do not belong to the file.
    package var isDecoded = false

    package init(
        asked: ByteRange? = nil, identity: RemoteIdentity, sentIfRange: Bool,
        vouchedDates: Set<String> = [], isDecoded: Bool = false
    ) {
        self.asked = asked
        self.identity = identity
        self.sentIfRange = sentIfRange
        self.vouchedDates = vouchedDates
        self.isDecoded = isDecoded
    }

    /// The decision about a response.
    package enum Verdict: Hashable {
        /// The body may be written: this range; `nil` is a body of unknown length that starts at 0.
        case accept(ByteRange?)
        /// The response does not match the request; nothing of its body may be written.
        case breach(ContractBreach)
        /// The response has an error status; its body is not part of the file.
        case status(Int)
    }

    /// Returns the decision about a response, from its head.
    package func verdict(on reply: Reply) -> Verdict {
        switch reply.status {
        case 200, 206:
            do throws(ContractBreach) {
                return .accept(try range(of: reply))
            } catch {
                return .breach(error)
            }
        case 416:
            return .breach(isWithinStatedSize(reply) ? .rangeRefused : .rangeNotSatisfiable)
        case 201..<300, 304: return .breach(.unexpectedStatus(reply.status))
        default: return .status(reply.status)
        }
    }

    /// Returns whether a response omits the `Last-Modified` that identifies the version.
    ///
    /// segget then assumes that the server has compared the date.
    package func isUndated(_ reply: Reply) -> Bool {
        identity.strongETag == nil && identity.lastModified != nil
            && reply["last-modified"] == nil
    }

    /// Returns whether a 416 states the size of the current version (RFC 9110 §14.4).
    ///
    /// The range is then inside the file, and the server only refuses such ranges.
    private func isWithinStatedSize(_ reply: Reply) -> Bool {
        guard let size = identity.size, let asked, asked.start < size else { return false }
        return reply["content-range"] == "bytes */\(size)"
    }

    /// Returns the bytes of the file that the body contains; `nil` for unknown length from 0.
    private func range(of reply: Reply) throws(ContractBreach) -> ByteRange? {
        guard asked != nil || reply.status == 200 else { throw .unexpectedStatus(reply.status) }
        guard let asked, let part = try reply.part(asked: asked) else {
            return try whole(reply)
        }
        guard part.total == identity.size else {
            throw .otherSize(expected: identity.size, got: part.total)
        }
        try reply.check(part, asked: asked)
        try checkVersion(of: reply)
        return part.range
    }

    private func whole(_ reply: Reply) throws(ContractBreach) -> ByteRange? {
        if asked == nil { _ = try reply.part(asked: nil) }
        try checkCoding(of: reply)
        // The decoded body has neither the length nor the validators of the response.
        guard !isDecoded else { return nil }
        if let size = identity.size, let length = reply.contentLength, length != size {
            throw .otherSize(expected: size, got: length)
        }
        try checkVersion(of: reply)
        guard asked == nil else { throw .wholeFileForRange }
        return (identity.size ?? reply.contentLength).map { ByteRange(0, $0) }
    }

    /// Checks that the response is of the current version, in the same coding.
    private func checkVersion(of reply: Reply) throws(ContractBreach) {
        try checkTag(of: reply)
        try checkDate(of: reply)
        try checkCoding(of: reply)
    }

    private func checkTag(of reply: Reply) throws(ContractBreach) {
        // A 206 carries the same tag as a 200 would (RFC 9110 §15.3.7). Both an additional tag and
        // a missing tag show a different version.
        let tag = reply["etag"]
        guard tag != identity.etag, tag != nil || !identity.headOnly.contains(.etag) else { return }
        throw .otherETag(expected: identity.etag, got: tag)
    }

    private func checkDate(of reply: Reply) throws(ContractBreach) {
        let date = reply["last-modified"]
        guard date != identity.lastModified else { return }
        if identity.strongETag != nil {
            // The tag decides, unless the date contradicts it. Some servers compute the tag only
            // once, and others differ in the date only. A sample decides between these cases.
            guard let date, identity.lastModified != nil, !vouchedDates.contains(date) else {
                return
            }
            throw .otherLastModified(expected: identity.lastModified, got: date)
        }
        if date == nil {
            if identity.headOnly.contains(.lastModified) { return }
            // A 206 to If-Range may omit Last-Modified, because the server has compared it.
            if reply.status == 206, sentIfRange || reply["etag"] != nil { return }
        }
        throw .otherLastModified(expected: identity.lastModified, got: date)
    }

    private func checkCoding(of reply: Reply) throws(ContractBreach) {
        guard reply.coding != identity.coding else { return }
        throw .contentCoding(reply["content-encoding"] ?? "identity")
    }
}

extension ContractBreach {
    /// Returns whether only a date contradicts an equal strong tag, so that a sample decides.
    package func isDoubt(of identity: RemoteIdentity) -> Bool {
        guard case .otherLastModified(_, let got?) = self else { return false }
        return identity.strongETag != nil && got != identity.lastModified
    }
}
