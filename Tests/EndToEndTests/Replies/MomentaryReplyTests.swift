import TestSupport
import Testing

/// Temporary wrong replies do not discard received bytes.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct MomentaryReplyTests {
    private static let size: Int64 = 6_000_000
    private static let other = Content(size: size, seed: 9)

    private func expectAllKept(
        _ stage: Stage, _ outcome: Run.Outcome, since requests: Int, kept: Int64,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let report = Comment(rawValue: outcome.errorOutput)
        #expect(outcome.end == .exit(0), report, sourceLocation: location)
        #expect(try stage.isRight(), sourceLocation: location)
        #expect(try outcome.notices("started_over").isEmpty, report, sourceLocation: location)
        let served = stage.origin.requests.dropFirst(requests).filter { $0.status == 206 }
        let bytes = served.reduce(0) { $0 + $1.bytesServed }
        #expect(bytes <= Self.size - kept + Stage.stolen, sourceLocation: location)
    }

    /// At first the server sends the whole file for a range, or another backend's version.
    @Test(arguments: [1, 8], [true, false])
    func laterRunKeepsPart(connections: Int, isOther: Bool) throws {
        let stage = try Stage(size: Self.size)
        let kept = try stage.leavePart(each: 600_000)
        let (tally, looks) = (Tally(), Tally())
        stage.origin.change { offer in
            let content = offer.content
            offer.bend = { request, reply in
                guard request.method == "GET" else { return }
                // The first two replies, or with 8 connections, all until segget has sent two
                // one-byte requests.
                let looked = request.range?.last == 0 ? looks.add() : looks.count()
                guard connections == 1 ? tally.add() <= 2 : looked <= 2 else { return }
                reply =
                    isOther
                    ? .file(Self.other, for: request, etag: "\"v2\"")
                    : .file(content, for: request, etag: "\"v1\"", ranges: false)
            }
        }
        let requests = stage.origin.requests.count
        let outcome = try stage.run(["--json", "-x", "\(connections)"])
        try expectAllKept(stage, outcome, since: requests, kept: kept)
        #expect(try outcome.events("finished").first?.bytesResumed == kept)
    }

    /// All connections break, and then the server temporarily sends no ranges, or another version.
    @Test(arguments: [true, false])
    func sameRunKeepsReceivedBytes(isOther: Bool) throws {
        let stage = try Stage(size: Self.size)
        let (tally, looks) = (Tally(), Tally())
        stage.origin.change { offer in
            let content = offer.content
            offer.bend = { request, reply in
                guard request.method == "GET" else { return }
                if tally.add() <= 4 {
                    reply.cutAfter = 600_000
                    return
                }
                // All replies until segget has sent two one-byte requests.
                let looked = request.range?.last == 0 ? looks.add() : looks.count()
                guard looked <= 2 else { return }
                reply =
                    isOther
                    ? .file(Self.other, for: request, etag: "\"v2\"")
                    : .file(content, for: request, etag: "\"v1\"", ranges: false)
            }
        }
        let outcome = try stage.run(["--json", "-x", "4"])
        try expectAllKept(stage, outcome, since: 0, kept: 0)
        #expect(looks.count() > 2)
        #expect(try outcome.notices("ranges_ignored").isEmpty)
    }

    private static func page(_ reply: inout OriginReply) {
        reply = .text(200, "<html>please log in", headers: [.init("Content-Type", "text/html")])
    }

    /// A login page replaces all replies: the part remains, and resumes when the file is available
    /// again.
    @Test func loginPageDoesNotReplacePart() throws {
        let stage = try Stage(size: Self.size)
        let kept = try stage.leavePart(each: 600_000)
        stage.origin.bend { Self.page(&$1) }
        let refused = try stage.run(["--json"])
        #expect(refused.end == .exit(76), "\(refused.errorOutput)")
        #expect(try refused.events().last?.kind == "contract_broken")
        #expect(refused.errorOutput.contains("perhaps a login or error page"))
        #expect(refused.errorOutput.contains("give `--no-resume` to start over"))
        #expect(try stage.names() == ["file.part", "file.segget"])
        #expect(stage.recorded() == kept)
        stage.origin.behave()
        let requests = stage.origin.requests.count
        let outcome = try stage.run(["--json"])
        try expectAllKept(stage, outcome, since: requests, kept: kept)
    }

    /// A login page appears during the download; `--no-resume` downloads the page.
    @Test func loginPageDuringDownloadEndsRun() throws {
        let stage = try Stage(size: Self.size)
        let tally = Tally()
        stage.origin.bend { request, reply in
            if request.method == "GET", tally.add() <= 4 {
                reply.cutAfter = 600_000
            } else if request.method == "GET" || tally.count() >= 4 {
                Self.page(&reply)
            }
        }
        let outcome = try stage.run(["--json", "-x", "4"])
        #expect(outcome.end == .exit(76), "\(outcome.errorOutput)")
        #expect(try stage.names() == ["file.part", "file.segget"])
        #expect((stage.recorded() ?? 0) > 0)
        let second = try stage.run(["--no-resume"])
        #expect(second.end == .exit(0), "\(second.errorOutput)")
        #expect(try stage.read("file") == Array("<html>please log in".utf8))
    }
}
