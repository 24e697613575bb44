import Foundation
import Glibc
import TestSupport
import Testing

/// Tests the advice about a failed task: each surface uses its own terms.
@Suite(.timeLimit(.minutes(5)))
struct NextStepEndToEndTests {
    private let stage: DoorStage

    init() throws {
        stage = try DoorStage()
        stage.queue.origin.bend { request, reply in
            guard request.header("Authorization") != "Basic bWU6eA==" else { return }
            reply = .text(
                401, "no", headers: [HeaderField("WWW-Authenticate", "Basic realm=\"r\"")])
        }
    }

    /// Whether a text has no terms of surfaces other than the queue.
    private func isClean(_ text: String) -> Bool {
        !["same command", "--netrc", "--bearer-fd", "docs/"].contains { text.contains($0) }
    }

    @Test func queueSuggestsQueueCommands() throws {
        let queue = stage.queue
        let id = try queue.add("/a.bin")
        let run = try queue.run("run")
        #expect(run.end == .exit(77))
        let command = "`segget set \(id) --user USER:PASSWORD`, then `segget retry \(id)`"
        #expect(run.errorOutput.contains(command) && isClean(run.errorOutput), "\(run.errorOutput)")
        for arguments in [["show", id], ["list", "--json"], ["show", id, "--json"]] {
            let outcome = try queue.start(arguments).wait(timeout: 60)
            let text = outcome.output + outcome.errorOutput
            #expect(text.contains(command) && isClean(text), "\(text)")
        }
        // The suggested commands work.
        try queue.done("set", id, "--user", "me:x")
        try queue.done("retry", id)
        #expect(try queue.run("run").end == .exit(0))
        #expect(try queue.isRight("a.bin", "/a.bin"))
    }

    @Test func apiSuggestsMembersToSend() throws {
        let door = try stage.open()
        let id = try stage.queue.add("/a.bin")
        func task() throws -> [String: Any] {
            let reply = try door.ask("GET /api/v2/tasks/\(id)", door.authorization)
            let detail = try JSONSerialization.jsonObject(with: Data(reply.body.utf8))
            return (detail as? [String: Any])?["task"] as? [String: Any] ?? [:]
        }
        #expect(try eventually(timeout: 120) { try task()["state"] as? String == "failed" })
        let error = try #require(try task()["error"] as? [String: Any])
        #expect(error["step"] as? String == "credentials")
        #expect(
            error["hint"] as? String == "send `set` with `user` (`USER:PASSWORD`), then `retry`")
        #expect(!"\(error)".contains("--") && isClean("\(error)"))

        let body =
            #"{"commands":[{"command":"set","ids":["\#(id)"],"user":"me:x"},"#
            + #"{"command":"retry","ids":["\#(id)"]}]}"#
        #expect(try door.ask("POST /api/v2/commands", door.authorization, body).status == 200)
        #expect(try eventually(timeout: 120) { try task()["state"] as? String == "completed" })

        // Errors of requests name no command either.
        let none = try door.ask("GET /api/v2/tasks/ffff", door.authorization).body
        #expect(none.contains("`GET /api/v2/tasks`") && !none.contains("segget"), "\(none)")
        try door.end()
    }
}
