public import Assembler

/// The connections and servers of a download at one moment.
///
/// Both lists are empty while nothing is transferred: before the server has responded, between two
/// attempts, during verification, and after the end.
public struct DownloadTraffic: Sendable, Hashable {
    /// The servers, the primary one first, including dropped ones.
    public var servers: [Server] = []
    /// The connections, including idle ones.
    ///
    /// A second request for the last bytes of a file (a hedge) is not included.
    public var connections: [Connection] = []

    package init(servers: [Server] = [], connections: [Connection] = []) {
        self.servers = servers
        self.connections = connections
    }

    /// A server that was given for the file.
    public struct Server: Sendable, Hashable {
        /// The given URL of the server, without credentials and query.
        public var url: String
        /// Whether the bytes of the server are used.
        public var standing: Standing
        /// The number of bytes of the file that the server has sent since the current attempt
        /// started.
        public var bytes: Int64
        /// The number of connections with an active request to the server.
        public var connections: Int

        package init(url: String, standing: Standing, bytes: Int64, connections: Int) {
            self.url = url
            self.standing = standing
            self.bytes = bytes
            self.connections = connections
        }
    }

    /// Whether the bytes of a server are used.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Standing: Sendable, Hashable {
        /// The bytes are used.
        case used
        /// The bytes are used once a sample of them equals the bytes on disk.
        case awaitsSample
        /// The bytes are no longer used.
        case dropped(MirrorFault)
    }

    /// A connection of the download.
    public struct Connection: Sendable, Hashable {
        /// The index of its server in ``DownloadTraffic/servers``.
        public var server: Int
        /// The current activity.
        public var activity: Activity
        /// The bytes of the file that its request has to deliver, half-open; `nil` without a
        /// request.
        ///
        /// The end is `Int64.max` if the size is unknown. The end moves to the front when another
        /// connection takes over the last bytes of the range.
        public var range: ByteRange?
        /// The position of the next expected byte; `nil` without a request.
        public var position: Int64?
        /// The smoothed rate in bytes per second; 0 if nothing was measured or nothing is received.
        public var bytesPerSecond: Double
        /// The IP address of the server or proxy; `nil` until the connection is established.
        public var address: String?
        /// The HTTP version of the response, such as `1.1` or `2`; `nil` before a response.
        public var httpVersion: String?
        /// The smoothed round-trip time to the peer, as the kernel measures it; `nil` if unknown.
        public var roundTrip: Duration?

        package init(
            server: Int, activity: Activity, range: ByteRange? = nil, position: Int64? = nil,
            bytesPerSecond: Double, address: String? = nil, httpVersion: String? = nil,
            roundTrip: Duration? = nil
        ) {
            self.server = server
            self.activity = activity
            self.range = range
            self.position = position
            self.bytesPerSecond = bytesPerSecond
            self.address = address
            self.httpVersion = httpVersion
            self.roundTrip = roundTrip
        }
    }

    /// The activity of a connection.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Activity: Sendable, Hashable {
        /// The connection is being established.
        case connecting
        /// The request was sent, and no response head has arrived.
        case awaitsReply
        /// The body of a response arrives.
        case receives
        /// The last request failed, and the connection waits before the next attempt.
        case awaitsRetry
        /// The connection is idle.
        case rests
    }
}
