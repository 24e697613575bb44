// HTTP: what a URL, a reply, a range and a date mean, and whether a body may be written. Pure; it
// knows RFC 9110 and libcurl's parsers of URLs and dates, and never a socket, a file or a clock.

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
    /// Dates with which the same strong tag came, and a sample was the same.
    var vouchedDates: Set<String> = []
    /// Whether libcurl decodes the body: then its length and validators are not the file's.
    var isDecoded = false

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

    /// Whether a reply leaves out the date that the version is known by: that the server has compared
    /// it is no more than assumed.
    func isUndated(_ reply: Reply) -> Bool {
        identity.strongETag == nil && identity.lastModified != nil
            && reply["last-modified"] == nil
    }

    /// Whether a 416 states the size of the version that is being put together (RFC 9110 §14.4): then the
    /// range is one that the file has, and the server only serves no such ranges.
    private func isWithinStatedSize(_ reply: Reply) -> Bool {
        guard let size = identity.size, let asked, asked.start < size else { return false }
        return reply["content-range"] == "bytes */\(size)"
    }

    /// The bytes of the file that the body is; `nil` for one of unknown length from 0.
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
        // What is decoded has neither the length nor the validators of what is sent.
        guard !isDecoded else { return nil }
        if let size = identity.size, let length = reply.contentLength, length != size {
            throw .otherSize(expected: size, got: length)
        }
        try checkVersion(of: reply)
        guard asked == nil else { throw .wholeFileForRange }
        return (identity.size ?? reply.contentLength).map { ByteRange(0, $0) }
    }

    /// Checks that the reply is about the version that is being put together, in the same coding.
    private func checkVersion(of reply: Reply) throws(ContractBreach) {
        try checkTag(of: reply)
        try checkDate(of: reply)
        try checkCoding(of: reply)
    }

    private func checkTag(of reply: Reply) throws(ContractBreach) {
        // Every 206 carries the tag that a 200 would have had (RFC 9110 §15.3.7); one that comes where
        // there was none is as much another answer as one that is missing.
        let tag = reply["etag"]
        guard tag != identity.etag, tag != nil || !identity.headOnly.contains(.etag) else { return }
        throw .otherETag(expected: identity.etag, got: tag)
    }

    private func checkDate(of reply: Reply) throws(ContractBreach) {
        let date = reply["last-modified"]
        guard date != identity.lastModified else { return }
        if identity.strongETag != nil {
            // The tag decides, unless the date contradicts it: some servers compute the tag once, and
            // others differ in the date alone. A sample shows which it is.
            guard let date, identity.lastModified != nil, !vouchedDates.contains(date) else {
                return
            }
            throw .otherLastModified(expected: identity.lastModified, got: date)
        }
        if date == nil {
            if identity.headOnly.contains(.lastModified) { return }
            // A 206 to If-Range may leave Last-Modified out: the server has compared it.
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
    /// Whether a date alone contradicts a strong tag that is the same: then a sample decides.
    func isDoubt(of identity: RemoteIdentity) -> Bool {
        guard case .otherLastModified(_, let got?) = self else { return false }
        return identity.strongETag != nil && got != identity.lastModified
    }
}
