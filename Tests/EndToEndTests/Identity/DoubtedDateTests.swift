import Glibc
import TestSupport
import Testing

/// Tests that a sample decides whether the file has changed if Last-Modified changes but the strong
/// ETag does not.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct DoubtedDateTests {
    private static let size: Int64 = 6_000_000
    /// The number of bytes in the samples at the end of the download.
    private static let compared: Int64 = 256 << 10
    private static let monday = httpDate(unixTime: 1_700_000_000)
    private static let tuesday = httpDate(unixTime: 1_700_086_400)

    /// Returns a server that serves `first` to `count` GETs, and then `then` with another date and
    /// the same ETag.
    private static func trial(
        first: Content, then: Content, after count: Int, longest: Int64 = 1_000_000
    ) throws -> WireTrial {
        let gets = Tally()
        return try WireTrial(size: size) { request, _ in
            let isFirst =
                request.method == "HEAD"
                ? gets.count() < count : gets.add() <= count
            return OriginReply.file(
                isFirst ? first : then, for: request, etag: "\"same\"",
                lastModified: isFirst ? monday : tuesday, longest: longest)
        }
    }

    @Test(arguments: ["1", "4"])
    func sameBytesWithOtherDateContinueMidway(connections: String) async throws {
        let content = Content(size: Self.size, seed: 1)
        let trial = try Self.trial(first: content, then: content, after: 4)
        let outcome = try await trial.run("-x", connections)
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("sample_agreed").count == 1, "\(outcome.errorOutput)")
        #expect(try outcome.events("finished").first?.sampled == true)
        #expect(outcome.errorOutput.contains("resumed by a sample, not by a validator"))
        // Only the samples, midway and at the end, are downloaded twice.
        #expect(trial.excess < Stage.stolen + Self.compared)
    }

    @Test(arguments: ["1", "4"])
    func otherBytesWithOtherDateStartOverMidway(connections: String) async throws {
        let (old, new) = (Content(size: Self.size, seed: 1), Content(size: Self.size, seed: 2))
        let trial = try Self.trial(first: old, then: new, after: 4)
        let outcome = try await trial.run("-x", connections)
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try new.firstDifference(at: trial.sandbox.path("file.bin")) == nil)
        #expect(try outcome.notices("sample_agreed").isEmpty)
    }

    /// The sample is requested while the server overwrites the file, and still has the old bytes.
    @Test(arguments: ["1", "4"], [false, true])
    func detectsChangeAfterEarlySample(connections: String, toPipe: Bool) async throws {
        let (old, new) = (Content(size: Self.size, seed: 1), Content(size: Self.size, seed: 2))
        let (gets, samples) = (Tally(), Tally())
        let trial = try WireTrial(size: Self.size) { request, _ in
            let isFirst =
                request.method == "HEAD" ? gets.count() < 4 : gets.add() <= 4
            let isWritten = samples.count() > 0
            if !isFirst, let range = request.range?.bytes(of: Self.size), range.count <= 64 << 10 {
                samples.add()
            }
            return OriginReply.file(
                isWritten ? new : old, for: request, etag: "\"same\"",
                lastModified: isFirst ? Self.monday : Self.tuesday, longest: 1_000_000)
        }
        guard toPipe else {
            let outcome = try await trial.run("-x", connections)
            #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
            #expect(try outcome.notices("sample_agreed").count >= 1)
            #expect(try new.firstDifference(at: trial.sandbox.path("file.bin")) == nil)
            return
        }
        let outcome = try await Run(
            [trial.origin.url("/dir/file.bin"), "-o", "-", "-x", connections],
            in: trial.sandbox.path
        ).ended()
        #expect(outcome.exitCode == 76, "\(outcome.errorOutput)")
    }

    /// The servers of a cluster differ only in the date.
    @Test func completesFromServersWithDifferentDates() async throws {
        let trial = try WireTrial(size: Self.size) { request, content in
            OriginReply.file(
                content, for: request, etag: "\"same\"",
                lastModified: request.connection % 2 == 0 ? Self.monday : Self.tuesday,
                longest: 500_000)
        }
        let outcome = try await trial.run("-x", "4")
        try outcome.expectComplete(trial.content)
        #expect(trial.excess < Stage.stolen + Self.compared)
    }

    /// The servers of a cluster have different files with one ETag: segget never mixes them.
    @Test(arguments: 0..<4)
    func doesNotMixFilesWithSameETag(turn: Int) async throws {
        let contents = [Content(size: Self.size, seed: 1), Content(size: Self.size, seed: 2)]
        let trial = try WireTrial(size: Self.size) { request, _ in
            let number = (request.connection + turn) % 2
            return OriginReply.file(
                contents[number], for: request, etag: "\"same\"",
                lastModified: number == 0 ? Self.monday : Self.tuesday, longest: 500_000)
        }
        let outcome = try await trial.run("-x", "4", "--retries", "2")
        guard outcome.exitCode == 0 else {
            #expect([69, 76].contains(outcome.exitCode), "\(outcome.errorOutput)")
            #expect(try !trial.sandbox.names().contains("file.bin"))
            return
        }
        let path = trial.sandbox.path("file.bin")
        #expect(try contents.contains { try $0.firstDifference(at: path) == nil })
    }

    /// The date changes before there is a byte to compare, so it indicates another version.
    @Test(arguments: ["1", "4"])
    func doesNotMixFilesIfDateChangesBeforeFirstByte(connections: String) async throws {
        let (contents, gets) = (
            [Content(size: Self.size, seed: 1), Content(size: Self.size, seed: 2)], Tally()
        )
        let trial = try WireTrial(size: Self.size) { request, _ in
            guard request.method == "GET" else { return .text(405) }
            let turn = gets.add()
            return OriginReply.file(
                contents[(turn + 1) % 2], for: request, etag: "\"same\"",
                lastModified: turn % 2 == 1 ? Self.monday : Self.tuesday, longest: 500_000
            ).with { if turn == 1 { $0.cutAfter = 0 } }
        }
        let outcome = try await trial.run("-x", connections, "--retries", "2")
        guard outcome.exitCode == 0 else {
            #expect([69, 76].contains(outcome.exitCode), "\(outcome.errorOutput)")
            #expect(try !trial.sandbox.names().contains("file.bin"))
            return
        }
        let path = trial.sandbox.path("file.bin")
        #expect(try contents.contains { try $0.firstDifference(at: path) == nil })
    }

    @Test(arguments: [true, false])
    func laterRunResumesOnlySameBytes(isSame: Bool) throws {
        let stage = try Stage(size: Self.size)
        stage.origin.change { $0.lastModified = Self.monday }
        let kept = try stage.leavePart(each: 400_000)
        stage.origin.change {
            $0.lastModified = Self.tuesday
            if !isSame { $0.content = Content(size: Self.size, seed: 2) }
        }
        let before = stage.origin.requests.count
        let outcome = try stage.run()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        if isSame {
            // At most 256 KiB are downloaded again.
            let most = Self.size - kept + (256 << 10)
            #expect(stage.bytesAsked(after: before) <= most)
            #expect(outcome.errorOutput.contains("resumed by a sample, not by a validator"))
        } else {
            #expect(outcome.errorOutput.contains("starting over"), "\(outcome.errorOutput)")
        }
    }

    /// The destination has a finished file, which its manifest describes.
    @Test(arguments: [true, false])
    func finishedFileWithOtherDateIsCompared(isSame: Bool) throws {
        let stage = try Stage(size: Self.size)
        stage.origin.change { $0.lastModified = Self.monday }
        #expect(try stage.run(["--keep-manifest"]).exitCode == 0)
        stage.origin.change {
            $0.lastModified = Self.tuesday
            if !isSame { $0.content = Content(size: Self.size, seed: 2) }
        }
        let outcome = try stage.run()
        #expect(outcome.exitCode == (isSame ? 0 : 73), "\(outcome.errorOutput)")
    }

    /// segget cannot read written bytes again, so it compares checksums of them.
    @Test(arguments: [true, false])
    func pipeReceivesOnlyOneVersion(isSame: Bool) async throws {
        let (old, other) = (Content(size: Self.size, seed: 1), Content(size: Self.size, seed: 2))
        let trial = try Self.trial(
            first: old, then: isSame ? old : other, after: 2, longest: .max)
        let outcome = try await Run(
            [trial.origin.url("/dir/file.bin"), "-o", "-", "-x", "4"], in: trial.sandbox.path
        ).ended()
        let bytes = outcome.standardOutput
        if isSame {
            #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
            #expect(old.matches(bytes, in: 0..<Self.size))
        } else if outcome.exitCode == 0 {
            #expect(other.matches(bytes, in: 0..<Self.size), "\(outcome.errorOutput)")
        } else {
            #expect(outcome.exitCode == 76, "\(outcome.errorOutput)")
            #expect(old.matches(bytes, in: 0..<Int64(bytes.count)))
        }
    }
}
