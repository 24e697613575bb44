import Assembler
import Foundation
import Glibc
import TestSupport
import Testing

/// Parts that disappear while the server sends nothing.
///
/// No received byte and no end of a transfer makes segget check the part.
struct LostPartTests {
    enum Fault: String, CaseIterable { case part, folder, move, unmount }

    private static let size: Int64 = 1_000_000

    private func stall(_ stage: Stage) { stage.origin.bendGET { $0.stallAfter = 100_000 } }

    @Test(.timeLimit(.minutes(5)), arguments: Fault.allCases, [1, 4])
    func noticesLostPartDuringStall(fault: Fault, connections: Int) throws {
        let memory = fault == .unmount ? try Tmpfs(size: 8 << 20) : nil
        let stage = try Stage(size: Self.size, in: memory?.path)
        defer { stage.origin.dropConnections() }
        let sub = stage.path("sub")
        #expect(mkdir(sub, 0o700) == 0)
        stall(stage)
        let process = try Run(
            [
                "-d", sub, "-x", "\(connections)", "--stall-timeout", "500", "--json",
                stage.origin.url("/file"),
            ], in: "/")
        #expect(
            process.waits {
                (stage.recorded("sub/file") ?? 0) >= 100_000 * Int64(connections)
            })
        switch fault {
        case .part: unlink(sub + "/file.part")
        case .folder: try FileManager.default.removeItem(atPath: sub)
        case .move: rename(sub + "/file.part", stage.path("elsewhere"))
        case .unmount: memory?.close()
        }
        let outcome = try process.wait(timeout: 120)
        #expect(outcome.end == .exit(74), "\(outcome.errorOutput)")
        let failed = try #require(
            try jsonEvents(outcome.output).first { $0["event"] as? String == "error" })
        let text = "\(failed)"
        #expect(failed["kind"] as? String == "part_gone", "\(text)")
        #expect((failed["message"] as? String)?.contains("the received bytes are gone") == true)
        #expect(failed["bytes_kept"] as? Int == 0, "\(text)")
        let left = try? FileManager.default.contentsOfDirectory(atPath: sub)
        switch fault {
        case .part: #expect(left == ["file.segget"])
        case .folder, .unmount: #expect(access(sub, F_OK) != 0)
        case .move:
            #expect(try stage.names() == ["elsewhere", "sub"])
            #expect(left == ["file.segget"])
        }
    }

    @Test(.timeLimit(.minutes(5))) func otherFilesOfAListContinue() throws {
        let stage = try Stage(size: Self.size)
        defer { stage.origin.dropConnections() }
        let goesOn = Guarded(false)
        stage.origin.bendGET {
            $0.stallAfter = 100_000
            $0.release = goesOn
        }
        try FileManager.default.createDirectory(
            atPath: stage.path("sub"), withIntermediateDirectories: false)
        let list = "\(stage.origin.url("/a"))\n  dir=sub\n\(stage.origin.url("/b"))\n"
        try Data(list.utf8).write(to: URL(fileURLWithPath: stage.path("list")))
        let process = try Run(
            ["-i", "list", "-x", "4", "--stall-timeout", "500"], in: stage.folder)
        #expect(process.waits(for: 200_000, name: "sub/a"))
        #expect(process.waits(for: 200_000, name: "b"))
        try FileManager.default.removeItem(atPath: stage.path("sub"))
        let isNoticed = eventually { process.errorOutput.contains("the received bytes are gone") }
        #expect(isNoticed, "\(process.errorOutput)")
        #expect(process.isRunning)
        goesOn.withLock { $0 = true }
        let outcome = try process.wait(timeout: 120)
        #expect(outcome.end == .exit(74), "\(outcome.errorOutput)")
        #expect(try stage.isRight("b"))
        #expect(try stage.names() == ["b", "list"])
    }

    @Test(.timeLimit(.minutes(5))) func taskFailsWithoutRetry() throws {
        let stage = try QueueStage()
        defer { stage.origin.dropConnections() }
        stage.origin.bendGET { _, reply in reply.stallAfter = 100_000 }
        let id = try stage.add("/file", "-d", "sub", "-x", "2", "--stall-timeout", "500")
        let worker = try stage.work()
        let part = stage.folder + "/sub/file.part"
        let manifest = stage.folder + "/sub/file.segget"
        let hasBegun = eventually(timeout: 120) {
            access(part, F_OK) == 0
                && (try? Manifest(
                    reading: Array(FileManager.default.contents(atPath: manifest) ?? Data())))?
                    .extents.covered.count ?? 0 >= 200_000
        }
        #expect(hasBegun)
        try FileManager.default.removeItem(atPath: stage.folder + "/sub")
        #expect(try stage.waits(for: "failed", of: id))
        let task = try stage.task(id)
        #expect("\(task)".contains("part_gone"), "\(task)")
        #expect(access(stage.folder + "/sub", F_OK) != 0)
        // The worker would continue for a task that waits for a retry.
        _ = try worker.wait(timeout: 120)
        #expect(access(stage.folder + "/sub", F_OK) != 0)
    }
}
