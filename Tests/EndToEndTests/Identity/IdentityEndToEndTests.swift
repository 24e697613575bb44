import Foundation
import TestSupport
import Testing

/// Tests that segget delivers one version or none if a server makes versions hard to distinguish.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct IdentityEndToEndTests {
    private static let size: Int64 = 6_000_000
    private static let old = Content(size: size, seed: 1001)
    private static let new = Content(size: size, seed: 1002)
    private static let date = httpDate(unixTime: 1_600_000_000)

    /// Whether a request is for data, and not a check whether the file is unchanged.
    private static func isForData(_ request: OriginRequest) -> Bool {
        request.method == "GET" && request.range?.last != 0
    }

    /// Returns an origin that serves the old version to `count` requests, and then the new one.
    private static func trial(
        _ count: Int = 6, headers: @escaping @Sendable (Bool, inout OriginReply) -> Void
    ) throws -> WireTrial {
        let tally = Tally()
        return try WireTrial(size: size, sendBuffer: 64 << 10) { request, _ in
            let isNew = (isForData(request) ? tally.add() - 1 : tally.count()) >= count
            // A date in `If-Range` always matches.
            return OriginReply.file(
                isNew ? new : old, for: request, lastModified: request.header("If-Range"),
                longest: 500_000
            ).with {
                $0.set("Last-Modified", nil)
                headers(isNew, &$0)
            }
        }
    }

    private func expectNew(_ trial: WireTrial, _ outcome: Run.Outcome) throws {
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try trial.sandbox.names() == ["file.bin"])
        #expect(try Self.new.firstDifference(at: trial.sandbox.path("file.bin")) == nil)
        #expect(try outcome.notices("started_over").map(\.reason) == ["changed_midway"])
    }

    /// An ETag that appears or disappears indicates another version.
    @Test(arguments: [true, false])
    func etagThatAppearsOrDisappearsIsChange(comes: Bool) async throws {
        let trial = try Self.trial { isNew, reply in
            if isNew == comes { reply.set("ETag", "\"v\"") }
        }
        try expectNew(trial, try await trial.run("-x", "3"))
    }

    @Test func dateThatAppearsIsChange() async throws {
        let trial = try Self.trial { isNew, reply in
            if isNew { reply.set("Last-Modified", Self.date) }
        }
        try expectNew(trial, try await trial.run("-x", "3"))
    }

    /// A weak ETag does not show that the bytes are equal, so the date counts too.
    @Test func sameWeakETagWithOtherDateIsChange() async throws {
        let trial = try Self.trial { isNew, reply in
            reply.set("ETag", "W/\"v\"")
            reply.set("Last-Modified", isNew ? httpDate(unixTime: 1_600_000_060) : Self.date)
        }
        try expectNew(trial, try await trial.run("-x", "3"))
    }

    /// Servers with different ETags for the same bytes slow the download down, but it succeeds.
    @Test(arguments: [true, false])
    func completesWithDifferentETagsForSameBytes(byConnection: Bool) async throws {
        let trial = try WireTrial(size: Self.size, sendBuffer: 64 << 10) { request, content in
            let server = byConnection ? request.connection : request.number
            return .file(content, for: request, etag: "\"server \(server % 2)\"")
        }
        let outcome = try await trial.run("-x", "4")
        try outcome.expectComplete(trial.content)
        #expect(trial.origin.requests.count < 200)
    }

    /// One of two servers of a host sends no ETag, and has another version.
    @Test func deliversOneVersionIfOneServerLacksETags() async throws {
        let trial = try WireTrial(size: Self.size, sendBuffer: 64 << 10) { request, _ in
            let isNew = request.connection % 2 == 0
            return .file(isNew ? Self.new : Self.old, for: request, etag: isNew ? "\"v\"" : nil)
        }
        let outcome = try await trial.run("-x", "4", "--retries", "3")
        #expect([0, 76].contains(outcome.exitCode), "\(outcome.errorOutput)")
        guard outcome.exitCode == 0 else {
            #expect(!(try trial.sandbox.names().contains("file.bin")))
            return
        }
        let path = trial.sandbox.path("file.bin")
        let matches = try [Self.old, Self.new].count { try $0.firstDifference(at: path) == nil }
        #expect(matches == 1)
    }

    /// The server omits the date from partial responses.
    ///
    /// If it ignores `If-Range`, only the check at the end shows that the file has changed.
    @Test(arguments: [true, false])
    func checksDateAtEndIfRangesOmitIt(ignoresIfRange: Bool) async throws {
        let trial = try Self.trial(ignoresIfRange ? 6 : .max) { isNew, reply in
            let date = isNew ? httpDate(unixTime: 1_600_000_060) : Self.date
            reply.set("Last-Modified", reply.status == 206 ? nil : date)
        }
        let outcome = try await trial.run("-x", "3")
        #expect(trial.origin.requests.count { $0.method == "HEAD" } == 2)
        guard !ignoresIfRange else { return try expectNew(trial, outcome) }
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try Self.old.firstDifference(at: trial.sandbox.path("file.bin")) == nil)
        #expect(try outcome.notices("started_over").isEmpty)
    }

    /// The server returns to the old version before segget accepts the new one.
    @Test func keepsOldVersionAfterRevertedChange() async throws {
        let tally = Tally()
        let trial = try WireTrial(size: Self.size, sendBuffer: 64 << 10) { request, _ in
            let number = Self.isForData(request) ? tally.add() : 0
            let isNew = (5...6).contains(number)
            return .file(
                isNew ? Self.new : Self.old, for: request, etag: "\"\(isNew)\"",
                longest: 500_000)
        }
        let outcome = try await trial.run("-x", "3")
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try Self.old.firstDifference(at: trial.sandbox.path("file.bin")) == nil)
        #expect(try outcome.notices("started_over").isEmpty)
        // One response may be late, and its bytes may come from another one.
        #expect(try (1...2).contains(outcome.notices("response_refused").count))
    }

    /// The file changes after `HEAD` and before the first `GET`, so there is nothing to discard.
    @Test(arguments: [size, size - 5])
    func acceptsChangeBetweenHEADAndGET(newSize: Int64) async throws {
        let new = Content(size: newSize, seed: 1002)
        let trial = try WireTrial(size: Self.size) { request, _ in
            request.method == "HEAD"
                ? .file(Self.old, for: request, etag: "\"a\"")
                : .file(new, for: request, etag: "\"b\"")
        }
        let outcome = try await trial.run("-x", "3")
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try new.firstDifference(at: trial.sandbox.path("file.bin")) == nil)
        #expect(try outcome.notices("started_over").isEmpty)
        #expect(outcome.errorOutput.contains("stated what `GET` contradicts"))
    }

    /// The redirect leads to another server after the first one refuses further requests.
    @Test(arguments: [true, false]) func followsRedirectThatChangesMidway(sameTag: Bool)
        async throws
    {
        let content = Content(size: Self.size, seed: 5)
        let tally = Tally()
        let servers = try (0..<2).map { number in
            try Origin(sendBuffer: 64 << 10) { request in
                if number == 0, Self.isForData(request), tally.add() > 5 { return .text(403) }
                return .file(
                    content, for: request, etag: sameTag ? "\"v\"" : "\"\(number)\"",
                    longest: 500_000)
            }
        }
        let links = servers.map { $0.url("/cdn/file.bin") }
        let front = try Origin { request in
            let link = links[tally.add("links") == 1 ? 0 : 1]
            return .text(302, headers: [HeaderField("Location", link)])
        }
        let sandbox = try Sandbox()
        let outcome = try await Run(
            [front.url("/file.bin"), "-x", "3", "--json", "-v"], in: sandbox.path
        ).ended()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try content.firstDifference(at: sandbox.path("file.bin")) == nil)
        #expect(try outcome.notices("resolving_again").first?.status == 403)
        let starts = try outcome.notices("started_over").map(\.reason)
        #expect(starts == (sameTag ? [] : ["changed_midway"]))
        #expect(servers.allSatisfy { $0.bytesServed > 0 })
    }

    /// The digest, if any, that shows a change that the validators do not show.
    enum Proof: CaseIterable { case advertised, expected, nothing }

    /// The content changes, but the ETag stays or there is none, so only a digest shows it.
    ///
    /// Without a digest segget reports that only the size is verified.
    @Test(arguments: Proof.allCases, ["\"v\"", nil])
    func onlyDigestShowsChangeWithoutNewETag(proof: Proof, etag: String?) async throws {
        let digest = Self.old.sha256Hex
        let field = "sha-256=:\(Data(Self.old.sha256).base64EncodedString()):"
        let trial = try Self.trial { _, reply in
            reply.set("ETag", etag)
            if proof == .advertised { reply.set("Repr-Digest", field) }
        }
        let outcome =
            proof == .expected
            ? try await trial.run("-x", "3", "--checksum", "sha-256:\(digest)")
            : try await trial.run("-x", "3")
        guard proof == .nothing else {
            try outcome.expectFailure(code: 65, kind: "checksum_mismatch")
            return
        }
        #expect(outcome.exitCode == 0)
        #expect(outcome.errorOutput.contains("only the size is verified"))
        #expect(outcome.errorOutput.contains("identity: none") == (etag == nil))
    }

    // MARK: Across runs

    /// The part and manifest of another file have this file's name.
    @Test func doesNotResumePartOfOtherURL() throws {
        let stage = try Stage(size: 3_000_000)
        try stage.leavePart(each: 200_000)
        for (from, to) in [("file.part", "other.part"), ("file.segget", "other.segget")] {
            try stage.write(stage.read(from), to: to)
        }
        stage.origin.change { $0.content = Content(size: 3_000_000, seed: 9) }
        let outcome = try stage.run(["--json"], path: "/other")
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight("other"))
        #expect(try outcome.notices("started_over").map(\.reason) == ["url_changed"])
        #expect(try stage.names() == ["file.part", "file.segget", "other"])
    }

    /// Another server has another file with the same name, size and ETag.
    @Test func doesNotResumePartFromOtherServer() throws {
        let stage = try Stage(size: 3_000_000)
        try stage.leavePart(each: 200_000)
        let other = Content(size: 3_000_000, seed: 9)
        let server = try Origin { .file(other, for: $0, etag: "\"v1\"") }
        let outcome = try Run(["--json", server.url("/file")], in: stage.folder).wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try other.firstDifference(at: stage.path("file")) == nil)
        #expect(try outcome.notices("started_over").map(\.reason) == ["url_changed"])
    }

    /// The part is almost complete, and the remote file has changed.
    @Test func almostCompletePartOfOldVersionStartsOver() throws {
        let stage = try Stage(size: 3_000_000)
        let wrong = "crc32:00000000"
        // The server withholds the last byte, so that the file is never complete.
        stage.origin.bendGET {
            guard case .content(let content, let range) = $0.body, range.upperBound == content.size
            else { return }
            $0.stallAfter = Int64(range.count) - 1
        }
        let child = try stage.start(["-x", "4", "--checksum", wrong])
        try #require(child.waits(for: 2_996_000))
        child.signal(SIGKILL)
        _ = try child.wait()
        stage.origin.dropConnections()
        stage.origin.behave()
        stage.origin.change {
            $0.content = Content(size: 3_000_000, seed: 9)
            $0.etag = "\"v2\""
        }
        let outcome = try stage.run(["--json"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(
            try outcome.notices("started_over").map(\.reason) == ["etag_changed"],
            "\(outcome.output)")
    }
}
