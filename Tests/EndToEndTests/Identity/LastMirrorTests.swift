import Crypto
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Assembler

/// Tests a redirector that leads to another mirror in the next run: with the same size and date,
/// but the ETag of another server program.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct LastMirrorTests {
    private static let size: Int64 = 3_000_000
    private static let date = httpDate(unixTime: 1_700_000_000)

    /// The file and metadata that a mirror serves.
    struct Offer: Sendable {
        var content = Content(size: LastMirrorTests.size, seed: 1)
        var etag: String?
        var date: String? = LastMirrorTests.date
        var digest: Content?
        var isGone = false
        var stallAfter: Int64?
    }

    /// A redirector, two mirrors, and a folder.
    private final class Site: Sendable {
        let redirector: Origin
        let mirrors: [Origin]
        let stage: Stage
        private let offers: Guarded<[Offer]>
        private let leads: Guarded<String>

        init(query: String = "") throws {
            let offers = Guarded([Offer(etag: "\"a-1\""), Offer(etag: "\"b:2\"")])
            self.offers = offers
            mirrors = try (0..<2).map { number in
                try Origin(sendBuffer: 64 << 10) { request in
                    let offer = offers.withLock { $0[number] }
                    guard !offer.isGone else { return .text(404) }
                    var reply = OriginReply.file(
                        offer.content, for: request, etag: offer.etag, lastModified: offer.date)
                    if let digest = offer.digest {
                        let value = Data(digest.sha256).base64EncodedString()
                        reply.set("Repr-Digest", "sha-256=:\(value):")
                    }
                    if request.method == "GET" { reply.stallAfter = offer.stallAfter }
                    return reply.silentToCanaries(request)
                }
            }
            let leads = Guarded(mirrors[0].url("/pool/file\(query)"))
            self.leads = leads
            redirector = try Origin { _ in
                var reply = OriginReply(status: 302)
                reply.set("Location", leads.withLock { $0 })
                return reply
            }
            stage = try Stage(size: 1)
        }

        func change(_ number: Int, _ body: (inout Offer) -> Void) {
            offers.withLock { body(&$0[number]) }
        }

        func lead(to number: Int) {
            leads.withLock { $0 = mirrors[number].url("/mirror/file") }
        }

        func start(_ arguments: [String]) throws -> Run {
            try Run(arguments + [redirector.url("/file")], in: stage.folder)
        }

        func run(_ arguments: [String]) throws -> Run.Outcome {
            let outcome = try start(arguments).wait()
            for mirror in mirrors { mirror.hearOut() }
            return outcome
        }

        /// Leaves a part of the first mirror's file, and makes the redirector lead to the second
        /// mirror.
        ///
        /// - Returns: The number of recorded bytes.
        func leavePart(_ arguments: [String] = []) throws -> Int64 {
            change(0) { $0.stallAfter = 200_000 }
            let child = try start(["-x", "4"] + arguments)
            #expect(child.waits(for: 800_000))
            child.signal(SIGKILL)
            _ = try child.wait()
            mirrors[0].dropConnections()
            change(0) { $0.stallAfter = nil }
            lead(to: 1)
            return stage.recorded() ?? 0
        }

        func isRight(_ number: Int) throws -> Bool {
            let content = offers.withLock { $0[number].content }
            return try content.firstDifference(at: stage.path("file")) == nil
        }

        func served(_ number: Int, after count: Int = 0) -> Int64 {
            mirrors[number].requests.dropFirst(count).reduce(0) { $0 + $1.bytesServed }
        }
    }

    private func expectResumed(_ outcome: Run.Outcome, _ kept: Int64) throws {
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try outcome.notices("started_over").isEmpty, "\(outcome.errorOutput)")
        #expect(try outcome.events("finished").last?.bytesResumed == kept)
    }

    /// segget asks the last run's mirror, which still has the file; the other one may have any
    /// file.
    @Test(arguments: [1, 2] as [UInt64])
    func returnsToMirrorOfLastRun(seed: UInt64) throws {
        let site = try Site()
        let kept = try site.leavePart()
        site.change(1) { $0.content = Content(size: Self.size, seed: seed) }
        let outcome = try site.run(["--json"])
        try expectResumed(outcome, kept)
        #expect(try site.isRight(0))
        // The first mirror's ETag identifies the file.
        #expect(try outcome.events("started").last?.identity == "etag")
    }

    /// If the last mirror is missing or has another file, a sample decides about the new mirror.
    @Test(arguments: ["gone", "another date", "another size", "another tag"])
    func matchingSampleResumesOnNewMirror(way: String) throws {
        let site = try Site()
        let kept = try site.leavePart()
        site.change(0) { offer in
            switch way {
            case "gone": offer.isGone = true
            case "another date": offer.date = httpDate(unixTime: 1_700_000_001)
            case "another tag": offer.etag = "\"c\""
            default: offer.content = Content(size: Self.size + 1, seed: 1)
            }
        }
        let outcome = try site.run(["--json"])
        try expectResumed(outcome, kept)
        #expect(try site.isRight(1))
        #expect(try outcome.notices("part_agreed").count == 1)
        #expect(try outcome.events("started").last?.identity == "unverified")
        #expect(outcome.errorOutput.contains("sample"), "the last line: \(outcome.errorOutput)")
    }

    /// Two mirrors have different files with one name.
    @Test func otherFileAtNewMirrorStartsOver() throws {
        let site = try Site()
        _ = try site.leavePart()
        site.change(0) { $0.isGone = true }
        site.change(1) { $0.content = Content(size: Self.size, seed: 2) }
        let outcome = try site.run(["--json"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try site.isRight(1))
        #expect(try outcome.notices("started_over").map(\.reason) == ["sample_differs"])
    }

    /// Neither equal ETags of two servers nor placeholder dates show that the files are the same.
    @Test(arguments: ["placeholder", "none", "another date"])
    func startsOverWithoutUsableDate(way: String) throws {
        let site = try Site()
        for number in 0..<2 {
            site.change(number) {
                $0.etag = "\"v1\""
                if way != "another date" {
                    $0.date = way == "none" ? nil : httpDate(unixTime: 1)
                }
            }
        }
        _ = try site.leavePart()
        site.change(0) { $0.isGone = true }
        site.change(1) {
            $0.content = Content(size: Self.size, seed: 2)
            if way == "another date" { $0.date = httpDate(unixTime: 1_700_000_001) }
        }
        let outcome = try site.run(["--json"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try site.isRight(1))
        let reason = way == "another date" ? "last_modified_changed" : "other_server"
        #expect(try outcome.notices("started_over").map(\.reason) == [reason])
    }

    /// With a digest segget uses any mirror, and publishes no wrong file.
    @Test(arguments: ["checksum", "stated"], [true, false])
    func digestKeepsPartOnNewMirror(way: String, isSame: Bool) throws {
        let site = try Site()
        let kept = try site.leavePart()
        site.change(0) { $0.isGone = true }
        let content = Content(size: Self.size, seed: isSame ? 1 : 2)
        site.change(1) {
            $0.content = content
            $0.date = httpDate(unixTime: 1_700_000_001)
            if way == "stated" { $0.digest = content }
        }
        let options = way == "stated" ? [] : ["--checksum", "sha256:\(content.sha256Hex)"]
        let outcome = try site.run(["--json"] + options)
        guard isSame else {
            #expect(outcome.end == .exit(65), "\(outcome.errorOutput)")
            #expect(try !site.stage.names().contains("file"))
            return
        }
        try expectResumed(outcome, kept)
        #expect(try site.isRight(1))
    }

    @Test(arguments: [true, false])
    func continueFromSamplesNewMirror(isSame: Bool) throws {
        let site = try Site()
        let kept = try site.leavePart()
        site.change(0) { $0.isGone = true }
        site.change(1) { $0.content = Content(size: Self.size, seed: isSame ? 1 : 2) }
        let outcome = try site.run(["--json", "--continue-from", "file.part"])
        guard isSame else {
            #expect(outcome.end == .exit(76), "\(outcome.errorOutput)")
            #expect(site.stage.recorded() == kept)
            return
        }
        try expectResumed(outcome, kept)
        #expect(try site.isRight(1))
    }

    /// The manifest records the mirror without credentials, and the mirror receives nothing that is
    /// meant for the redirector.
    @Test func mirrorReceivesNoCredentialsOfRedirector() throws {
        let site = try Site()
        let secrets = ["--user", "me:secret", "-H", "Cookie: a=secret", "-H", "X-Token: secret"]
        let kept = try site.leavePart(secrets)
        let mirror = site.stage.manifest()?.header.mirror
        #expect(mirror == site.mirrors[0].url("/pool/file"))
        let count = site.mirrors[0].requests.count
        let outcome = try site.run(["--json"] + secrets)
        try expectResumed(outcome, kept)
        let asked = site.mirrors[0].requests.dropFirst(count)
        #expect(!asked.isEmpty)
        for request in site.mirrors.flatMap(\.requests) {
            for name in ["Authorization", "Cookie", "X-Token"] {
                #expect(request.header(name) == nil)
            }
        }
    }

    @Test func mirrorURLWithQueryIsNotRecorded() throws {
        let site = try Site(query: "?signature=secret")
        _ = try site.leavePart()
        #expect(site.stage.manifest()?.header.mirror == nil)
        let text = String(decoding: try site.stage.read("file.segget"), as: UTF8.self)
        #expect(!text.contains("secret") && !text.contains("pool"))
    }
}
