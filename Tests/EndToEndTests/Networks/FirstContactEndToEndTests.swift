import Foundation
import TestSupport
import Testing

/// How often segget tries a host that has not served anything yet, and when it waits longer.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct FirstContactEndToEndTests {
    /// Expects three tries within about 5 s.
    private func expectBrief(
        _ outcome: Run.Outcome, tries: Int = 3,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let report = Comment(rawValue: outcome.errorOutput)
        #expect(outcome.exitCode == 69, report, sourceLocation: location)
        let waits = try outcome.notices("retrying").compactMap(\.delay)
        #expect(waits.count == tries - 1, report, sourceLocation: location)
        #expect(waits.reduce(0, +) <= 5, sourceLocation: location)
        if tries > 1 {
            #expect(
                outcome.errorOutput.contains("(\(tries) attempts without progress)"), report,
                sourceLocation: location)
        }
    }

    @Test(arguments: [500, 502, 503, 504, 520])
    func triesThreeTimesIfServerErrorPersists(status: Int) async throws {
        let trial = try WireTrial { _, _ in .text(status) }
        let outcome = try await trial.run()
        try outcome.expectFailure(code: 69, kind: "status", keepsPart: false)
        try expectBrief(outcome)
        #expect(trial.gets.count == 3)
    }

    @Test(arguments: [501, 505])
    func doesNotRetryPermanentErrors(status: Int) async throws {
        let trial = try WireTrial { _, _ in .text(status) }
        let outcome = try await trial.run()
        try outcome.expectFailure(code: 69, kind: "status", keepsPart: false)
        try expectBrief(outcome, tries: 1)
    }

    enum Break: String, Sendable, CaseIterable { case refused, reset, closed }

    @Test(arguments: Break.allCases)
    func triesThreeTimesIfConnectionsBreak(kind: Break) async throws {
        let trial = try WireTrial { _, _ in
            kind == .reset ? .resetWithoutReply : .closeWithoutReply
        }
        if kind == .refused { trial.origin.refuseConnections() }
        let outcome = try await trial.run()
        try outcome.expectFailure(code: 69, kind: "network", keepsPart: false)
        try expectBrief(outcome)
    }

    /// `HEAD` succeeds, and every `GET` gets 500.
    @Test(arguments: [1, 4])
    func failsIfOnlyHeadIsServed(connections: Int) async throws {
        let trial = try WireTrial { request, reply in
            if request.method == "GET" { reply = .text(500) }
        }
        let outcome = try await trial.run("-x", "\(connections)")
        #expect(outcome.exitCode == 69, "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("(3 attempts without progress)"))
        #expect(try outcome.notices("retrying").count <= 2 * connections)
        // The first request of each connection, then one request at a time, once without a range.
        #expect(trial.gets.count <= connections + 4)
    }

    /// The proxy answers on behalf of an unreachable server.
    @Test func triesThreeTimesIfProxyAnswers503() async throws {
        let trial = try WireTrial { _, _ in .text(503, "no server") }
        let outcome = try await trial.run(
            "--proxy", trial.origin.url(""), url: "http://127.0.0.1:1/file.bin")
        try expectBrief(outcome)
    }

    @Test(arguments: [500, 503])
    func completesAfterTwoFailedAttempts(status: Int) async throws {
        let tally = Tally()
        let trial = try WireTrial { request, reply in
            if request.method == "HEAD" || tally.add() <= 2 { reply = .text(status) }
        }
        try await trial.run().expectComplete(trial.content)
    }

    /// 429, and 503 with `Retry-After`, do not count towards the three attempts.
    @Test func honoursRetryAfterMoreThanThreeTimes() async throws {
        let tally = Tally()
        let trial = try WireTrial { request, reply in
            guard request.method == "HEAD" || tally.add() <= 4 else { return }
            reply = .text(
                tally.count() % 2 == 0 ? 503 : 429, headers: [HeaderField("Retry-After", "1")])
        }
        let outcome = try await trial.run()
        try outcome.expectComplete(trial.content)
        let delays = try outcome.notices("retrying").compactMap(\.delay)
        #expect(delays.count >= 4 && delays.allSatisfy { $0 >= 1 })
    }

    /// `--retries` applies from the first attempt on, whether it is less or more than the default.
    @Test(arguments: [0, 1, 4])
    func retriesOptionAppliesAtFirstContact(retries: Int) async throws {
        let trial = try WireTrial { _, _ in .text(500) }
        let outcome = try await trial.run("--retries", "\(retries)")
        try outcome.expectFailure(code: 69, kind: "status", keepsPart: false)
        #expect(try outcome.notices("retrying").count == retries)
    }

    // MARK: Downloads that have started

    /// The server is down when segget continues the part of an earlier run.
    ///
    /// The file's name is that of the URL or of the server.
    @Test(arguments: [false, true])
    func waitsForServerIfPartExists(isServersName: Bool) throws {
        let stage = try Stage(size: 4_000_000)
        let name: @Sendable (inout OriginReply) -> Void = { reply in
            if isServersName { reply.set("Content-Disposition", "attachment; filename=file") }
        }
        let path = isServersName ? "/get?id=7" : "/file"
        stage.origin.bend { request, reply in
            name(&reply)
            if request.method == "GET" { reply.stallAfter = 300_000 }
        }
        let first = try stage.start(["-x", "4"], path: path)
        #expect(first.waits(for: 1_200_000))
        first.signal(SIGKILL)
        _ = try first.wait()
        stage.origin.dropConnections()
        let kept = try #require(stage.recorded())
        let tally = Tally()
        stage.origin.bend { request, reply in
            name(&reply)
            if request.method == "HEAD" || tally.add() <= 5 { reply = .text(502) }
        }
        let outcome = try stage.run(["--json"], path: path)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try outcome.events("finished").first?.bytesResumed == kept)
        #expect(try outcome.notices("retrying").count >= 5)
    }

    /// With `--no-resume`, a part does not count as received data.
    @Test func noResumeTriesOnlyThreeTimes() throws {
        let stage = try Stage(size: 4_000_000)
        try stage.leavePart(each: 300_000)
        stage.origin.bend { $1 = .text(502) }
        let outcome = try stage.run(["--json", "-v", "--no-resume"])
        try expectBrief(outcome)
        #expect(try stage.names() == ["file.part", "file.segget"])
    }

    @Test func waitsForHostThatServedAnotherFile() throws {
        let stage = try BatchStage(size: 30_000)
        let tally = Tally()
        stage.origin.bend { request, reply in
            if request.target.hasPrefix("/2/"), tally.add() <= 5 { reply = .text(502) }
        }
        let outcome = try Run(
            stage.urls(2) + ["-j", "1", "--json"], in: stage.folder
        ).wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(tally.count() > 5)
    }

    @Test func doesNotRetryDeadHostForEachFile() throws {
        let stage = try BatchStage(size: 10)
        stage.origin.bend { $1 = .text(500) }
        let count = 40
        let outcome = try Run(
            stage.urls(count) + ["-j", "2", "--json"], in: stage.folder
        ).wait()
        #expect(outcome.end == .exit(69), "\(outcome.errorOutput)")
        #expect(try outcome.events("error").count == count)
        // Two files are active at a time; segget tries each other file once in the next 5 s.
        #expect(try outcome.notices("retrying").count < count)
    }

    @Test func mirrorReplacesDeadPrimary() async throws {
        let trial = try WireTrial()
        let outcome = try await trial.run(
            "--mirror", trial.origin.url("/dir/file.bin"), url: "http://127.0.0.1:1/file.bin")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("mirror_is_primary").count == 1)
    }
}
