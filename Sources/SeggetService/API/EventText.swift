import FoundationEssentials
import NIOCore

/// The id of an event: of whose life it is, and at which moment of it.
struct EventID: Sendable, Hashable, LosslessStringConvertible {
    /// The worker's life: a word that no other one has.
    var epoch: String
    /// Milliseconds since it began to tell.
    var moment: Int64

    init(epoch: String, moment: Int64) { (self.epoch, self.moment) = (epoch, moment) }

    /// Reads an id as it is sent; anything else is none.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, let moment = Int64(parts[1]), moment >= 0 else {
            return nil
        }
        self.init(epoch: String(parts[0]), moment: moment)
    }

    var description: String { "\(epoch)-\(moment)" }
}

/// How events are written: WHATWG HTML Living Standard §9.2, server-sent events.
enum EventText {
    /// What a client is told first: how many milliseconds it waits before it connects anew.
    static let retry = "retry: 1000\n"
    /// A comment, by which both ends see that the connection is there.
    static let keepAlive = ":\n\n"

    /// An event.
    ///
    /// - Parameters:
    ///   - name: What kind of event.
    ///   - id: Its id.
    ///   - data: JSON, which has no line breaks.
    /// - Returns: Its bytes.
    static func event(_ name: String, _ id: EventID, _ data: Data) -> Data {
        Data("event: \(name)\nid: \(id)\n".utf8) + field + data + Data("\n\n".utf8)
    }

    /// The name of the field with an event's data, which is its last one.
    private static let field = Data("data: ".utf8)

    /// Returns an event with the names of a version of the API.
    ///
    /// - Parameters:
    ///   - bytes: What ``event(_:_:_:)`` wrote.
    ///   - version: The version that the client has requested.
    /// - Returns: The event's bytes.
    static func event(_ bytes: ByteBuffer, in version: APIVersion) -> ByteBuffer {
        guard version == .first else { return bytes }
        let event = Data(bytes.readableBytesView)
        guard let field = event.firstRange(of: field) else { return bytes }
        let data = version.body(Data(event[field.upperBound...].dropLast(2)))
        return ByteBuffer(bytes: event[..<field.upperBound] + data + Data("\n\n".utf8))
    }
}

/// An event as it has come.
struct ServerSentEvent: Sendable, Hashable {
    /// The last id that came; empty when none did.
    var id: String
    /// What kind of event.
    var name: String
    /// Its data, without the last line break.
    var data: Data
}

/// Reads events: WHATWG HTML Living Standard §9.2.6, interpreting an event stream.
///
/// Pure: bytes in, events out.
struct EventParser {
    /// More than this has no event.
    struct TooLong: Error {}

    private let mostBytes: Int
    private var line: [UInt8] = []
    private var (id, name) = ("", "")
    private var data: [UInt8] = []
    private var hasData = false
    /// Whether the last byte was a carriage return, so that a line feed belongs to it.
    private var isAfterReturn = false
    private var isFirstLine = true

    /// Begins with nothing.
    ///
    /// - Parameter mostBytes: most bytes of an event.
    init(mostBytes: Int) { self.mostBytes = mostBytes }

    /// Takes bytes, and gives the events that they complete.
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
            // A byte order mark.
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
