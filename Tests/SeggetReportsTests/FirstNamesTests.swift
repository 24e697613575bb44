import Foundation
import Testing

@testable import SeggetReports

/// Tests the names of version 1 of the API and of format 1 of `--json`.
struct FirstNamesTests {
    /// The output of segget 0.2, and the same output of 0.3.
    static let pairs: [(first: String, current: String)] = [
        (
            #"{"bytes_per_second":0.25,"counts":{"held":2,"running":1},"paused":"on battery","tasks":[{"file":"gone","state":"completed","wanted":"run"},{"id":"9d04","paused":"on battery","state":"waiting","wanted":"run"},{"state":"waiting","wanted":"held"}],"unseen":{}}"#,
            #"{"bytes_per_second":0.25,"counts":{"paused":2,"running":1},"pause_reason":"on battery","tasks":[{"file":"missing","state":"completed","wanted":"run"},{"id":"9d04","pause_reason":"on battery","state":"waiting","wanted":"run"},{"state":"paused","wanted":"paused"}],"unseen":{}}"#
        ),
        (
            #"{"connections":[{"state":"waiting_for_reply"}],"events":[{"event":"silence","message":"m","time":1.5},{"event":"waiting","message":"was added","time":1}],"options":{"paused":"held"}}"#,
            #"{"connections":[{"state":"waiting_for_response"}],"events":[{"event":"stalled","message":"m","time":1.5},{"event":"waiting","message":"was added","time":1}],"options":{"paused":"held"}}"#
        ),
        (
            #"{"commands":[{"command":"add","held":true,"root":"/d","url":"http://h/f"},{"command":"resume","states":["held","failed"]}]}"#,
            #"{"commands":[{"command":"add","paused":true,"root":"/d","url":"http://h/f"},{"command":"resume","states":["paused","failed"]}]}"#
        ),
        (
            #"{"error":{"code":"worked_already","hint":"h","message":"m"}}"#,
            #"{"error":{"code":"has_worker","hint":"h","message":"m"}}"#
        ),
        (#"{"tags":{"held":1,"plan":2}}"#, #"{"tags":{"held":1,"plan":2}}"#),
        (
            #"{"event":"started","identity":"etag","plan":"segments","size":1099511627776,"time":0.091}"#,
            #"{"event":"started","identity":"etag","size":1099511627776,"time":0.091,"transfer":"segments"}"#
        ),
        (
            #"{"event":"notice","notice":"ceiling","time":1}"#,
            #"{"event":"notice","notice":"server_limit","time":1}"#
        ),
        (
            #"{"event":"progress","phase":"waiting","time":1}"#,
            #"{"event":"progress","phase":"waiting_for_network","time":1}"#
        ),
    ]

    @Test(arguments: pairs.indices)
    func versionsConvertToEachOther(index: Int) throws {
        let (first, current) = Self.pairs[index]
        let old = try #require(JSONValue.read(Data(first.utf8)))
        let new = try #require(JSONValue.read(Data(current.utf8)))
        #expect(String(decoding: FirstNames.current(old).data, as: UTF8.self) == current)
        #expect(String(decoding: FirstNames.first(new).data, as: UTF8.self) == first)
    }

    /// segget 0.2 stored some paused tasks with a state other than `waiting`.
    @Test func pausedRetryingTaskIsPaused() throws {
        let old = try #require(
            JSONValue.read(Data(#"{"state":"retrying","wanted":"held"}"#.utf8)))
        #expect(FirstNames.current(old).object?["state"] == "paused")
        let ended = try #require(
            JSONValue.read(Data(#"{"state":"failed","wanted":"held"}"#.utf8)))
        #expect(FirstNames.current(ended).object?["state"] == "failed")
    }

    @Test func bothPagesListEveryName() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../docs")
        let pages = try ["api.md", "json.md"].map {
            try String(contentsOf: root.appendingPathComponent($0), encoding: .utf8)
        }
        let words = FirstNames.words.values.reduce(into: FirstNames.keys) { all, names in
            all.merge(names) { first, _ in first }
        }
        for (current, first) in words {
            let row = "`\(first)` | `\(current)`"
            #expect(pages.contains { $0.contains(row) }, "no page has a row with \(row)")
        }
        for (current, first) in FirstNames.notices {
            #expect(pages[1].contains("`\(first)` | `\(current)`"))
        }
    }
}
