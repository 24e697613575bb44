// The connections and servers of a task that runs.
extension TaskDetail {
    /// A connection.
    public struct Connection: Sendable, Hashable, Codable {
        /// The place of its server in ``TaskDetail/servers``, from 0.
        public var server: Int
        /// What it does: `connecting`, `waiting_for_response`, `receiving`, `waiting_to_retry` or `idle`.
        public var state: String
        /// First byte of what it has asked for; `nil` when it has no request.
        public var start: Int64?
        /// The byte behind the last of that; `nil` also where the size is unknown.
        public var end: Int64?
        /// The next byte that it expects; `nil` when it has no request.
        public var position: Int64?
        /// Bytes per second, smoothed; 0 when nothing was measured, and while it receives nothing.
        public var bytesPerSecond: Double
        /// Where it leads: an IP address, of the proxy where there is one; `nil` as long as it is not made.
        public var address: String?
        /// The version of HTTP that it was answered over, such as `1.1`; `nil` before that.
        public var httpVersion: String?
        /// Seconds of a round trip to there, smoothed, as the kernel measures it; `nil` where that is not known.
        public var roundTrip: Double?

        enum CodingKeys: String, CodingKey {
            case server, state, start, end, position, address
            case bytesPerSecond = "bytes_per_second"
            case httpVersion = "http_version"
            case roundTrip = "round_trip"
        }

        /// Makes a connection.
        public init(
            server: Int, state: String, start: Int64? = nil, end: Int64? = nil,
            position: Int64? = nil, bytesPerSecond: Double = 0, address: String? = nil,
            httpVersion: String? = nil, roundTrip: Double? = nil
        ) {
            (self.server, self.state, self.start, self.end) = (server, state, start, end)
            (self.position, self.bytesPerSecond) = (position, bytesPerSecond)
            (self.address, self.httpVersion, self.roundTrip) = (address, httpVersion, roundTrip)
        }
    }

    /// A server that it comes from, or was to come from.
    public struct Server: Sendable, Hashable, Codable {
        /// The URL that was given for it, without credentials and query.
        public var url: String
        /// Whether its bytes are used: `used`, `waiting_for_sample` or `dropped`.
        public var state: String
        /// Bytes of the file that it has sent since the present attempt began.
        public var bytes: Int64
        /// Connections that have a request of its under way.
        public var connections: Int
        /// Why it was dropped: a word of the notice `mirror_dropped` in `docs/json.md`.
        public var reason: String?
        /// The same in words.
        public var message: String?

        /// Makes a server.
        public init(
            url: String, state: String, bytes: Int64, connections: Int, reason: String? = nil,
            message: String? = nil
        ) {
            (self.url, self.state, self.bytes) = (url, state, bytes)
            (self.connections, self.reason, self.message) = (connections, reason, message)
        }
    }
}
