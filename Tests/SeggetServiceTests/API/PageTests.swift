import Foundation
import SeggetQueue
import Segmenter
import TestSupport
import Testing

@testable import SeggetService

/// Tests the examples of `docs/api.md`.
@Suite(.timeLimit(.minutes(10)))
struct PageTests {
    private static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../docs/api.md")

    /// Returns the code blocks of a language.
    private static func blocks(_ kind: String) throws -> [String] {
        try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```\(kind)\n")
            .dropFirst().map { $0.components(separatedBy: "\n```")[0] }
    }

    /// Replaces process id and version in an example by those of this process.
    private static func own(_ text: String) -> String {
        text.replacing("4711", with: "\(getpid())")
            .replacing(#/"version":"[0-9.]+"/#, with: #""version":"\#(seggetVersion)""#)
    }

    @Test func exampleCommandsPrintExpectedOutput() async throws {
        let blocks = try Self.blocks("console").filter { !$0.contains("/v2/events") }
        #expect(blocks.count == 12)
        for block in blocks {
            try await ServedDoor.use { served throws in
                let lines = block.components(separatedBy: "\n")
                for (line, next) in zip(lines, lines.dropFirst()) where line.hasPrefix("$ ") {
                    let outcome = try await Program.run(
                        "/bin/sh",
                        ["-c", "SOCKET=\(served.server.path); \(line.dropFirst(2)) -sS"],
                        in: served.sandbox.path)
                    #expect(outcome.output == Self.own(next))
                }
            }
        }
    }

    /// The events of the example, while the task makes the same progress.
    @Test func exampleEventsAreSent() async throws {
        let block = try #require(try Self.blocks("console").first { $0.contains("/v2/events") })
        let lines = block.components(separatedBy: "\n")
        let shown = Self.own(lines.dropFirst().joined(separator: "\n") + "\n")
        let changed = try #require(lines.last { $0.hasPrefix("data: ") }?.dropFirst(6))
        let changes = try JSONDecoder().decode(QueueChanges.self, from: Data(changed.utf8))
        try await ServedDoor.use { served throws in
            let command = "SOCKET=\(served.server.path); exec \(lines[0].dropFirst(2)) -sS"
            let child = try Run("/bin/sh", ["-c", command], in: served.sandbox.path)
            #expect(await soon { child.output.hasSuffix("\n\n") })
            await served.door.put(try #require(changes.tasks.first))
            let id = #/id: [0-9a-f]+-[0-9]+/#
            #expect(await soon { child.output.matches(of: id).count == 2 })
            #expect(await soon { child.output.hasSuffix("\n\n") })
            #expect(child.output.replacing(id, with: "id") == shown.replacing(id, with: "id"))
            child.signal(SIGTERM)
        }
    }

    @Test func exampleRequestsAreAccepted() throws {
        let lines = try Self.blocks("json").flatMap { $0.components(separatedBy: "\n") }
        #expect(lines.count == 7)
        let commands = try lines.flatMap {
            try JSON.read(CommandBatch.self, from: Data($0.utf8)).commands
        }
        #expect(commands.count == 12)
    }

    @Test func allKeysAreDocumented() throws {
        let page = try String(contentsOf: Self.page, encoding: .utf8)
        let batch = try JSON.write(CommandBatch(commands: Commands.all))
        var settings = QueueSettings()
        settings.rules = [
            QueueRule(while: .metered, .pause), QueueRule(while: .battery, .rate(1)),
        ]
        let changes = try JSON.write(
            QueueChanges(
                tasks: Sample.tasks, removed: [], QueueView()))
        for text in [batch, try JSON.write(settings), changes] {
            let object = try JSONSerialization.jsonObject(with: text)
            var keys: Set<String> = []
            Self.collect(object, &keys)
            for key in keys { #expect(page.contains("`\(key)`"), "\(key)") }
        }
        for code in ["damaged", "later_version", "disk_full", "unavailable", "busy", "invalid"]
            + ["has_worker", "no_task", "worker"]
        {
            #expect(QueueError.Code(rawValue: code) != nil)
            #expect(page.contains("`\(code)`"))
        }
    }

    private static func collect(_ value: Any, _ keys: inout Set<String>) {
        if let list = value as? [Any] { for item in list { collect(item, &keys) } }
        guard let fields = value as? [String: Any] else { return }
        for (key, value) in fields {
            keys.insert(key)
            if key != "options" { collect(value, &keys) }
            if let word = value as? String, ["command", "while"].contains(key) {
                keys.insert(word)
            }
        }
    }
}
