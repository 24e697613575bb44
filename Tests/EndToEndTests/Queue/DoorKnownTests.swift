import Foundation
import TestSupport
import Testing

/// Tests which existing tasks the API finds for a URL that a client over TCP adds.
@Suite(.timeLimit(.minutes(5)))
struct DoorKnownTests {
    private let stage: DoorStage

    init() throws { stage = try DoorStage() }

    /// Adds a URL with `known_anywhere`, and returns the result.
    private func add(_ door: Door, _ options: String = "") throws -> [String: Any] {
        let url = stage.queue.origin.url("/a.iso")
        let body =
            #"{"commands":[{"command":"add","url":"\#(url)","root":"\#(stage.queue.folder)","#
            + #""known_anywhere":true\#(options)}]}"#
        let reply = try door.ask(
            "POST /api/v2/commands", "Authorization: Bearer \(door.secret)\r\n", body)
        let answer = try JSONSerialization.jsonObject(with: Data(reply.body.utf8))
        let results = (answer as? [String: Any])?["results"] as? [[[String: Any]]]
        return try #require(results?.first?.first, "\(reply.body)")
    }

    @Test func ignoresTaskOutsideAllowedFolders() throws {
        let outside = try Sandbox()
        let hidden = try stage.queue.add("/a.iso", "-d", outside.path, "--paused")
        let door = try stage.open()
        let added = try add(door, #", "paused": true"#)
        #expect(added["outcome"] as? String == "done" && added["known"] == nil, "\(added)")
        #expect(added["id"] as? String != hidden)
    }

    @Test func findsTaskInAllowedFolder() throws {
        let id = try stage.queue.add(
            "/a.iso", "-d", stage.queue.files.sandbox.path("below"), "--paused")
        let door = try stage.open()
        let added = try add(door, #", "paused": true"#)
        #expect(added["id"] as? String == id, "\(added)")
        #expect((added["known"] as? [String: Any])?["id"] as? String == id)
    }

    /// The reply must not reveal the headers of a task of the command line.
    @Test(arguments: ["right", "wrong"])
    func headersOfATaskCannotBeGuessed(header: String) throws {
        let id = try stage.queue.add(
            "/a.iso", "-d", stage.queue.files.sandbox.path("below"), "--paused", "-H",
            "X-Key: right")
        let door = try stage.open()
        let added = try add(door, #", "options": {"headers": ["X-Key: \#(header)"]}"#)
        #expect(added["outcome"] as? String == "refused" && added["id"] as? String == id)
        #expect(
            (added["known"] as? [String: Any])?["differs"] as? [String] == ["headers"], "\(added)")
    }
}
