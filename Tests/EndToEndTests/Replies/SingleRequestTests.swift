import Glibc
import TestSupport
import Testing

/// Tests `--single-request` with links that allow one or a few requests.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct SingleRequestTests {
    private static let single = ["--single-request"]

    @Test(arguments: [(Int64(0), false), (1000, true), (3_000_000, false), (3_000_000, true)])
    func downloadsWithOneRequest(size: Int64, head: Bool) throws {
        let stage = try Stage(size: size)
        stage.serve(times: 1, head: head)
        let outcome = try stage.run(Self.single + ["-x", "8"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(stage.origin.requests.asked == ["GET"])
        #expect(!outcome.errorOutput.contains("no byte ranges"), "\(outcome.errorOutput)")
    }

    /// Without the option, the link stops working; the message names the cause and the option.
    @Test(arguments: [false, true])
    func messageNamesOptionIfLinkLimitsRequests(head: Bool) throws {
        let stage = try Stage(size: 8_000_000)
        stage.serve(times: 2, head: head)
        let outcome = try stage.run(["-x", "4"])
        #expect(outcome.end == .exit(69), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("perhaps the link allows only a few requests"))
        #expect(outcome.errorOutput.contains("`--single-request`"), "\(outcome.errorOutput)")
    }

    /// A file that never existed does not produce that message.
    @Test(arguments: [[], single])
    func missingFileIsNotReportedAsUsedLink(arguments: [String]) throws {
        let stage = try Stage(size: 1000)
        stage.serve(times: 0)
        let outcome = try stage.run(arguments)
        #expect(outcome.end == .exit(69), "\(outcome.errorOutput)")
        #expect(
            !outcome.errorOutput.contains("allows only a few requests"), "\(outcome.errorOutput)")
    }

    @Test(arguments: ["\"v1\"", nil]) func resumesBrokenDownloadWithOneRequest(etag: String?) throws
    {
        let stage = try Stage(size: 3_000_000)
        stage.origin.change { offer in
            offer.etag = etag
            offer.lastModified = "Tue, 01 Jul 2025 10:00:00 GMT"
        }
        stage.serve(times: 2, cut: 1_000_000)
        let outcome = try stage.run(Self.single)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(stage.origin.requests.asked == ["GET", "GET bytes=1000000-"])
        let condition = etag ?? "Tue, 01 Jul 2025 10:00:00 GMT"
        #expect(stage.origin.requests.last?.header("If-Range") == condition)
        #expect(stage.origin.bytesServed == 3_000_000)
    }

    /// After a redirect to another server, the retry starts at the link again.
    @Test func resumesAfterRedirectWithOneRequestEach() throws {
        let stage = try Stage(size: 3_000_000)
        stage.serve(times: 2, cut: 1_000_000)
        let target = stage.origin.url("/file")
        let link = try Origin(address: "127.0.0.2") { _ in
            .text(302, headers: [HeaderField("Location", target)])
        }
        let outcome = try Run(Self.single + [link.url("/go")], in: stage.folder).wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(stage.origin.requests.asked == ["GET", "GET bytes=1000000-"])
        #expect(link.requests.count == 2)
    }

    /// If the link no longer works, the part remains, and a new link resumes it.
    @Test func keepsPartForNewLink() throws {
        let stage = try Stage(size: 3_000_000)
        stage.serve(times: 1, cut: 1_000_000)
        let first = try stage.run(Self.single, path: "/1/file?key=1")
        #expect(first.end == .exit(69), "\(first.errorOutput)")
        #expect(first.errorOutput.contains("allows only a few requests"), "\(first.errorOutput)")
        #expect(first.errorOutput.contains("--continue-from file.part"), "\(first.errorOutput)")
        #expect(stage.recorded() == 1_000_000)
        stage.serve(times: 1)
        let count = stage.origin.requests.count
        let second = try stage.run(
            Self.single + ["--continue-from", "file.part"], path: "/2/file?key=2")
        #expect(second.end == .exit(0), "\(second.errorOutput)")
        #expect(try stage.isRight())
        #expect(Array(stage.origin.requests.dropFirst(count)).asked == ["GET bytes=1000000-"])
    }

    /// segget resumes a part with one request for each gap.
    ///
    /// One connection leaves one gap, whether or not `-o` names the file.
    @Test(arguments: [(1, ["-o", "file"]), (1, []), (4, [])])
    func laterRunRequestsMissingRangesOnly(connections: Int, name: [String]) throws {
        let stage = try Stage(size: 8_000_000)
        let kept = try stage.leavePart(each: 500_000, connections: connections)
        stage.serve(times: connections)
        let count = stage.origin.requests.count
        let outcome = try stage.run(Self.single + name)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        let later = Array(stage.origin.requests.dropFirst(count))
        #expect(later.count == connections, "\(later.asked)")
        #expect(later.allSatisfy { $0.range != nil }, "\(later.asked)")
        #expect(later.allSatisfy { $0.header("If-Range") == "\"v1\"" })
        #expect(stage.bytesServed(after: count) == 8_000_000 - kept)
    }

    /// If the part cannot be resumed, the reply to its request already contains the whole file.
    @Test(arguments: ["another version", "no ranges"])
    func usesWholeFileInReplyToRange(why: String) throws {
        let stage = try Stage(size: 3_000_000)
        stage.serve(times: 2, cut: 1_000_000) { [unowned stage] request, reply in
            guard request.range != nil else {
                if why == "another version" {
                    stage.origin.change { offer in
                        offer.content = Content(size: 3_000_000, seed: 2)
                        offer.etag = "\"v2\""
                    }
                }
                return
            }
            guard why == "no ranges" else { return }
            reply = OriginReply(
                headers: [HeaderField("ETag", "\"v1\"")],
                body: .content(Content(size: 3_000_000, seed: 1), 0..<3_000_000))
        }
        let outcome = try stage.run(Self.single)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(stage.origin.requests.asked == ["GET", "GET bytes=1000000-"])
    }

    /// Without a validator the version is unknown, so the whole file is requested.
    @Test func requestsWholeFileWithoutValidator() throws {
        let stage = try Stage(size: 3_000_000)
        stage.origin.change { $0.etag = nil }
        stage.serve(times: 2, cut: 1_000_000)
        let outcome = try stage.run(Self.single)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(stage.origin.requests.asked == ["GET", "GET"])
    }

    @Test func downloadsUnknownSizeWithOneRequest() throws {
        let stage = try Stage(size: 3_000_000)
        stage.serve(times: 1) { _, reply in reply.framing = .chunked }
        let outcome = try stage.run(Self.single)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(stage.origin.requests.asked == ["GET"])
    }

    /// A slow download does not request the file again at the end.
    @Test func sendsNoRequestAtEnd() throws {
        let stage = try Stage(size: 3_000_000)
        stage.serve(times: 1) { _, reply in reply.pace = 1_500_000 }
        let outcome = try stage.run(Self.single)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(stage.origin.requests.asked == ["GET"])
    }

    /// The only reply names the file.
    @Test func usesFilenameFromOnlyReply() throws {
        let stage = try Stage(size: 3_000_000)
        stage.serve(times: 1) { _, reply in
            reply.set("Content-Disposition", "attachment; filename=\"name.iso\"")
        }
        let outcome = try stage.run(Self.single, path: "/download?key=1")
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.names() == ["name.iso"])
    }

    /// A later run finds the part although the reply to its request does not repeat the name.
    @Test func laterRunFindsPartByEarlierName() throws {
        let stage = try Stage(size: 3_000_000)
        let bend: @Sendable (OriginRequest, inout OriginReply) -> Void = { request, reply in
            guard request.range == nil else { return }
            reply.set("Content-Disposition", "attachment; filename=\"name.iso\"")
        }
        stage.serve(times: 1, cut: 1_000_000, bend)
        #expect(try stage.run(Self.single, path: "/download?key=1").end == .exit(69))
        #expect(try stage.names() == ["name.iso.part", "name.iso.segget"])
        stage.serve(times: 1, bend)
        let count = stage.origin.requests.count
        let outcome = try stage.run(Self.single, path: "/download?key=1")
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.names() == ["name.iso"])
        #expect(try stage.isRight("name.iso"))
        #expect(Array(stage.origin.requests.dropFirst(count)).asked == ["GET bytes=1000000-"])
    }

    @Test(arguments: [Int64?.none, 1_000_000]) func downloadsIntoPipe(cut: Int64?) throws {
        let stage = try Stage(size: 8_000_000)
        stage.serve(times: cut == nil ? 1 : 2, cut: cut)
        let outcome = try stage.run(Self.single + ["-o", "-", "--window", "1M"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(stage.content.matches(outcome.standardOutput, in: 0..<stage.content.size))
        let rest = cut.map { ["GET bytes=\($0)-"] } ?? []
        #expect(stage.origin.requests.asked == ["GET"] + rest)
    }

    @Test(arguments: [["--mirror", "http://127.0.0.1:9/file"], ["--dry-run"]])
    func refusesOptionsThatNeedMoreRequests(option: [String]) throws {
        let stage = try Stage(size: 1000)
        let outcome = try stage.run(Self.single + option)
        #expect(outcome.end == .exit(64), "\(outcome.errorOutput)")
        #expect(stage.origin.requests.isEmpty)
    }

    // MARK: One connection

    /// `-x 1` requests the whole file in one request, for a file and for a pipe.
    @Test(arguments: [[], ["-o", "-", "--window", "1M"]])
    func oneConnectionSendsOneRequest(arguments: [String]) throws {
        let stage = try Stage(size: 16_000_000)
        let outcome = try stage.run(["-x", "1"] + arguments)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        if arguments.isEmpty {
            #expect(try stage.isRight())
        } else {
            #expect(stage.content.matches(outcome.standardOutput, in: 0..<stage.content.size))
        }
        #expect(
            stage.origin.requests.filter { $0.bytesServed > 0 || $0.method == "HEAD" }.asked
                .prefix(2) == ["HEAD", "GET bytes=0-15999999"])
        #expect(stage.origin.requests.count { $0.bytesServed > 1 } == 1)
    }
}
