public import Assembler

/// What a download has under way at a moment: its connections, and the servers that they work for.
///
/// Both are empty while nothing is fetched: before the server has answered, between two attempts, while the
/// file is verified, and after the end.
public struct DownloadTraffic: Sendable, Hashable {
    /// The servers, the primary one first, those that were dropped included.
    public var servers: [Server] = []
    /// The connections, those included that have nothing to do.
    ///
    /// A second request for the last bytes of a file is not among them.
    public var connections: [Connection] = []

    /// A server that the file comes from, or was to come from.
    public struct Server: Sendable, Hashable {
        /// The URL that was given for it, without credentials and query.
        public var url: String
        /// Whether its bytes are used.
        public var standing: Standing
        /// Bytes of the file that it has sent since the present attempt began.
        public var bytes: Int64
        /// Connections that have a request of its under way.
        public var connections: Int
    }

    /// Whether a server's bytes are used.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Standing: Sendable, Hashable {
        /// They are.
        case used
        /// Not before a sample of them was compared with what is there.
        case awaitsSample
        /// Not any more.
        case dropped(MirrorFault)
    }

    /// A connection.
    public struct Connection: Sendable, Hashable {
        /// The place of its server in ``DownloadTraffic/servers``.
        public var server: Int
        /// What it does.
        public var activity: Activity
        /// The bytes of the file that its request is to bring, half-open; `nil` when it has none.
        ///
        /// It ends at `Int64.max` where the size is unknown, and further to the front as soon as another
        /// connection has taken its rest.
        public var range: ByteRange?
        /// The next byte that it expects; `nil` when it has no request.
        public var position: Int64?
        /// Bytes per second, smoothed; 0 when nothing was measured, and while it receives nothing.
        public var bytesPerSecond: Double
        /// Where it leads: an IP address, of the proxy where there is one; `nil` as long as it is not made.
        public var address: String?
        /// The version of HTTP that it was answered over, such as `1.1` or `2`; `nil` before that.
        public var httpVersion: String?
        /// The round trip to there, smoothed, as the kernel measures it; `nil` where that is not known.
        public var roundTrip: Duration?
    }

    /// What a connection does.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Activity: Sendable, Hashable {
        /// It is being made.
        case connecting
        /// The request went out, and no head of a reply has come.
        case awaitsReply
        /// The body of a reply comes.
        case receives
        /// Its last request failed: it waits before it tries again.
        case awaitsRetry
        /// It has nothing to do.
        case rests
    }
}
