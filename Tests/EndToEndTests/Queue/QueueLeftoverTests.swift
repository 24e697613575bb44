import Foundation
import Glibc
import TestSupport
import Testing

/// Tests which parts remain on the disk when tasks are removed, and that commands report them.
@Suite(.timeLimit(.minutes(5)))
struct QueueLeftoverTests {
    private let stage: QueueStage

    init() throws { stage = try QueueStage(size: 30_000_000) }

    private var part: String { stage.files.sandbox.path("a.iso.part") }

    /// Starts a worker and a task with a slow server, and waits until the part has some bytes.
    private func slowTask() throws -> (worker: Run, id: String) {
        stage.origin.bendGET { _, reply in reply.pace = 100_000 }
        let worker = try stage.work("--keep-running")
        let id = try stage.add("/1/a.iso")
        #expect(eventually(timeout: 120) { (stage.files.recorded("a.iso") ?? 0) > 0 })
        return (worker, id)
    }

    private func end(_ worker: Run) throws {
        worker.signal(SIGTERM)
        _ = try worker.wait()
    }

    @Test(arguments: [true, false])
    func removeReportsRemainingPart(isPaused: Bool) throws {
        let (worker, id) = try slowTask()
        if isPaused { try stage.done("pause", id) }
        let removed = try stage.run("remove", id)
        #expect(removed.end == .exit(0) && removed.output == "\(id) removed\n")
        #expect(removed.errorOutput.contains("`\(part)` remains, "), "\(removed.errorOutput)")
        #expect(removed.errorOutput.contains("iB; "), "\(removed.errorOutput)")
        #expect(removed.errorOutput.contains("--files"), "\(removed.errorOutput)")
        #expect(try stage.names() == ["a.iso.part", "a.iso.segget"])
        try end(worker)
    }

    @Test func removeReportsPartWithoutWorker() throws {
        let (worker, id) = try slowTask()
        try end(worker)
        let removed = try stage.run("remove", id)
        #expect(removed.errorOutput.contains("`\(part)` remains, "), "\(removed.errorOutput)")
        #expect(try stage.tasks().isEmpty)
    }

    @Test func removeWithFilesReportsNoPart() throws {
        let (worker, id) = try slowTask()
        let removed = try stage.run("remove", "--files", id)
        #expect(!removed.errorOutput.contains("remains"), "\(removed.errorOutput)")
        #expect(try stage.names() == [])
        try end(worker)
    }

    @Test func clearReportsPartOfFailedTask() throws {
        let (worker, id) = try slowTask()
        try stage.done("pause", id)
        stage.origin.bend { _, reply in reply = .text(404) }
        try stage.done("resume", id)
        #expect(try stage.waits(for: "failed", of: id))
        let cleared = try stage.run("clear")
        #expect(cleared.output == "1 task removed from the list\n")
        #expect(cleared.errorOutput.contains("`\(part)` remains, "), "\(cleared.errorOutput)")
        try end(worker)
    }

    /// A part that another program wrote at the same path is not reported.
    @Test func removeDoesNotReportForeignPart() throws {
        let id = try stage.add("/1/a.iso", "--name", "a.iso", "--paused")
        try stage.files.sandbox.write("a.iso.part", "somebody else's")
        let removed = try stage.run("remove", id)
        #expect(!removed.errorOutput.contains("remains"), "\(removed.errorOutput)")
    }

    /// Like aria2, segget keeps the file and its control file, whether the download was active or
    /// paused.
    @Test(
        arguments: ClientServer.allCases,
        [("remove", false), ("remove", true), ("forceRemove", false), ("forceRemove", true)])
    func aria2RemoveKeepsThePart(server: ClientServer, call: (method: String, isPaused: Bool))
        throws
    {
        let stage = try ClientStage()
        let door = try stage.open(server)
        let folder = "\(stage.folder)/aria2"
        let gid = try door.add(stage.url("/stuck"), #"{"dir": "\#(folder)"}"#)
        let part = "\(folder)/stuck.part"
        func status(_ key: String) throws -> String? {
            let status = try door.call("aria2.tellStatus", "\"\(gid)\"", #"["\#(key)"]"#)
            return (status as? [String: String])?[key]
        }
        // An empty part would be removed with its task.
        #expect(try eventually(timeout: 120) { try Int(status("completedLength") ?? "") ?? 0 > 0 })
        #expect(stage.names(in: folder) == ["stuck.part", "stuck.segget"])
        if call.isPaused { _ = try door.call("aria2.pause", "\"\(gid)\"") }
        #expect(try door.call("aria2.\(call.method)", "\"\(gid)\"") as? String == gid)
        #expect(try eventually { try status("status") == "removed" })
        #expect(try door.call("aria2.removeDownloadResult", "\"\(gid)\"") as? String == "OK")
        try stage.end(door)
        #expect(access(part, F_OK) == 0 && access("\(folder)/stuck.segget", F_OK) == 0)
    }
}
