/// What a ``FaultOrigin`` does with a request: an HTTP reply in which every part can be bent, raw
/// bytes, or nothing at all.
public struct OriginReply: Sendable {
    /// Where the body comes from.
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
        /// Only by what ``OriginReply/headers`` say; nothing is added.
        case asIs
    }

    /// How a connection is closed in the middle of things.
    public enum Cut: Sendable {
        /// In order (FIN), after all that was written has gone out.
        case fin
        /// By a reset (RST), after all that was written has arrived.
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

    /// The kind of thing that is sent.
    enum Shape: Sendable {
        case http
        case raw
        case nothing(Cut)
    }

    var shape = Shape.http

    /// The status code.
    public var status: Int
    /// The reason phrase; `nil` is the usual one.
    public var reason: String?
    /// The fields, in order, as they are; the framing adds its own behind them.
    public var headers: [HeaderField]
    /// The body; for `HEAD` only its length counts.
    public var body: Body
    /// How the end of the body is marked.
    public var framing = Framing.contentLength
    /// The `Content-Length` to send in place of the right one; the connection is closed afterwards.
    public var claimedLength: Int64?
    /// Informational replies to send first.
    public var interim: [Interim] = []
    /// Speed of the body in bytes a second, smooth; `nil` is as fast as it goes.
    public var pace: Double?
    /// Seconds to wait before the first byte of the reply; `.infinity` never answers.
    public var delayBeforeHeaders = 0.0
    /// Body bytes after which the connection is cut.
    public var cutAfter: Int64?
    /// How it is cut.
    public var cut = Cut.fin
    /// Body bytes after which the connection falls silent.
    public var stallAfter: Int64?
    /// Seconds that it stays silent; by default until the peer closes or the origin stops.
    public var stallFor = Double.infinity
    /// Body bytes after which it falls silent for good, though a silence before may have ended.
    public var silentAfter: Int64?
    /// Once it is true, a silence ends and the rest of the body goes out without a pace.
    public var release: Guarded<Bool>?
    /// Whether to say `Connection: close`, and to close.
    public var closeAfter = false
    /// Bytes to damage: offsets in the file for ``Body/content(_:_:)``, else in the body.
    public var corruptAt: [Int64] = []
    /// Whether the body is sent even in reply to `HEAD`.
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

    /// Exactly these bytes, then the connection is closed; pace, cut and stall count them from 0.
    public static func raw(_ bytes: [UInt8]) -> OriginReply {
        var reply = OriginReply(body: .bytes(bytes))
        reply.shape = .raw
        return reply
    }

    /// Exactly this text, then the connection is closed.
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

    /// This reply with a change, for one-liners.
    public func with(_ change: (inout OriginReply) -> Void) -> OriginReply {
        var copy = self
        change(&copy)
        return copy
    }

    /// The value of the first field of this name, in any case.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Puts `value` in place of all fields of this name; `nil` only removes them.
    public mutating func set(_ name: String, _ value: String?) {
        headers.removeAll { $0.name.lowercased() == name.lowercased() }
        if let value { headers.append(HeaderField(name, value)) }
    }
}
