/// A header field, spelled as received.
public struct HeaderField: Sendable, Hashable {
    /// The name, as received.
    public var name: String
    /// The value, without surrounding white space.
    public var value: String

    /// Creates the field `name: value`.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// The single range of a request: `bytes=first-last` or `bytes=first-`.
public struct RequestedRange: Sendable, Hashable {
    /// Offset of the first byte.
    public let first: Int64
    /// Offset of the last byte, inclusive as in HTTP; `nil` for the end of the file.
    public let last: Int64?

    /// Parses a `Range` field; returns `nil` unless it is one range with a start.
    init?(_ value: String) {
        let parts = value.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let ends = parts[1].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Int64(ends[0]), first >= 0 else { return nil }
        self.first = first
        guard !ends[1].isEmpty else {
            last = nil
            return
        }
        guard let last = Int64(ends[1]), last >= first else { return nil }
        self.last = last
    }

    /// Returns the requested bytes of a file of `size` bytes, half-open; empty if there are none.
    public func bytes(of size: Int64) -> Range<Int64> {
        let start = min(first, size)
        let end = last.map { min($0, size - 1) + 1 } ?? size
        return start..<max(start, end)
    }
}

/// A request as received by a ``Origin``.
public struct OriginRequest: Sendable {
    /// The method, such as `GET`.
    public let method: String
    /// Path and query.
    public let target: String
    /// The header section in order.
    public let headers: [HeaderField]
    /// The requested range, if it is a single one with a start.
    public let range: RequestedRange?
    /// Number of its connection, from 1.
    public let connection: Int
    /// Number among all requests of the origin, from 1.
    public let number: Int
    /// Number among the requests of its connection, from 1.
    public let numberOnConnection: Int
    /// The number of open connections when it arrived, including its own.
    public let openConnections: Int
    /// The time of arrival, in seconds on the monotonic clock.
    public let time: Double

    /// Body bytes written for it until now, in ``Origin/requests``.
    public internal(set) var bytesServed: Int64 = 0
    /// The time when its reply ended for any reason; in ``Origin/requests``.
    public internal(set) var finished: Double?
    /// Status of the final reply, `nil` for none or raw bytes; in ``Origin/requests``.
    public internal(set) var status: Int?

    /// The target without its query.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The value of the first field of this name, case-insensitively.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Whether the client requests to close the connection after the reply.
    let wantsClose: Bool

    /// Where and when a request arrived.
    struct Arrival {
        let connection: Int
        let number: Int
        let numberOnConnection: Int
        let openConnections: Int
        let time: Double
    }

    /// Parses the head of a request without its empty line; returns `nil` if it is malformed.
    init?(head: some Collection<UInt8>, arrival: Arrival) {
        let text = String(decoding: head, as: UTF8.self)
        // As a `Character`, CR LF is one element.
        let lines = text.unicodeScalars.split(separator: "\n").map { line in
            String(String.UnicodeScalarView(line.last == "\r" ? line.dropLast() : line))
        }
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count == 3, words[2].hasPrefix("HTTP/") else { return nil }
        method = String(words[0])
        target = String(words[1])
        headers = lines.dropFirst().compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...]
            return HeaderField(
                String(line[..<colon]),
                String(value.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()))
        }
        connection = arrival.connection
        number = arrival.number
        numberOnConnection = arrival.numberOnConnection
        openConnections = arrival.openConnections
        time = arrival.time
        let fields = headers
        func find(_ name: String) -> String? {
            fields.first { $0.name.lowercased() == name }?.value
        }
        range = find("range").flatMap { RequestedRange($0) }
        wantsClose = words[2] == "HTTP/1.0" || find("connection")?.lowercased() == "close"
    }
}
