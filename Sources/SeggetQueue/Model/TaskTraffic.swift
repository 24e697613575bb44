// The connections and servers of a task that runs.
extension TaskDetail {
    /// A connection of a task.
    public struct Connection: Sendable, Hashable, Codable {
        /// The index of its server in ``TaskDetail/servers``.
        public var server: Int
        /// Its state: `connecting`, `waiting_for_response`, `receiving`, `waiting_to_retry` or
        /// `idle`.
        public var state: String
        /// The first requested byte; `nil` without a request.
        public var start: Int64?
        /// The byte after the last requested one; `nil` also if the size is unknown.
        public var end: Int64?
        /// The next byte that it expects; `nil` without a request.
        public var position: Int64?
        /// The smoothed speed in bytes per second; 0 while it receives nothing.
        public var bytesPerSecond: Double
        /// The IP address of the server or proxy; `nil` before it is connected.
        public var address: String?
        /// The HTTP version of the response, such as `1.1`; `nil` before the response.
        public var httpVersion: String?
        /// The kernel's smoothed round-trip time in seconds; `nil` if unknown.
        public var roundTrip: Double?

        enum CodingKeys: String, CodingKey {
            case server, state, start, end, position, address
            case bytesPerSecond = "bytes_per_second"
            case httpVersion = "http_version"
            case roundTrip = "round_trip"
        }

        /// Creates a connection.
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

    /// A server of a task's file, used or dropped.
    public struct Server: Sendable, Hashable, Codable {
        /// The given URL, without credentials and query.
        public var url: String
        /// Whether its bytes are used: `used`, `waiting_for_sample` or `dropped`.
        public var state: String
        /// The bytes of the file that it has sent in the present attempt.
        public var bytes: Int64
        /// The number of connections with a request to it.
        public var connections: Int
        /// The reason why it was dropped: a word of the notice `mirror_dropped` in `docs/json.md`.
        public var reason: String?
        /// The reason in words.
        public var message: String?

        /// Creates a server.
        public init(
            url: String, state: String, bytes: Int64, connections: Int, reason: String? = nil,
            message: String? = nil
        ) {
            (self.url, self.state, self.bytes) = (url, state, bytes)
            (self.connections, self.reason, self.message) = (connections, reason, message)
        }
    }
}
