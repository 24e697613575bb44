import Foundation
import SeggetQueue
import TestSupport

@testable import SeggetService

/// Listens to what a server tells, as an old client does, so that the bytes are as they are meant.
final class EventReader {
    let connection: RawConnection
    private var head: [UInt8]? = []
    private var parser = EventParser(mostBytes: 64 << 20)
    private var events: [ServerSentEvent] = []

    /// Asks for events.
    init(_ path: String, query: String = "", after id: String? = nil) throws {
        connection = try RawConnection(path)
        let field = id.map { "Last-Event-ID: \($0)\r\n" } ?? ""
        connection.send("GET /v2/events\(query) HTTP/1.0\r\n\(field)\r\n")
    }

    /// The next event; `nil` when the stream has ended.
    func next() async throws -> ServerSentEvent? {
        _ = try await Waiting.until {
            try take()
            return !events.isEmpty || connection.isEnded
        }
        return events.isEmpty ? nil : events.removeFirst()
    }

    /// The next event, which tells of changes.
    func changes() async throws -> (id: String, changes: QueueChanges)? {
        guard let event = try await next(), event.name == "changes" else { return nil }
        return (event.id, try JSONDecoder().decode(QueueChanges.self, from: event.data))
    }

    private func take() throws {
        var bytes = connection.takeBytes()
        if let begun = head {
            bytes = begun + bytes
            let end = Data(bytes).range(of: Data("\r\n\r\n".utf8))
            guard let end else {
                head = bytes
                return
            }
            head = nil
            bytes = Array(bytes[end.upperBound...])
        }
        events += try parser.read(bytes)
    }
}

/// Waits for what may fail.
enum Waiting {
    /// Waits as `soon` does.
    static func until(_ condition: () throws -> Bool) async throws -> Bool {
        var failure: (any Error)?
        let holds = await soon {
            do { return try condition() } catch {
                failure = error
                return true
            }
        }
        if let failure { throw failure }
        return holds
    }
}

extension ServerSentEvent {
    /// When it was told, by the server's clock, in milliseconds.
    var moment: Int64? { EventID(id)?.moment }
}
