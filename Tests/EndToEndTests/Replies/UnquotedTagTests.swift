import TestSupport
import Testing

/// Tests an `ETag` without quotes, as WEBrick sends it.
///
/// It verifies no version and is not sent. As with a weak one, a different value shows another
/// version.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct UnquotedTagTests {
    private static let size: Int64 = 3_000_000
    private static let monday = httpDate(unixTime: 1_500_000_000)
    private static let tag = "2d4b3-2dc6c0-5966f1a0"

    private func stage(lastModified: String?) throws -> Stage {
        let stage = try Stage(size: Self.size)
        stage.origin.change { offer in
            offer.etag = Self.tag
            offer.lastModified = lastModified
        }
        return stage
    }

    private func conditions(_ stage: Stage) -> [String] {
        stage.origin.requests.flatMap { request in
            ["If-Range", "If-None-Match", "If-Match"].compactMap { request.header($0) }
        }
    }

    @Test func lastModifiedIdentifiesVersion() throws {
        let stage = try stage(lastModified: Self.monday)
        let kept = try stage.leavePart(each: 300_000)
        let before = stage.origin.requests.count
        let outcome = try stage.run(["-v"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("\(Self.tag) (malformed: not usable)"))
        #expect(outcome.errorOutput.contains("identity: last-modified"))
        #expect(stage.bytesAsked(after: before) <= Self.size - kept)
        #expect(try stage.isRight())
        #expect(Set(conditions(stage)) == [Self.monday])
    }

    @Test func unquotedTagAloneIdentifiesNoVersion() throws {
        let stage = try stage(lastModified: nil)
        try stage.leavePart(each: 300_000)
        let outcome = try stage.run()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("identity: none"), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(conditions(stage).isEmpty)
    }

    /// The file changes, but its date remains.
    @Test(arguments: [true, false]) func differentUnquotedTagMeansNewVersion(isMidway: Bool) throws
    {
        let stage = try stage(lastModified: Self.monday)
        if isMidway {
            let count = Tally()
            stage.origin.bend { request, reply in
                guard request.method == "GET", count.add() > 2 else { return }
                reply = .file(
                    Content(size: Self.size, seed: 2), for: request, etag: Self.tag + "9",
                    lastModified: Self.monday)
            }
        } else {
            try stage.leavePart(each: 300_000)
            stage.origin.change { offer in
                offer.content = Content(size: Self.size, seed: 2)
                offer.etag = Self.tag + "9"
            }
        }
        let outcome = try stage.run(["-x", "3"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        let words = isMidway ? "changed during the download" : "ETag was `\(Self.tag)`"
        #expect(outcome.errorOutput.contains(words), "\(outcome.errorOutput)")
        #expect(
            try Content(size: Self.size, seed: 2).firstDifference(at: stage.path("file")) == nil)
    }

    @Test func timestampingDoesNotSendUnquotedTag() throws {
        let stage = try stage(lastModified: Self.monday)
        #expect(try stage.run(["--keep-manifest"]).end == .exit(0))
        let outcome = try stage.run(["-N", "-o", "file"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("not newer"), "\(outcome.errorOutput)")
        #expect(stage.origin.requests.contains { $0.header("If-Modified-Since") != nil })
        #expect(!conditions(stage).contains(Self.tag))
        stage.origin.change { $0.etag = "W/\"weak\"" }
        #expect(try stage.run(["-N", "--overwrite", "--keep-manifest"]).end == .exit(0))
        #expect(try stage.run(["-N", "-o", "file"]).end == .exit(0))
        #expect(conditions(stage).contains("W/\"weak\""))
    }
}
