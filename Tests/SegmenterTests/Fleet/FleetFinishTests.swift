import Assembler
import Foundation
import TestSupport
import Testing

@testable import Segmenter

/// What a finishing decides about files that are wrong.
@Suite struct FleetFinishTests {
    private let sandbox: Sandbox
    private let fleet: Fleet

    /// Creates a fleet of one shard with one file, which attempt 1 has received.
    init() throws {
        sandbox = try Sandbox()
        let file = Listing.File(
            path: "a", address: "https://h.test/a", size: 5, etag: "\"v1\"")
        let plan = try PlanFile(Listing(Listing.Source(.urls), files: [file]))
        fleet = try Fleet.create(plan, at: sandbox.path("fleet"), .init(shards: 1))
        try complete(1, "right")
    }

    /// Makes an attempt that has received the file.
    private func complete(_ attempt: Int, _ content: String) throws {
        #expect(try fleet.make(FleetMark(0, attempt, .claim)) == .made)
        let folder = fleet.files(0, attempt)
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        let set = try SetFolder(fleet.plan, in: folder) { _ in
            SetFailure(kind: "test", code: 75, message: "")
        }
        try sandbox.write("fleet/work/0.\(attempt)/files/a", content)
        let done = DownloadedFile(
            path: "\(folder)/a", size: 5, crc32: CRC32.of(content.utf8), verified: [],
            bytesReceived: 5, bytesResumed: 0, duration: .zero)
        set.record(0, .success(done))
        #expect(set.close() == nil)
    }

    private func finish(_ attempt: Int) throws -> FleetFinish.Result {
        let target = try FleetFolder(fleet, sandbox.path("out"), hub: nil)
        return try FleetFinish(fleet, to: target, attempt: attempt, isCancelled: { false })()
    }

    /// Attempt 2 has completed the shard with a file of attempt 1, before that one was found wrong.
    @Test func wrongFileVoidsEachAttemptThatUsesIt() throws {
        #expect(try fleet.make(FleetMark(0, 1, .done)) == .made)
        #expect(try fleet.make(FleetMark(0, 2, .claim)) == .made)
        #expect(try fleet.make(FleetMark(0, 2, .done)) { $0.sources = [1] } == .made)
        try sandbox.write("fleet/work/0.1/files/a", "wrong")
        let result = try finish(1)
        #expect(result.wrong.map(\.path) == ["a"] && result.missing.isEmpty)
        #expect(result.rest != nil)
        #expect(try fleet.board().state(of: 0) == .left(2))
    }

    /// Attempt 2 has completed the shard with its own file, while attempt 1 had a wrong one.
    @Test func fileOfAnotherAttemptIsUsed() throws {
        #expect(try fleet.make(FleetMark(0, 1, .done)) == .made)
        try complete(2, "right")
        #expect(try fleet.make(FleetMark(0, 2, .done)) { $0.sources = [1] } == .made)
        try sandbox.write("fleet/work/0.1/files/a", "wrong")
        #expect(try finish(1).isComplete)
        #expect(try sandbox.read("out/a") == Data("right".utf8))
    }

    @Test func fileIsPublishedOnceItsShardIsDone() throws {
        #expect(try finish(1).missing.map(\.path) == ["a"])
        #expect(!FileManager.default.fileExists(atPath: sandbox.path("out/a")))
        #expect(try fleet.make(FleetMark(0, 1, .done)) == .made)
        #expect(try finish(2).isComplete)
        #expect(try sandbox.read("out/a") == Data("right".utf8))
    }

    /// A worker of another version of segget has made the mark; what is unknown is ignored.
    @Test func markOfAnotherVersionIsRead() throws {
        struct Later: Encodable {
            var token = "0123456789abcdef"
            var process = "somewhere later"
            var segget = "99.0"
            var at = 1
            var sources = [1]
            var mood = ["new": true]
        }
        struct Head: Decodable { var id: String }
        let lines = try sandbox.read("fleet/fleet").split(separator: UInt8(ascii: "\n"))
        let id = try JSONDecoder().decode(Head.self, from: try #require(lines.first)).id
        let line = SealedLine.of(Later(), seed: FleetFormat.seed(id: id))
        for name in ["0.2.claim", "0.2.done"] {
            try Data(line).write(to: URL(filePath: sandbox.path("fleet/marks/\(name)")))
        }
        #expect(fleet.claim(FleetMark(0, 2, .done))?.segget == "99.0")
        #expect(try finish(1).isComplete)
        #expect(try sandbox.read("out/a") == Data("right".utf8))
    }
}
