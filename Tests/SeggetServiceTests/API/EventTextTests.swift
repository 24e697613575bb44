import Foundation
import Testing

@testable import SeggetService

/// Tests server-sent events (WHATWG HTML Living Standard §9.2).
struct EventTextTests {
    private static func event(_ data: String, _ name: String = "message", id: String = "")
        -> ServerSentEvent
    {
        ServerSentEvent(id: id, name: name, data: Data(data.utf8))
    }

    @Test(arguments: [
        ("data: a\n\n", [event("a")]), ("data:a\n\n", [event("a")]),
        ("data:  a\n\n", [event(" a")]),
        ("data\n\n", [event("")]), ("data: a\ndata: b\n\n", [event("a\nb")]),
        ("data: a\r\n\r\n", [event("a")]), ("data: a\r\rdata: b\r\r", [event("a"), event("b")]),
        ("\u{feff}data: a\n\n", [event("a")]), (":\n\n: words\ndata: a\n\n", [event("a")]),
        ("event: x\ndata: a\n\ndata: b\n\n", [event("a", "x"), event("b")]),
        ("id: 1\ndata: a\n\ndata: b\n\n", [event("a", id: "1"), event("b", id: "1")]),
        ("id: 1\n\ndata: a\n\n", [event("a", id: "1")]),
        ("id: 1\ndata: a\n\nid\ndata: b\n\n", [event("a", id: "1"), event("b")]),
        ("id: 1\u{0}\ndata: a\n\n", [event("a")]), ("retry: 5\nother: 1\n\n", []),
        ("event: x\n\ndata: a\n\n", [event("a")]), ("data: a\n", []), ("data: a", []),
        ("data: é\n\n", [event("é")]),
    ])
    func parsesStreamsLikeStandard(text: String, events: [ServerSentEvent]) throws {
        var whole = EventParser(mostBytes: 1000)
        #expect(try whole.read(Array(text.utf8)) == events)
        // The stream may be split anywhere.
        var parser = EventParser(mostBytes: 1000)
        var read: [ServerSentEvent] = []
        for byte in text.utf8 { read += try parser.read([byte]) }
        #expect(read == events)
    }

    @Test func readsEventsAsWritten() throws {
        let id = EventID(epoch: "a1", moment: 17)
        let data = Data(#"{"a":"b: c"}"#.utf8)
        let bytes =
            Data(EventText.retry.utf8) + EventText.event("changes", id, data)
            + Data(EventText.keepAlive.utf8)
        var parser = EventParser(mostBytes: 1000)
        let events = try parser.read(bytes)
        #expect(events == [ServerSentEvent(id: "a1-17", name: "changes", data: data)])
    }

    @Test func refusesLongEvents() throws {
        var line = EventParser(mostBytes: 100)
        #expect(throws: EventParser.TooLong.self) {
            try line.read([UInt8](repeating: 97, count: 101))
        }
        var lines = EventParser(mostBytes: 100)
        #expect(throws: EventParser.TooLong.self) {
            for _ in 0..<30 { _ = try lines.read(Array("data: abc\n".utf8)) }
        }
    }

    @Test(arguments: ["", "a", "a-", "-1", "a--1", "a-1-2", "a-x", "a-99999999999999999999"])
    func refusesInvalidIDs(text: String) { #expect(EventID(text) == nil) }

    @Test func readsIDsAsWritten() {
        let id = EventID(epoch: "ff", moment: 1250)
        #expect(id.description == "ff-1250")
        #expect(EventID("ff-1250") == id)
    }
}
