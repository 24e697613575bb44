import Foundation
import Glibc
import TestSupport
import Testing

/// Tests adding a URL that a task has already.
@Suite(.timeLimit(.minutes(5)))
struct QueueKnownTests {
    private let stage: QueueStage

    init() throws {
        stage = try QueueStage(size: 100_000)
        for name in ["one", "two"] { mkdir(stage.files.sandbox.path(name), 0o700) }
    }

    /// Runs `segget add` in a folder below the download folder.
    private func add(
        in folder: String, _ arguments: String..., environment: [String: String] = [:]
    ) throws -> Run.Outcome {
        try Run(
            ["add", "--queue", stage.queue, stage.origin.url("/1/a.iso")] + arguments,
            in: stage.files.sandbox.path(folder),
            environment: ["SEGGET_NO_CONFIG": "1"].merging(environment) { $1 }
        ).wait()
    }

    private func id(_ outcome: Run.Outcome) -> String {
        outcome.output.trimmingCharacters(in: .newlines)
    }

    @Test func findsTaskFromOtherFolder() throws {
        let first = id(try add(in: "one", "--paused"))
        let second = try add(in: "two")
        #expect(second.end == .exit(0) && id(second) == first, "\(second.errorOutput)")
        #expect(second.errorOutput.contains("`\(stage.folder)/one`"), "\(second.errorOutput)")
        // The task is resumed, as if added from its own folder.
        #expect(try stage.task(first)["wanted"] as? String == "run")
        #expect(try stage.run("run").end == .exit(0))
        let third = try add(in: "two")
        #expect(third.end == .exit(0) && id(third) == first)
        #expect(
            third.errorOutput.contains(
                "is complete, and its file is there, `\(stage.folder)/one/a.iso`"),
            "\(third.errorOutput)")
        #expect(try stage.names() == ["one", "two"] && stage.tasks().count == 1)
    }

    @Test func findsTaskAfterFileWasMoved() throws {
        let first = id(try add(in: "one"))
        #expect(try stage.run("run").end == .exit(0))
        try stage.done("rename", first, "-d", stage.files.sandbox.path("two"))
        #expect(id(try add(in: "one")) == first)
        #expect(try stage.tasks().count == 1)
    }

    /// The user did not type the folder of the configuration.
    @Test func configuredFolderMakesNoCopy() throws {
        let first = id(try add(in: "one"))
        let other = stage.files.sandbox.path("two")
        let second = try add(in: "one", environment: ["SEGGET_DIRECTORY": other])
        #expect(id(second) == first, "\(second.errorOutput)")
    }

    @Test(arguments: [
        ["--again"], ["-d", "../two"], ["-o", "../two/b.iso"], ["--name", "b.iso"],
    ])
    func typedPathMakesReportedCopy(options: [String]) throws {
        let first = id(try add(in: "one"))
        let copy = try Run(
            ["add", "--queue", stage.queue, stage.origin.url("/1/a.iso")] + options,
            in: stage.files.sandbox.path("one"), environment: ["SEGGET_NO_CONFIG": "1"]
        ).wait()
        #expect(copy.end == .exit(0) && id(copy) != first, "\(copy.errorOutput)")
        #expect(
            copy.errorOutput.contains("task \(id(copy)) is a copy: task \(first)"),
            "\(copy.errorOutput)")
        #expect(try stage.run("run").end == .exit(0))
        #expect(try stage.tasks().count == 2)
    }

    @Test func typedFolderOfTaskMakesNoCopy() throws {
        let first = id(try add(in: "one"))
        let second = try add(in: "two", "-d", "../one")
        #expect(id(second) == first, "\(second.errorOutput)")
    }

    @Test(
        arguments: [
            ("--checksum", "sha-256:" + String(repeating: "0", count: 64)), ("--user", "me:other"),
            ("--header", "X-Key: other"),
        ])
    func differentChecksumUserOrHeaderIsRefused(option: String, value: String) throws {
        let first = id(
            try add(
                in: "one", "--paused", "--user", "me:first", "--header", "X-Key: first",
                "--checksum", "sha-256:" + stage.files.sha256("/1/a.iso")))
        let before = try stage.tasks("--state", "paused").count
        let refused = try add(in: "two", option, value)
        #expect(refused.end == .exit(64) && refused.output.isEmpty, "\(refused.output)")
        for text in [first, "nothing was changed", "`\(option)`", "`--again`"] {
            #expect(refused.errorOutput.contains(text), "\(refused.errorOutput)")
        }
        #expect(!refused.errorOutput.contains("first") && !refused.errorOutput.contains("other"))
        #expect(try stage.tasks("--state", "paused").count == before)
        // Equal options are no difference, and missing ones are not compared.
        let same = try add(in: "two", "--paused", "--user", "me:first", "--header", "X-Key: first")
        #expect(same.end == .exit(0) && id(same) == first, "\(same.errorOutput)")
        let copy = try add(in: "two", option, value, "--again", "--paused")
        #expect(copy.end == .exit(0) && id(copy) != first, "\(copy.errorOutput)")
    }

    @Test func addAttachFindsTask() throws {
        let first = id(try add(in: "one"))
        let get = try Run(
            ["add", "--attach", "--queue", stage.queue, stage.origin.url("/1/a.iso")],
            in: stage.files.sandbox.path("two"), environment: ["SEGGET_NO_CONFIG": "1"])
        let worker = try stage.work("--keep-running")
        let outcome = try get.wait(timeout: 240)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains(first), "\(outcome.errorOutput)")
        #expect(try stage.tasks().count == 1)
        worker.signal(SIGTERM)
        _ = try worker.wait()
    }
}
