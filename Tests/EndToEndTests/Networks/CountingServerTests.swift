import Foundation
import TestSupport
import Testing

/// Servers that limit the rate of requests.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct CountingServerTests {
    /// mod_evasive with its defaults answers the third request for a page in a second with 403.
    ///
    /// It then refuses all requests for 10 s more, which this test waits for.
    @Test func completesUnderModEvasive() async throws {
        let content = Content(size: 40_000_000, seed: 9)
        let (root, logs, sandbox) = (try Sandbox(), try Sandbox(), try Sandbox())
        try content.write(to: root.path("file.bin"))
        // For a file that has just changed, Apache sends a weak ETag and no range for an `If-Range`
        // date.
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000)],
            ofItemAtPath: root.path("file.bin"))
        let server = try RealServer(
            .apache, root: root,
            directives: """
                LoadModule evasive20_module /usr/lib/apache2/modules/mod_evasive20.so
                DOSPageCount 2
                DOSPageInterval 1
                DOSSiteCount 50
                DOSSiteInterval 1
                DOSBlockingPeriod 10
                CustomLog \(logs.path("requests")) "%s %B %{Range}i"

                """)
        let outcome = try await Run(
            [server.url("/file.bin"), "--json", "-v"], in: sandbox.path
        ).ended()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try content.firstDifference(at: sandbox.path("file.bin")) == nil)
        let log = String(decoding: try logs.read("requests"), as: UTF8.self)
            .split(separator: "\n")
        // On a slow machine the third request arrives too late to be counted.
        let refused = log.count { $0.hasPrefix("403") }
        let rests = try outcome.notices("resting")
        #expect(refused == 0 || rests.count == 1, "\(log)")
        #expect(rests.allSatisfy { $0.delay == 10 })
        // After the pause, few requests receive the missing ranges, and the last checks the version.
        // On a busy machine a range is split once or twice.
        let last = log.lastIndex { $0.hasPrefix("403") } ?? log.startIndex
        #expect(refused == 0 || log.count - last - 1 <= 8, "\(log)")
    }

    /// nginx serves one request a second: segget sends few requests, each for a large range.
    ///
    /// The first one is `HEAD`.
    @Test(arguments: [503, 403])
    func sendsFewRequestsUnderNginxRateLimit(status: Int) async throws {
        let content = Content(size: 16_000_000, seed: 9)
        let (root, sandbox) = (try Sandbox(), try Sandbox())
        try content.write(to: root.path("file.bin"))
        let nginx = try Nginx(
            root: root.path, limitRate: "8m",
            directives: "limit_req zone=all; limit_req_status \(status);",
            shared: "limit_req_zone $server_port zone=all:1m rate=1r/s;")
        let outcome = try await Run(
            [nginx.url("/file.bin"), "--json", "-v"], in: sandbox.path
        ).ended()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try content.firstDifference(at: sandbox.path("file.bin")) == nil)
        let log = try nginx.accessLog()
        #expect(log.count { $0.status == 206 || $0.status == 200 } <= 6, "\(log)")
        #expect(log.count { $0.status == status } <= 6, "\(log)")
    }

    /// The file is forbidden, although `HEAD` may succeed.
    @Test(arguments: [true, false])
    func forbiddenFileFailsAfterFewRequests(headIsServed: Bool) async throws {
        let trial = try WireTrial { request, reply in
            if request.method == "GET" || !headIsServed { reply = .text(403) }
        }
        let outcome = try await trial.run()
        try outcome.expectFailure(code: 77, kind: "refused", keepsPart: false)
        #expect(try outcome.notices("resting").isEmpty)
        #expect(trial.origin.requests.count <= 8)
    }

    /// segget sends a refused password at most once more, to resolve the original URL again.
    @Test func refusedPasswordFailsWithoutPause() async throws {
        let (asked, refused) = (Tally(), Tally())
        let trial = try WireTrial(size: 6_000_000) { request, reply in
            guard request.method == "GET", asked.add() > 2 else { return }
            refused.add()
            reply = .text(403)
        }
        let netrc = try Sandbox()
        let path = try netrc.write("netrc", "machine 127.0.0.1 login me password secret\n")
        let outcome = try await trial.run("-x", "4", "--netrc-file", path)
        try outcome.expectFailure(code: 77, kind: "refused")
        #expect(try outcome.notices("resting").isEmpty)
        // The requests in flight, and those that resolve the URL again. On a busy machine there are
        // a few more, because the two served requests take long.
        #expect(refused.count() <= 16)
    }

    /// With `--max-running 1`, the next task runs while segget pauses requests to the first host.
    @Test func restingTaskFreesItsSlot() throws {
        let (stage, other) = (try QueueStage(size: 40_000_000), try BatchStage(size: 100_000))
        let isForbidding = Guarded(true)
        let asked = Tally()
        stage.origin.bendGET { _, reply in
            if isForbidding.withLock({ $0 }), asked.add() > 2 { reply = .text(403) }
        }
        try stage.done("settings", "--max-running", "1")
        let first = try stage.add("/1/big.iso", "-x", "4")
        try stage.done("add", other.origin.url("/2/small.iso"))
        let worker = try stage.start(["run"])
        let isBehind = try eventually(timeout: 120) {
            let states = try stage.tasks().map { $0["state"] as? String }
            return states == ["retrying", "completed"] || !worker.isRunning
        }
        #expect(isBehind, "\(worker.errorOutput)")
        let count = asked.count()
        isForbidding.withLock { $0 = false }
        let outcome = try worker.wait(timeout: 120)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.task(first)["state"] as? String == "completed")
        #expect(try stage.files.isRight("big.iso", "/1/big.iso"))
        // The requests in flight, and those that resolve the URL again.
        #expect(count <= 16)
    }
}
