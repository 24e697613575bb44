import FoundationEssentials
import NIOCore

/// The id of an event: the worker's run and a moment of it.
struct EventID: Sendable, Hashable, LosslessStringConvertible {
    /// A word that identifies the worker's run.
    var epoch: String
    /// Milliseconds since the event hub was created.
    var moment: Int64

    init(epoch: String, moment: Int64) { (self.epoch, self.moment) = (epoch, moment) }

    /// Reads the text of an id; returns `nil` for any other text.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, let moment = Int64(parts[1]), moment >= 0 else {
            return nil
        }
        self.init(epoch: String(parts[0]), moment: moment)
    }

    var description: String { "\(epoch)-\(moment)" }
}

/// Writes events: WHATWG HTML Living Standard §9.2, server-sent events.
enum EventText {
    /// The first field of a stream: milliseconds until the client reconnects.
    static let retry = "retry: 1000\n"
    /// A comment, which shows both ends that the connection works.
    static let keepAlive = ":\n\n"

    /// Returns the bytes of an event.
    ///
    /// - Parameters:
    ///   - name: The type of the event.
    ///   - id: The id of the event.
    ///   - data: JSON, which has no line breaks.
    /// - Returns: The event's bytes.
    static func event(_ name: String, _ id: EventID, _ data: Data) -> Data {
        Data("event: \(name)\nid: \(id)\n".utf8) + field + data + Data("\n\n".utf8)
    }

    /// The name of the field with an event's data, which is its last one.
    private static let field = Data("data: ".utf8)

    /// Returns an event with the names of a version of the API.
    ///
    /// - Parameters:
    ///   - bytes: The result of ``event(_:_:_:)``.
    ///   - version: The version that the client requested.
    /// - Returns: The event's bytes.
    static func event(_ bytes: ByteBuffer, in version: APIVersion) -> ByteBuffer {
        guard version == .first else { return bytes }
        let event = Data(bytes.readableBytesView)
        guard let field = event.firstRange(of: field) else { return bytes }
        let data = version.body(Data(event[field.upperBound...].dropLast(2)))
        return ByteBuffer(bytes: event[..<field.upperBound] + data + Data("\n\n".utf8))
    }
}

/// A received event.
struct ServerSentEvent: Sendable, Hashable {
    /// The last received id; empty if there was none.
    var id: String
    /// The type of the event.
    var name: String
    /// The data, without the last line break.
    var data: Data
}

/// Parses events: WHATWG HTML Living Standard §9.2.6, interpreting an event stream.
///
/// Pure: bytes in, events out.
struct EventParser {
    /// The event is longer than the limit.
    struct TooLong: Error {}

    private let mostBytes: Int
    private var line: [UInt8] = []
    private var (id, name) = ("", "")
    private var data: [UInt8] = []
    private var hasData = false
    /// Whether the last byte was a carriage return, so that a line feed belongs to it.
    private var isAfterReturn = false
    private var isFirstLine = true

    /// Creates a parser.
    ///
    /// - Parameter mostBytes: The most bytes of an event.
    init(mostBytes: Int) { self.mostBytes = mostBytes }

    /// Reads bytes, and returns the events that they complete.
    ///
    /// - Throws: ``TooLong``.
    mutating func read(_ bytes: some Collection<UInt8>) throws(TooLong) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for byte in bytes {
            let isReturn = byte == UInt8(ascii: "\r")
            defer { isAfterReturn = isReturn }
            guard isReturn || byte == UInt8(ascii: "\n") else {
                guard line.count + data.count < mostBytes else { throw TooLong() }
                line.append(byte)
                continue
            }
            if isAfterReturn, !isReturn { continue }
            if let event = endLine() { events.append(event) }
        }
        return events
    }

    private mutating func endLine() -> ServerSentEvent? {
        defer { line.removeAll(keepingCapacity: true) }
        if isFirstLine {
            isFirstLine = false
            // Skip a byte order mark.
            if line.starts(with: [0xef, 0xbb, 0xbf]) { line.removeFirst(3) }
        }
        guard !line.isEmpty else { return dispatch() }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[min(colon + 1, line.endIndex)...]
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        switch String(decoding: line[..<colon], as: UTF8.self) {
        case "event": name = String(decoding: value, as: UTF8.self)
        case "id" where !value.contains(0): id = String(decoding: value, as: UTF8.self)
        case "data":
            if hasData { data.append(UInt8(ascii: "\n")) }
            data += value
            hasData = true
        default: break
        }
        return nil
    }

    private mutating func dispatch() -> ServerSentEvent? {
        defer { (name, data, hasData) = ("", [], false) }
        guard hasData else { return nil }
        return ServerSentEvent(id: id, name: name.isEmpty ? "message" : name, data: Data(data))
    }
}
