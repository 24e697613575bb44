import Foundation
import TestSupport
import Testing

/// A link that always fails does not delay the start of other files.
///
/// Meanwhile the same server sends a file that takes minutes.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct DeadLinkEndToEndTests {
    /// The status of the dead link, and whether only `GET` gets it; 0 is a reset.
    static let statuses = [
        (500, false), (502, true), (503, false), (503, true), (403, true), (0, true),
    ]

    /// Slows `/slow/…` down, refuses `/dead/…`, and counts the `GET` requests for the latter.
    private static func bend(_ files: BatchStage, status: Int, isByGet: Bool) -> Tally {
        let asked = Tally()
        files.origin.bend { request, reply in
            if request.path.hasPrefix("/dead") {
                guard !isByGet || request.method == "GET" else { return }
                if request.method == "GET" { asked.add() }
                reply = status == 0 ? .resetWithoutReply : .text(status)
            } else if request.path.hasPrefix("/slow"), request.method == "GET" {
                reply.pace = 20_000
            }
        }
        return asked
    }

    @Test(arguments: statuses)
    func deadLinkDoesNotDelayNextFileOfList(status: Int, isByGet: Bool) async throws {
        let stage = try BatchStage(size: 6_000_000)
        let asked = Self.bend(stage, status: status, isByGet: isByGet)
        defer { stage.origin.behave() }
        let paths = ["/slow/c.bin", "/dead/dead.bin", "/small/small.bin"]
        let child = try Run(
            ["-j", "2", "-x", "2", "-v"] + paths.map(stage.origin.url), in: stage.folder)
        let arrived = try await onThread {
            child.waits {
                FileManager.default.fileExists(atPath: stage.sandbox.path("small.bin"))
            }
        }
        #expect(arrived, "\(child.errorOutput)")
        #expect(try stage.isRight("small.bin", "/small/small.bin"))
        // segget tries three times, and three times more after the small file, whose download may
        // have caused the refusal. A reset may concern the whole host: then segget also waits for
        // the slow file.
        let isDecided = try await onThread {
            child.waits {
                asked.count() >= 3 && (status == 0 || child.errorOutput.contains("/dead.bin`"))
            }
        }
        #expect(isDecided, "\(child.errorOutput)")
        child.signal(SIGTERM)
        _ = try await child.ended()
        #expect(asked.count() <= 12, "\(child.errorOutput)")
    }

    /// The task waits as `retrying` and has no slot.
    @Test(arguments: statuses)
    func deadLinkDoesNotDelayNextTask(status: Int, isByGet: Bool) throws {
        let stage = try QueueStage(size: 6_000_000)
        _ = Self.bend(stage.files, status: status, isByGet: isByGet)
        defer { stage.origin.behave() }
        try stage.done("settings", "--max-running", "2")
        let slow = try stage.add("/slow/c.bin", "-x", "2")
        let worker = try stage.work()
        // A forbidden link fails immediately if the host has served nothing else.
        let isServed = worker.waits {
            (try? stage.task(slow)["bytes_done"] as? Int ?? 0 > 0) == true
        }
        #expect(isServed, "\(worker.errorOutput)")
        let dead = try stage.add("/dead/dead.bin")
        let small = try stage.add("/small/small.bin")
        let states = { () -> [String?] in
            let tasks = try stage.tasks()
            return [slow, dead, small].map { id in
                tasks.first { $0["id"] as? String == id }?["state"] as? String
            }
        }
        let isRight = eventually(timeout: 120) {
            (try? states()) == ["running", "retrying", "completed"] || !worker.isRunning
        }
        let seen = try states()
        #expect(isRight && worker.isRunning, "\(seen) \(worker.errorOutput)")
        worker.signal(SIGTERM)
        _ = try worker.wait()
    }
}
