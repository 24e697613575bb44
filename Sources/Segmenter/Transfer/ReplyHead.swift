/// What has come of the heads of the replies to one request.
struct ReplyHead {
    /// The most that heads and trailers of one request may hold, in bytes and in lines: libcurl keeps
    /// them all in memory, interim replies too.
    private static let longest = (bytes: 256 << 10, lines: 4096)

    /// The head of the final response.
    private(set) var reply: Reply?
    /// A 401 or 407 that libcurl may answer itself, with a second request on the same handle.
    private(set) var challenge: Reply?
    /// Header lines that have come, trailers included.
    private var bytes = 0
    private var lines = 0

    /// Counts a header line.
    ///
    /// - Returns: Whether the head is not too long yet.
    mutating func count(_ length: Int) -> Bool {
        bytes += length
        lines += 1
        return bytes <= Self.longest.bytes && lines <= Self.longest.lines
    }

    /// Takes the head of a response that is no interim one.
    ///
    /// Digest authentication begins with a refusal (RFC 7616 §3.3). libcurl answers it after this call,
    /// when it can; the body that it shows, or the end, shows that it cannot.
    ///
    /// - Returns: Whether it is the final one for certain.
    mutating func take(_ head: Reply) -> Bool {
        challenge = [401, 407].contains(head.status) ? head : nil
        return challenge == nil
    }

    /// A head has turned out to be that of the final response.
    mutating func settle(on head: Reply) {
        challenge = nil
        reply = head
    }
}
