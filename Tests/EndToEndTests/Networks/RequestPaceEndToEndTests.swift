import Foundation
import Glibc
import TestSupport
import Testing

/// The user's bound on requests, and quotas that a server states before it refuses requests.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct RequestPaceEndToEndTests {
    /// A server with a quota for each period, which starts with the first request after the last.
    private struct Quota {
        let total: Int
        let window: Double
        var start = -Double.infinity
        var used = 0

        /// Counts a request.
        ///
        /// - Returns: The number of requests that remain, below 0 above the quota, and the seconds
        ///   until the next period.
        mutating func count(_ now: Double) -> (remaining: Int, reset: Int) {
            if now >= start + window { (start, used) = (now, 0) }
            used += 1
            return (total - used, Int((start + window - now).rounded(.up)))
        }
    }

    /// Returns the largest number of requests in a second.
    private func mostInOneSecond(_ origin: Origin) -> Int {
        let times = origin.requests.map(\.time).sorted()
        return times.map { start in times.count { $0 >= start && $0 < start + 1 } }.max() ?? 0
    }

    private func list(_ count: Int, _ stage: BatchStage, as name: String = "f") -> String {
        (1...count).map { "\(stage.origin.url("/\($0)/f"))\n out=\(name)\($0)\n" }.joined()
    }

    /// Without the bound, all 60 requests arrive within a fraction of a second.
    @Test func listStaysWithinBound() throws {
        let stage = try BatchStage(size: 10_000)
        let outcome = try stage.run(list: list(60, stage), ["--max-requests", "20/s", "-q"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        for number in 1...60 { #expect(try stage.isRight("f\(number)", "/\(number)/f")) }
        #expect(stage.origin.requests.count <= 64)
        // Segget sends at most 20; a busy machine may log several late ones together.
        #expect(mostInOneSecond(stage.origin) <= 30)
    }

    /// Connections of one file, its probe and its last check share the bound.
    @Test func fileStaysWithinBound() throws {
        let stage = try BatchStage(size: 20_000_000)
        stage.origin.bendGET { reply in reply.pace = 2e6 }
        let outcome = try Run(
            [stage.origin.url("/1/f"), "-x", "16", "--max-requests", "4/s", "-q"],
            in: stage.folder
        ).wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight("f", "/1/f"))
        #expect(mostInOneSecond(stage.origin) <= 8)
    }

    /// All tasks of a queue share the bound, also if it changes while the worker runs.
    @Test func queueStaysWithinBound() throws {
        let stage = try QueueStage(size: 10_000)
        try stage.done("settings", "--max-requests", "5/s", "--max-running", "8")
        for number in 1...12 { _ = try stage.add("/\(number)/f\(number)") }
        let outcome = try stage.start(["run"]).wait(timeout: 120)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        for number in 1...12 {
            #expect(try stage.files.isRight("f\(number)", "/\(number)/f\(number)"))
        }
        #expect(mostInOneSecond(stage.origin) <= 8)
    }

    /// A request that waits for its turn is no failure, no stall and no low rate.
    @Test func waitingIsNoFailure() throws {
        let stage = try BatchStage(size: 2_000_000)
        let cuts = Tally()
        stage.origin.bendGET { _, reply in
            if cuts.add() <= 2 { reply.cutAfter = 100_000 }
        }
        let outcome = try Run(
            [
                stage.origin.url("/1/f"), "-x", "1", "--max-requests", "40/m", "--retries", "1",
                "--min-rate", "10K", "--min-rate-time", "0.5", "--stall-timeout", "1", "--json",
            ], in: stage.folder
        ).wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight("f", "/1/f"))
        #expect(try outcome.notices("stalled").isEmpty)
        #expect(try outcome.notices("changing_connections").isEmpty)
    }

    /// The server refuses requests above its quota; segget never sends one.
    @Test(arguments: ["RateLimit", "dictionary", "X-RateLimit"])
    func statedQuotaIsNeverExceeded(form: String) throws {
        let stage = try BatchStage(size: 10_000)
        let quota = Guarded(Quota(total: 16, window: 3))
        let refused = Tally()
        stage.origin.bend { _, reply in
            let (remaining, reset) = quota.withLock { $0.count(monotonicSeconds()) }
            if remaining < 0 {
                refused.add()
                reply = .text(429)
            }
            let left = max(0, remaining)
            switch form {
            case "RateLimit":
                reply.set("RateLimit", "\"default\";r=\(left);t=\(reset)")
                reply.set("RateLimit-Policy", "\"default\";q=16;w=3")
            case "dictionary":
                reply.set("RateLimit", "limit=16, remaining=\(left), reset=\(reset)")
            default:
                reply.set("X-RateLimit-Limit", "16")
                reply.set("X-RateLimit-Remaining", "\(left)")
                reply.set("X-RateLimit-Reset", "\(Int(Date().timeIntervalSince1970) + reset)")
            }
        }
        let outcome = try stage.run(list: list(40, stage), ["-j", "4", "-q"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        for number in 1...40 { #expect(try stage.isRight("f\(number)", "/\(number)/f")) }
        #expect(refused.count() == 0)
    }

    // MARK: Retry-After

    /// The host refuses one file, and then all: none of its files is requested before the time.
    ///
    /// If it served others meanwhile, it would have refused only one request too many.
    @Test(arguments: [429, 503])
    func retryAfterHoldsForAllFilesOfHost(status: Int) throws {
        let stage = try BatchStage(size: 10_000)
        let (count, refused) = (Tally(), Guarded(0.0))
        stage.origin.bend { _, reply in
            let (number, now) = (count.add(), monotonicSeconds())
            let isRefused = refused.withLock { since in
                if number == 5 { since = now }
                return since > 0 && now - since < 3
            }
            if isRefused { reply = .text(status, headers: [HeaderField("Retry-After", "3")]) }
        }
        let outcome = try stage.run(list: list(60, stage), ["-j", "4", "-q"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        for number in 1...60 { #expect(try stage.isRight("f\(number)", "/\(number)/f")) }
        let since = refused.withLock { $0 }
        let times = stage.origin.requests.map { $0.time - since }
        // Only requests that were sent before the refusal arrived.
        #expect(times.count { $0 < 3 } <= 12, "\(times)")
    }

    /// Files of a host that demands a long wait give their slots to those of another host.
    @Test(arguments: [10_000, 2_000_000] as [Int64])
    func longWaitDelaysNoOtherHost(size: Int64) throws {
        let (first, second) = (try BatchStage(size: size), try BatchStage(size: size))
        first.origin.bend { _, reply in
            reply = .text(429, headers: [HeaderField("Retry-After", "600")])
        }
        try first.sandbox.write("list", list(80, first) + list(40, second, as: "g"))
        let run = try Run(["-i", first.sandbox.path("list"), "-q"], in: second.folder)
        defer { run.signal(SIGKILL) }
        for number in 1...40 {
            #expect(eventually { access(second.sandbox.path("g\(number)"), F_OK) == 0 })
            #expect(try second.isRight("g\(number)", "/\(number)/f"))
        }
        #expect(first.origin.requests.count < 40, "most files of the host were not requested")
        run.signal(SIGTERM)
        #expect(try run.wait().end == .exit(143))
    }

    /// After the wait, all files of the host are downloaded.
    @Test func filesContinueAfterLongWait() throws {
        let (first, second) = (try BatchStage(size: 10_000), try BatchStage(size: 10_000))
        let count = Tally()
        first.origin.bend { _, reply in
            guard count.add() <= 2 else { return }
            reply = .text(503, headers: [HeaderField("Retry-After", "6")])
        }
        let others = list(40, second, as: "g")
        let outcome = try first.run(list: list(400, first) + others, ["-q"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        for number in 1...400 { #expect(try first.isRight("f\(number)", "/\(number)/f")) }
        for number in 1...40 {
            let content = Content.named("/\(number)/f", size: 10_000)
            #expect(try content.firstDifference(at: first.sandbox.path("g\(number)")) == nil)
        }
    }

    /// The host refuses one task of a queue: no other task sends it a request before the time.
    @Test func retryAfterHoldsForAllTasksOfQueue() throws {
        let stage = try QueueStage(size: 10_000)
        let (count, refused) = (Tally(), Guarded(0.0))
        stage.files.origin.bend { _, reply in
            guard count.add() == 1 else { return }
            reply = .text(503, headers: [HeaderField("Retry-After", "6")])
            refused.withLock { $0 = monotonicSeconds() }
        }
        try stage.done("settings", "--max-running", "1")
        for number in 1...3 { _ = try stage.add("/\(number)/f\(number)") }
        let outcome = try stage.start(["run"]).wait(timeout: 120)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        for number in 1...3 {
            #expect(try stage.files.isRight("f\(number)", "/\(number)/f\(number)"))
        }
        let since = refused.withLock { $0 }
        let later = stage.files.origin.requests.map { $0.time - since }.filter { $0 > 0 }
        #expect(later.allSatisfy { $0 >= 5.9 }, "\(later)")
    }

    /// A fetch ends while the body of a 429 with `Retry-After` is still arriving on a connection.
    @Test func fetchEndsBesideUnfinishedRefusal() async throws {
        let (refused, other) = (Tally(), Content(size: 6_000_000, seed: 5))
        let trial = try WireTrial(size: 6_000_000) { request, content in
            guard request.method == "GET" else {
                return .file(content, for: request, etag: "\"a\"")
            }
            if refused.count() > 0 { return .file(other, for: request, etag: "\"b\"") }
            guard request.range?.first ?? 0 > 0 else {
                var reply = OriginReply.file(content, for: request, etag: "\"a\"")
                reply.pace = 100_000
                return reply
            }
            refused.add()
            var reply = OriginReply.text(
                429, String(repeating: "x", count: 9000),
                headers: [HeaderField("Retry-After", "1")])
            reply.stallAfter = 1000
            return reply
        }
        let outcome = try await trial.run("-x", "4", "-o", "file.bin")
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(refused.count() == 1)
        #expect(try other.firstDifference(at: trial.sandbox.path("file.bin")) == nil)
    }
}
