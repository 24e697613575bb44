import Foundation
import SeggetFormats
import Segmenter
import Testing

import SeggetReports
@testable import SeggetQueue
@testable import SeggetService

/// Tests that `aria2.changeOption` applies all changes or none.
struct ChangeOptionTests {
    private let door = FakeDoor()
    private let service: RPCService
    private let gid: JSONValue = .string(Sample.first.description)

    init() {
        service = RPCService(door, RPCPolicy(secret: "s", folder: "/srv/downloads"))
    }

    /// Returns the result of a call, or the message of its error.
    private func call(_ method: String, _ options: JSONValue? = nil) async -> JSONValue? {
        let call: JSONValue = [
            "id": 1, "method": .string("aria2.\(method)"),
            "params": .array(["token:s", gid] + (options.map { [$0] } ?? [])),
        ]
        let answer = JSONValue.read(await service.answer(call.data).body)?.object
        return answer?["result"] ?? answer?["error"]?.object?["message"]
    }

    /// Returns the received changes of tasks.
    private func changes() async -> [OptionChanges] {
        await door.commands.compactMap { command in
            if case .set(_, let changes) = command { changes.options } else { nil }
        }
    }

    /// The call of AriaNg when a user changes one option of a task (`setTaskOption`).
    @Test func acceptsCallOfAriaNg() async throws {
        let body = """
            {"jsonrpc":"2.0","method":"aria2.changeOption",\
            "id":"QXJpYU5nXzE3NjQzMjE4OTZfMC4xODc5NDQ2MDQ1MjI1MTY4Mg==",\
            "params":["token:s","\(Sample.first)",{"max-download-limit":"512K"}]}
            """
        let answer = await service.answer(Data(body.utf8))
        #expect(
            String(decoding: answer.body, as: UTF8.self) == """
                {"id":"QXJpYU5nXzE3NjQzMjE4OTZfMC4xODc5NDQ2MDQ1MjI1MTY4Mg==",\
                "jsonrpc":"2.0","result":"OK"}
                """)
        let changes = try #require(await changes().first)
        #expect(changes.keys == ["limits.rate"])
        #expect(changes.values.limits.rate == 524_288.0)
    }

    /// Each option that clients may change reaches the task under its storage key.
    @Test(arguments: [
        ("all-proxy", "http://proxy.example/", "access.proxy"),
        ("https-proxy", "http://proxy.example/", "access.proxy"),
        ("auto-file-renaming", "true", "naming.numbers_taken"),
        ("checksum", "md5=" + String(repeating: "a", count: 32), "checksum"),
        ("connect-timeout", "33", "connect_timeout"), ("header", "X-A: b", "headers"),
        ("http-no-cache", "true", "headers"), ("http-user", "me", "access.credentials"),
        ("lowest-speed-limit", "1K", "limits.min_rate"),
        ("max-connection-per-server", "3", "connections"), ("split", "4", "connections"),
        ("split", "16", "connections"),
        ("split", "32", "connections"),
        ("max-download-limit", "1M", "limits.rate"), ("max-tries", "3", "retries"),
        ("min-split-size", "2M", "min_split_size"), ("no-proxy", "a.example", "access.no_proxy"),
        ("referer", "http://r.example/", "access.referer"),
        ("remote-time", "false", "files.remote_time"), ("retry-wait", "7", "retry_wait"),
        ("timeout", "44", "stall_timeout"), ("user-agent", "Agent", "access.user_agent"),
    ])
    func changesEachOption(name: String, value: String, key: String) async throws {
        #expect(await call("changeOption", .object([name: .string(value)])) == "OK")
        let changes = try #require(await changes().first)
        #expect(changes.keys == [key])
    }

    @Test func changesSeveralOptionsTogether() async throws {
        let options: JSONValue = [
            "split": "4", "timeout": "33", "header": ["X-A: b", "X-B: c"], "dir": "/srv/downloads",
            "out": "b.iso",
        ]
        #expect(await call("changeOption", options) == "OK")
        let changes = await changes()
        #expect(changes.map(\.keys) == [["connections", "stall_timeout", "headers"]])
        #expect(changes.first?.values.headers == ["X-A: b", "X-B: c"])
        // The new path is checked first: if it is refused, nothing is changed.
        guard case .rename(_, "b.iso", _)? = await door.commands.first else {
            Issue.record("\(await door.commands)")
            return
        }
    }

    @Test func ignoresCurrentValues() async throws {
        let present = try #require(await call("getOption"))
        #expect(present.object?.count ?? 0 > 10)
        #expect(await call("changeOption", present) == "OK")
        #expect(await door.commands.isEmpty)
    }

    @Test(arguments: [
        ("pause", "true"), ("gid", "0123456789abcdef"), ("parameterized-uri", "true"),
        ("continue", "false"), ("allow-overwrite", "true"),
    ])
    func refusesUnchangeableOptions(name: String, value: String) async throws {
        let options: JSONValue = .object(["split": "4", "out": "b", name: .string(value)])
        let message = try #require(await call("changeOption", options)?.string)
        #expect(message.contains("'\(name)'") && message.contains("cannot be changed"))
        #expect(await door.commands.isEmpty)
        // An option with its current value is ignored.
        let present = ["continue": "true", "gid": "\(Sample.first)"][name] ?? "false"
        let same: JSONValue = .object(["split": "4", name: .string(present)])
        #expect(await call("changeOption", same) == "OK")
    }

    /// A paused task stays paused; only `aria2.unpause` resumes it.
    @Test func doesNotResumePausedTask() async {
        var task = Sample.tasks[0]
        (task.state, task.wanted) = ("paused", .paused)
        await door.put(task)
        let message = await call("changeOption", ["pause": "false"])?.string
        #expect(message?.contains("'pause'") == true)
        #expect(await call("changeOption", ["pause": "true"]) == "OK")
    }

    /// Secrets are compared with the stored values, not with those that clients see.
    @Test func changesSecretHeader() async throws {
        let options: JSONValue = ["header": ["Authorization: Bearer new"]]
        #expect(await call("changeOption", options) == "OK")
        #expect(await changes().first?.values.headers == ["Authorization: Bearer new"])
    }

    /// If clients may not use the path, the other options are not changed either.
    @Test func refusedPathChangesNothing() async throws {
        let message = await call("changeOption", ["split": "4", "dir": "/etc"])?.string
        #expect(message?.contains("/etc") == true)
        #expect(await door.commands.isEmpty)
    }
}
