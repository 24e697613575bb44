import Foundation
import TestSupport
import Testing

/// Tests what a stopped or failed download reports about the next run, and that the next run does
/// that.
@Suite(.timeLimit(.minutes(10)))
struct OutlookTests {
    /// The properties of the server and the metadata that it states.
    enum Server: String, CaseIterable, Sendable {
        case noRanges, noSize, noValidators, weakTag, blankTag, blankDate, complete

        func apply(to stage: Stage) {
            stage.origin.change { offer in
                switch self {
                case .noRanges: offer.servesRanges = false
                case .noSize: offer.servesRanges = false
                case .noValidators: offer.etag = nil
                case .weakTag: offer.etag = "W/\"v1\""
                case .blankTag: offer.etag = "\"0-0\""
                case .blankDate:
                    offer.etag = nil
                    offer.lastModified = "Thu, 01 Jan 1970 00:00:01 GMT"
                case .complete: break
                }
            }
        }

        /// Whether the same command resumes.
        var resumes: Bool { self == .complete }
        /// Whether `--checksum` or `--resume-unverified` makes the next run resume.
        var isProvable: Bool { ![.noRanges, .noSize].contains(self) }
        /// The reason in JSON for starting over; `nil` if the next run resumes.
        var reason: String? {
            resumes ? nil : isProvable ? "no_validator" : "no_ranges"
        }
    }

    private static let size: Int64 = 4_000_000

    /// Stops a download during its body, by SIGINT.
    private func stopped(
        _ stage: Stage, _ server: Server, _ arguments: [String] = []
    ) throws -> Run.Outcome {
        stage.origin.bend { request, reply in
            if server == .noSize { reply.framing = .chunked }
            if request.method == "GET" { reply.stallAfter = 300_000 }
        }
        let process = try stage.start(["-x", "2"] + arguments)
        try #require(process.waits(for: 200_000), "\(process.errorOutput)")
        process.signal(SIGINT)
        let outcome = try process.wait()
        #expect(outcome.end == .exit(130), "\(outcome.errorOutput)")
        stage.origin.dropConnections()
        stage.origin.bend { if server == .noSize { $1.framing = .chunked } }
        return outcome
    }

