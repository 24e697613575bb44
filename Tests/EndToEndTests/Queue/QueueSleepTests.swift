import Foundation
import Glibc
import TestSupport
import Testing

/// Tests that a worker inhibits sleep while it downloads.
@Suite(.timeLimit(.minutes(5)))
struct QueueSleepTests {
    private let stage: QueueStage
    private let goesOn = Guarded(false)

    init() throws {
        stage = try QueueStage(size: 1_000_000)
        // Like the real tool, it runs the command after the options, and holds the lock until that
        // ends.
        try stage.tool(
            "systemd-inhibit",
            """
            echo "begin $*" >>'\(stage.home.path("log"))'
            while [ "${1#--}" != "$1" ]; do shift; done
            "$@"
            echo end >>'\(stage.home.path("log"))'
            """)
        stage.origin.bendGET { [goesOn] _, reply in
            reply.stallAfter = 10_000
            reply.release = goesOn
        }
    }

    private static let begin =
        "begin --what=sleep --who=segget --why=Files are being downloaded --mode=block cat"

    private var log: [String] {
        let text = (try? stage.home.read("log")).map { String(decoding: $0, as: UTF8.self) }
        return text?.split(separator: "\n").map(String.init) ?? []
    }

    @Test func sleepIsInhibitedDuringDownloads() throws {
        let worker = try stage.work("--keep-running")
        let held = try stage.add("/0/held.iso", "--paused")
        #expect(log.isEmpty)
        let id = try stage.add("/1/a.iso")
        #expect(eventually { log == [Self.begin] }, "\(log)")
        try stage.done("pause", id)
        #expect(eventually { log == [Self.begin, "end"] }, "\(log)")
        try stage.done("resume", id)
        #expect(eventually { log.count == 3 }, "\(log)")
        goesOn.withLock { $0 = true }
        #expect(eventually { log == [Self.begin, "end", Self.begin, "end"] }, "\(log)")
        #expect(try stage.state(id) == "completed" && stage.state(held) == "paused")
        worker.signal(SIGTERM)
        #expect(try !worker.wait().errorOutput.contains("sleep"))
    }

    @Test func killedWorkerReleasesInhibitor() throws {
        _ = try stage.add("/1/a.iso")
        let worker = try stage.work()
        #expect(eventually { log == [Self.begin] }, "\(log)")
        worker.signal(SIGKILL)
        #expect(eventually { log == [Self.begin, "end"] }, "\(log)")
    }

    @Test func refusedInhibitorIsReportedOnce() throws {
        goesOn.withLock { $0 = true }
        try stage.tool(
            "systemd-inhibit",
            "echo refused >>'\(stage.home.path("log"))'; echo 'Failed to inhibit: no' >&2; exit 1")
        let worker = try stage.work("--keep-running")
        for number in 1...3 {
            let id = try stage.add("/\(number)/a.iso", "--auto-rename")
            #expect(try stage.waits(for: "completed", of: id))
        }
        let note =
            "note: the machine may go to sleep: `systemd-inhibit` said: Failed to inhibit: no"
        #expect(eventually { worker.errorOutput.contains(note) }, "\(worker.errorOutput)")
        worker.signal(SIGTERM)
        let said = try worker.wait().errorOutput
        #expect(said.components(separatedBy: note).count == 2, "\(said)")
    }

    @Test func noInhibitOptionAllowsSleep() throws {
        goesOn.withLock { $0 = true }
        _ = try stage.add("/1/a.iso")
        #expect(try stage.run("run", "--no-inhibit").end == .exit(0))
        #expect(log.isEmpty)
    }
}
