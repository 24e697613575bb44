import Foundation
import Glibc
import TestSupport
import Testing

/// Tests `segget retry` for finished tasks whose files are missing or changed.
@Suite(.timeLimit(.minutes(5)))
struct QueueAgainTests {
    private let stage: QueueStage

    init() throws { stage = try QueueStage(size: 100_000) }

    /// Completes a task, and deletes its file.
    private func lostTask(_ path: String, _ name: String) throws -> String {
        let id = try stage.add(path)
        #expect(try stage.run("run").end == .exit(0))
        #expect(unlink(stage.files.sandbox.path(name)) == 0)
        #expect(try stage.task(id)["file"] as? String == "missing")
        return id
    }

    @Test func retryDownloadsAMissingFileAgain() throws {
        let id = try lostTask("/1/a.iso", "a.iso")
        let retry = try stage.done("retry", id)
        #expect(retry.hasPrefix("\(id) waiting again"), "\(retry)")
        #expect(try stage.state(id) == "waiting")
        #expect(try stage.run("run").end == .exit(0))
        #expect(try stage.isRight("a.iso", "/1/a.iso"))
        #expect(try stage.task(id)["file"] as? String == "there")
        // There is nothing to do if the file exists.
        #expect(try stage.done("retry", id).contains("is completed: unchanged"))
    }

    @Test func workerDownloadsMissingFileAgain() throws {
        let id = try lostTask("/1/a.iso", "a.iso")
        let worker = try stage.work("--keep-running")
        try stage.done("retry", id)
        #expect(
            try eventually(timeout: 120, poll: 0.1) {
                try stage.task(id)["file"] as? String == "there"
            })
        #expect(try stage.isRight("a.iso", "/1/a.iso"))
        worker.signal(SIGTERM)
        _ = try worker.wait()
    }

    @Test(arguments: ["start", "resume"])
    func startAndResumeSuggestRetry(command: String) throws {
        let id = try lostTask("/1/a.iso", "a.iso")
        let outcome = try stage.done(command, id)
        #expect(outcome.contains("its file is missing"), "\(outcome)")
        #expect(outcome.contains("`segget retry \(id)`"), "\(outcome)")
        #expect(try stage.state(id) == "completed")
    }

    /// The user may have moved the files on purpose.
    @Test func retryAllSkipsMissingFiles() throws {
        let id = try lostTask("/1/a.iso", "a.iso")
        let failed = try stage.add("/none/b.iso")
        #expect(try stage.run("run").end == .exit(69))
        let retry = try stage.done("retry", "--all")
        #expect(retry.contains("`segget retry \(id)`"), "\(retry)")
        #expect(try stage.state(id) == "completed" && stage.state(failed) == "waiting")
    }

    @Test func retryDoesNotReplaceAChangedFile() throws {
        let id = try stage.add("/1/a.iso")
        #expect(try stage.run("run").end == .exit(0))
        try stage.files.sandbox.write("a.iso", "mine")
        let retry = try stage.done("retry", id)
        #expect(retry.contains("its file was changed later: unchanged"), "\(retry)")
        #expect(try stage.state(id) == "completed")
        #expect(try stage.names() == ["a.iso"])
    }
}
