/// The state of receiving the response heads of one request.
struct ReplyHead {
    /// The maximum size of all heads and trailers of one request, in bytes and in lines.
    ///
    /// libcurl keeps all of them in memory, including those of interim responses.
    private static let longest = (bytes: 256 << 10, lines: 4096)

    /// The head of the final response; `nil` before it is known.
    private(set) var reply: Reply?
    /// A 401 or 407 that libcurl may handle by a second request on the same handle.
    private(set) var challenge: Reply?
    /// The number of bytes of all received header lines, including trailers.
    private var bytes = 0
    private var lines = 0

    /// Counts a header line.
    ///
    /// - Returns: Whether the heads are still within the limit.
    mutating func count(_ length: Int) -> Bool {
        bytes += length
        lines += 1
        return bytes <= Self.longest.bytes && lines <= Self.longest.lines
    }

    /// Records the head of a response that is not an interim one.
    ///
    /// Digest authentication starts with a 401 or 407 (RFC 7616 §3.3). After this call, libcurl
    /// sends a second request if it can. If it cannot, it delivers the body or ends the transfer.
    ///
    /// - Returns: Whether this is certainly the head of the final response.
    mutating func take(_ head: Reply) -> Bool {
        challenge = [401, 407].contains(head.status) ? head : nil
        return challenge == nil
    }

    /// Records that `head` is the head of the final response.
    mutating func settle(on head: Reply) {
        challenge = nil
        reply = head
    }
}
