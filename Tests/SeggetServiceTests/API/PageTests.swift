import Foundation
import SeggetQueue
import Segmenter
import TestSupport
import Testing

@testable import SeggetService

/// What `docs/api.md` shows is what happens.
@Suite(.timeLimit(.minutes(10)))
struct PageTests {
    private static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../docs/api.md")

    /// The blocks of a kind.
    private static func blocks(_ kind: String) throws -> [String] {
        try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```\(kind)\n")
            .dropFirst().map { $0.components(separatedBy: "\n```")[0] }
    }

    @Test func commandsOfThePageGiveWhatItShows() async throws {
        let blocks = try Self.blocks("console")
        #expect(blocks.count == 7)
        for block in blocks {
            try await ServedDoor.use { served throws in
                let lines = block.components(separatedBy: "\n")
                for (line, next) in zip(lines, lines.dropFirst()) where line.hasPrefix("$ ") {
                    let outcome = try await Program.run(
                        "/bin/sh",
                        ["-c", "SOCKET=\(served.server.path); \(line.dropFirst(2)) -sS"],
                        in: served.sandbox.path)
                    let shown = next.replacing("4711", with: "\(getpid())")
                        .replacing(#""0.1.0""#, with: #""\#(seggetVersion)""#)
                    #expect(outcome.output == shown)
                }
            }
        }
    }

    @Test func requestsOfThePageAreUnderstood() throws {
        let lines = try Self.blocks("json").flatMap { $0.components(separatedBy: "\n") }
        #expect(lines.count == 7)
        let commands = try lines.flatMap {
            try JSON.read(CommandBatch.self, from: Data($0.utf8)).commands
        }
        #expect(commands.count == 12)
    }

    @Test func everyKeyThatIsUnderstoodIsOnThePage() throws {
        let page = try String(contentsOf: Self.page, encoding: .utf8)
        let batch = try JSON.write(CommandBatch(commands: Commands.all))
        let settings = try JSON.write(QueueSettings())
        for text in [batch, settings] {
            let object = try JSONSerialization.jsonObject(with: text)
            var keys: Set<String> = []
            Self.collect(object, &keys)
            for key in keys { #expect(page.contains("`\(key)`"), "\(key)") }
        }
        for code in ["damaged", "later_version", "disk_full", "unavailable", "busy", "invalid"]
            + ["worked_already", "no_task", "worker"]
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
            if let word = value as? String, key == "command" { keys.insert(word) }
        }
    }
}
