import Foundation
import TestSupport
import Testing

/// Tests that `--skip-existing` keeps an existing file without a request.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct SkipExistingTests {
    /// Without validators, the second run of a list would otherwise exit with 73.
    @Test func secondRunOfListSkipsExistingFiles() throws {
        let stage = try BatchStage(size: 300_000)
        stage.origin.bend { _, reply in reply.set("ETag", nil) }
        let urls = stage.urls(2) + [stage.origin.url("/3/other.iso")]
        func run() throws -> Run.Outcome {
            try Run(urls + ["--skip-existing", "--json"], in: stage.folder).wait()
        }
        #expect(try run().end == .exit(0))
        try stage.sandbox.write("big.iso", "mine")
        try FileManager.default.removeItem(atPath: stage.sandbox.path("other.iso"))
        stage.origin.hearOut()
        let before = stage.origin.requests.count
        let again = try run()
        #expect(again.end == .exit(0), "\(again.errorOutput)")
        stage.origin.hearOut()
        let asked = stage.origin.requests.dropFirst(before).map(\.path)
        #expect(!asked.isEmpty && asked.allSatisfy { $0 == "/3/other.iso" }, "\(asked)")
        #expect(try stage.isRight("other.iso", "/3/other.iso"))
        #expect(try stage.sandbox.names() == ["big.1.iso", "big.iso", "other.iso"])
        #expect(String(decoding: try stage.sandbox.read("big.iso"), as: UTF8.self) == "mine")
        let events = try jsonEvents(again.output)
        let skipped = events.filter { $0["unchanged"] as? String == "skipped" }
        #expect(skipped.count == 2 && events.last?["skipped"] as? Int == 2)
        #expect(events.last?["done"] as? Int == 1)
        #expect(again.errorOutput.contains("1 of 3 files done, 2 skipped"), "\(again.errorOutput)")
        #expect(!again.errorOutput.contains("complete"))
    }

    @Test func skipsFileByEachKindOfName() throws {
        let stage = try Stage(size: 1000)
        for name in ["file", "given", "named"] {
            try Data("mine".utf8).write(to: URL(fileURLWithPath: stage.path(name)))
        }
        for options in [[], ["-o", "given"], ["-o", "given", "--checksum", "crc32:00000000"]] {
            let outcome = try stage.run(options + ["--skip-existing"])
            #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains("skipped"), "\(outcome.errorOutput)")
        }
        #expect(stage.origin.requests.isEmpty)
        // The name from the server is known only after a request.
        stage.origin.bend { $1.set("Content-Disposition", "attachment; filename=named") }
        let outcome = try stage.run(["--skip-existing"], path: "/url-name")
        #expect(outcome.end == .exit(0) && outcome.errorOutput.contains("skipped"))
        #expect(try stage.names() == ["file", "given", "named"])
    }

    @Test func partIsNotSkipped() throws {
        let stage = try Stage(size: 8 << 20)
        let kept = try stage.leavePart(each: 1 << 20)
        let before = stage.origin.requests.count
        let outcome = try stage.run(["--skip-existing"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight() && stage.bytesAsked(after: before) <= (8 << 20) - kept)
    }

    @Test(arguments: [["--overwrite"], ["--auto-rename"], ["--timestamping"], ["-o", "-"]])
    func refusesConflictingOptions(options: [String]) throws {
        let stage = try Stage(size: 10)
        #expect(try stage.run(options + ["--skip-existing"]).end == .exit(64))
        #expect(stage.origin.requests.isEmpty)
    }

    @Test func listsAndQueueSupportSkipExisting() throws {
        let stage = try QueueStage(size: 1000)
        try stage.files.sandbox.write("b.iso", "mine")
        try stage.files.sandbox.write(
            "list", "\(stage.origin.url("/1/b.iso"))\n skip-existing=true\n")
        let list = try Run(["-i", "list"], in: stage.folder).wait()
        let words = "skipped: the file exists; it was not checked"
        #expect(list.end == .exit(0) && list.errorOutput.contains(words), "\(list.errorOutput)")
        let id = try stage.add("/1/b.iso", "--skip-existing")
        let run = try stage.run("run")
        #expect(run.end == .exit(0) && run.errorOutput.contains(words), "\(run.errorOutput)")
        let task = try stage.task(id)
        #expect(task["skipped"] as? Bool == true && task["state"] as? String == "completed")
        // The state and the event have the same words.
        let shown = try stage.done("show", id)
        #expect(shown.split(separator: "\n").count { $0.hasSuffix(words) } == 2, "\(shown)")
        #expect(stage.origin.requests.isEmpty)
    }
}