    /// Expects a text to state correctly what the next run does.
    private func check(_ text: String, _ server: Server) {
        #expect(text.contains("again to resume") == server.resumes, "\(text)")
        #expect(text.contains("again to start over") == !server.resumes, "\(text)")
        #expect(
            text.contains("`--checksum` or `--resume-unverified`")
                == (server.reason == "no_validator"))
        #expect(text.contains("only as a whole") == !server.isProvable, "\(text)")
    }

    @Test(arguments: Server.allCases) func interruptionReportsWhetherNextRunResumes(
        server: Server
    ) throws {
        let stage = try Stage(size: Self.size, memory: 64 << 20)
        server.apply(to: stage)
        let outcome = try stopped(stage, server, ["--json"])
        check(outcome.errorOutput, server)
        #expect(outcome.errorOutput.contains("kept: "))
        let last = try #require(try jsonEvents(outcome.output).last)
        #expect(last["starts_over"] as? String == server.reason)
        check(last["hint"] as? String ?? "", server)
        // The next run does what was reported.
        let again = try stage.run(["--json"])
        #expect(again.end == .exit(0), "\(again.errorOutput)")
        #expect(try stage.isRight())
        let resumed = try jsonEvents(again.output).last?["bytes_resumed"] as? Int64 ?? 0
        #expect((resumed > 0) == server.resumes, "\(resumed)")
    }

    @Test(arguments: Server.allCases.filter { $0.isProvable && !$0.resumes })
    func suggestedOptionsMakeNextRunResume(server: Server) throws {
        // The option is given to the second run only, or to both.
        for (isDigest, isGivenAtFirst) in [
            (true, false), (true, true), (false, false), (false, true),
        ] {
            let stage = try Stage(size: Self.size, memory: 64 << 20)
            server.apply(to: stage)
            let option =
                isDigest
                ? ["--checksum", "sha-256:\(stage.content.sha256Hex)"] : ["--resume-unverified"]
            let first = try stopped(stage, server, isGivenAtFirst ? option : [])
            check(first.errorOutput, isGivenAtFirst ? .complete : server)
            let again = try stage.run(option + ["--json"])
            #expect(again.end == .exit(0), "\(again.errorOutput)")
            #expect(try stage.isRight())
            #expect(try jsonEvents(again.output).last?["bytes_resumed"] as? Int64 ?? 0 > 0)
        }
    }

    /// The second run receives no usable reply, so it reports what the manifest implies.
    @Test(arguments: Server.allCases) func failureReportsWhetherNextRunResumes(server: Server)
        throws
    {
        let stage = try Stage(size: Self.size, memory: 64 << 20)
        server.apply(to: stage)
        _ = try stopped(stage, server)
        stage.origin.bend { _, reply in reply = .text(503) }
        let outcome = try stage.run(["--retries", "0", "-o", "file"])
        #expect(outcome.end == .exit(69), "\(outcome.errorOutput)")
        check(outcome.errorOutput, server)
    }

    @Test func noResumeIsNamedInHint() throws {
        let stage = try Stage(size: Self.size, memory: 64 << 20)
        let outcome = try stopped(stage, .complete, ["--no-resume"])
        #expect(outcome.errorOutput.contains("without `--no-resume` to resume"))
        let again = try stage.run(["--json"])
        #expect(try jsonEvents(again.output).last?["bytes_resumed"] as? Int64 ?? 0 > 0)
    }

    @Test func interruptedListNamesFilesThatStartOver() throws {
        let stage = try Stage(size: Self.size, memory: 64 << 20)
        stage.origin.bend { request, reply in
            if request.path.hasPrefix("/whole") {
                reply.set("ETag", nil)
                reply.set("Last-Modified", nil)
            }
            if request.method == "GET" { reply.stallAfter = 300_000 }
        }
        let process = try Run(
            ["-x", "2", "-j", "2", stage.origin.url("/whole"), stage.origin.url("/ranged")],
            in: stage.folder)
        try #require(
            eventually(timeout: 120) {
                ["whole", "ranged"].allSatisfy { (stage.recorded($0) ?? 0) > 200_000 }
            }, "\(process.errorOutput)")
        process.signal(SIGINT)
        let outcome = try process.wait()
        #expect(outcome.end == .exit(130), "\(outcome.errorOutput)")
        let lines = outcome.errorOutput.split(separator: "\n")
        func line(_ name: String) -> Substring {
            lines.first { $0.contains("stopped: `") && $0.contains(name) } ?? ""
        }
        #expect(line("whole").contains("cannot be continued"), "\(outcome.errorOutput)")
        #expect(!line("ranged").contains("cannot be continued"), "\(outcome.errorOutput)")
        #expect(
            outcome.errorOutput.contains("again to resume; 1 file starts over"),
            "\(outcome.errorOutput)")
    }

    @Test func queueShowsWhetherTaskStartsOver() throws {
        let stage = try QueueStage()
        stage.origin.bend { request, reply in
            reply.set("ETag", nil)
            reply.set("Last-Modified", nil)
            if request.method == "GET" { reply.stallAfter = 300_000 }
        }
        let worker = try stage.work("--keep-running")
        let id = try stage.add("/a", "-x", "1")
        #expect(
            try eventually(timeout: 120) {
                (try stage.task(id)["bytes_done"] as? Int64 ?? 0) > 200_000
            })
        try stage.done("pause", id)
        var text = ""
        let isTold = try eventually {
            text = try stage.done("show", id)
            return text.contains("from the beginning")
        }
        #expect(isTold, "\(text)")
        worker.signal(SIGTERM)
        _ = try worker.wait()
    }
}
