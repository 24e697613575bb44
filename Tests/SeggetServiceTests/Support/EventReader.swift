import Foundation
import SeggetQueue
import TestSupport

@testable import SeggetService

/// Reads the events of a server as a client of HTTP/1.0, for which the body has no chunks.
final class EventReader {
    let connection: RawConnection
    private var head: [UInt8]? = []
    private var parser = EventParser(mostBytes: 64 << 20)
    private var events: [ServerSentEvent] = []

    /// Requests events.
    init(_ path: String, query: String = "", after id: String? = nil) throws {
        connection = try RawConnection(path)
        let field = id.map { "Last-Event-ID: \($0)\r\n" } ?? ""
        connection.send("GET /v2/events\(query) HTTP/1.0\r\n\(field)\r\n")
    }

    /// Returns the next event, or `nil` if the stream has ended.
    func next() async throws -> ServerSentEvent? {
        _ = try await Waiting.until {
            try take()
            return !events.isEmpty || connection.isEnded
        }
        return events.isEmpty ? nil : events.removeFirst()
    }

    /// Returns the next event, if it is `changes`.
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

/// Waiting for conditions that may throw.
enum Waiting {
    /// Waits like `soon`.
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
    /// The time of the event on the server's clock, in milliseconds.
    var moment: Int64? { EventID(id)?.moment }
}
