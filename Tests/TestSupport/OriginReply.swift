/// The reply of a ``Origin``: an HTTP reply with any faults, raw bytes, or no reply.
public struct OriginReply: Sendable {
    /// The source of the body.
    public enum Body: Sendable {
        /// No body.
        case none
        /// These bytes.
        case bytes([UInt8])
        /// These bytes of this file.
        case content(Content, Range<Int64>)

        /// Length in bytes.
        public var count: Int64 {
            switch self {
            case .none: 0
            case .bytes(let bytes): Int64(bytes.count)
            case .content(_, let range): Int64(range.count)
            }
        }
    }

    /// How the end of the body is marked for the client.
    public enum Framing: Sendable {
        /// A `Content-Length` field; see also ``OriginReply/claimedLength``.
        case contentLength
        /// `Transfer-Encoding: chunked`.
        case chunked
        /// The connection is closed.
        case close
        /// Only ``OriginReply/headers`` mark it; no field is added.
        case asIs
    }

    /// How a connection is closed during a reply.
    public enum Cut: Sendable {
        /// By FIN, after all written bytes were sent.
        case fin
        /// By RST, after all written bytes were received.
        case rst
    }

    /// An informational (1xx) reply.
    public struct Interim: Sendable {
        /// The status, such as 103.
        public var status: Int
        /// Its fields.
        public var headers: [HeaderField]

        /// Makes an informational reply.
        public init(_ status: Int, _ headers: [HeaderField] = []) {
            self.status = status
            self.headers = headers
        }
    }

    /// Whether the reply is HTTP, raw bytes or nothing.
    enum Shape: Sendable {
        case http
        case raw
        case nothing(Cut)
    }

    var shape = Shape.http

    /// The status code.
    public var status: Int
    /// The reason phrase; `nil` for the registered one.
    public var reason: String?
    /// The header fields, sent unchanged; the framing appends its own field.
    public var headers: [HeaderField]
    /// The body; with `HEAD` only its length is used.
    public var body: Body
    /// How the end of the body is marked.
    public var framing = Framing.contentLength
    /// A false `Content-Length`; the connection is closed after the reply.
    public var claimedLength: Int64?
    /// Informational replies to send first.
    public var interim: [Interim] = []
    /// Speed of the body in bytes a second; `nil` for no limit.
    public var pace: Double?
    /// Seconds to wait before the first byte of the reply; `.infinity` sends no reply.
    public var delayBeforeHeaders = 0.0
    /// Body bytes after which the connection is cut.
    public var cutAfter: Int64?
    /// How the connection is cut.
    public var cut = Cut.fin
    /// Body bytes after which the connection stalls.
    public var stallAfter: Int64?
    /// Duration of the stall in seconds; by default until the peer closes or the origin stops.
    public var stallFor = Double.infinity
    /// Body bytes after which the connection stalls until its end, even if an earlier stall has
    /// ended.
    public var silentAfter: Int64?
    /// Once it is true, a stall ends and the rest of the body is sent without a limit of speed.
    public var release: Guarded<Bool>?
    /// Whether to send `Connection: close`, and to close.
    public var closeAfter = false
    /// Bytes to corrupt: offsets in the file for ``Body/content(_:_:)``, else in the body.
    public var corruptAt: [Int64] = []
    /// Whether a reply to `HEAD` has the body.
    public var sendsBodyToHead = false

    /// Makes a plain reply.
    public init(
        status: Int = 200, reason: String? = nil, headers: [HeaderField] = [], body: Body = .none
    ) {
        self.status = status
        self.reason = reason
        self.headers = headers
        self.body = body
    }

    /// A reply with a short text as its body.
    public static func text(
        _ status: Int, _ text: String = "", headers: [HeaderField] = []
    ) -> OriginReply {
        OriginReply(status: status, headers: headers, body: .bytes(Array(text.utf8)))
    }

    /// Sends exactly these bytes, then closes; pace, cut and stall count them from 0.
    public static func raw(_ bytes: [UInt8]) -> OriginReply {
        var reply = OriginReply(body: .bytes(bytes))
        reply.shape = .raw
        return reply
    }

    /// Sends exactly this text, then closes.
    public static func raw(_ text: String) -> OriginReply { raw(Array(text.utf8)) }

    /// The connection is closed without a reply.
    public static let closeWithoutReply = nothing(.fin)

    /// The connection is reset without a reply.
    public static let resetWithoutReply = nothing(.rst)

    private static func nothing(_ cut: Cut) -> OriginReply {
        var reply = OriginReply()
        reply.shape = .nothing(cut)
        return reply
    }

    /// Returns a changed copy of this reply.
    public func with(_ change: (inout OriginReply) -> Void) -> OriginReply {
        var copy = self
        change(&copy)
        return copy
    }

    /// The value of the first field of this name, case-insensitively.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Replaces all fields of this name by one with `value`; `nil` only removes them.
    public mutating func set(_ name: String, _ value: String?) {
        headers.removeAll { $0.name.lowercased() == name.lowercased() }
        if let value { headers.append(HeaderField(name, value)) }
    }
}
