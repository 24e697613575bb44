import Foundation
import Glibc
import TestSupport
import Testing

/// If segget reports `kept: nothing`, no file remains.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct NothingKeptTests {
    private static let size: Int64 = 3_000_000

    /// Replies to `GET` that contain no byte of the file, after a correct reply to `HEAD`.
    enum Way: String, CaseIterable, Sendable {
        case serverError, gone, silence, cut, reset, noRanges, unknownSize, error400

        /// Changes the reply to a `GET`.
        func bend(_ reply: inout OriginReply) {
            switch self {
            case .serverError: reply = .text(500)
            case .gone: reply = .text(410)
            case .silence: reply.delayBeforeHeaders = .infinity
            case .cut: reply.cutAfter = 0
            case .reset: reply = .resetWithoutReply
            case .noRanges:
                reply.cutAfter = 0
                reply.set("Content-Range", nil)
                reply.set("Accept-Ranges", nil)
                if reply.status == 206 { reply.status = 200 }
                reply.claimedLength = NothingKeptTests.size
            case .unknownSize:
                reply.status = 200
                reply.set("Content-Range", nil)
                reply.framing = .chunked
                reply.cutAfter = 0
            case .error400: reply = .text(400)
            }
        }
    }

    @Test(arguments: Way.allCases, ["1", "8"])
    func failedDownloadLeavesNothing(way: Way, connections: String) throws {
        let stage = try Stage(size: Self.size)
        stage.origin.bendGET { way.bend(&$0) }
        let outcome = try stage.run([
            "--retries", "0", "--stall-timeout", "1", "-x", connections,
        ])
        #expect(![.exit(0), .exit(64)].contains(outcome.end), "\(outcome.errorOutput)")
        #expect(!outcome.errorOutput.contains(" in `file.part`"), "\(outcome.errorOutput)")
        #expect(try stage.names() == [], "\(outcome.errorOutput)")
    }

    @Test func signalBeforeFirstByteLeavesNothing() throws {
        let stage = try Stage(size: Self.size)
        stage.origin.bendGET { $0.delayBeforeHeaders = .infinity }
        let process = try stage.start(["-x", "2"])
        #expect(eventually { stage.manifest() != nil })
        process.signal(SIGTERM)
        let outcome = try process.wait()
        #expect(outcome.end == .exit(143), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("kept: nothing"), "\(outcome.errorOutput)")
        #expect(try stage.names() == [])
    }

    /// A failed run keeps the part of an earlier one.
    @Test(arguments: Way.allCases) func keepsPartOfEarlierRun(way: Way) throws {
        let stage = try Stage(size: Self.size)
        let kept = try stage.leavePart(each: 200_000)
        stage.origin.bendGET { way.bend(&$0) }
        let outcome = try stage.run(["--retries", "0", "--stall-timeout", "1"])
        #expect(outcome.end != .exit(0))
        // segget may discard the part if the server shows three times that it serves no ranges.
        if ![.noRanges, .unknownSize].contains(way) {
            #expect(try stage.names() == ["file.part", "file.segget"], "\(outcome.errorOutput)")
            #expect(stage.recorded() == kept)
        }
    }

    @Test func keepsForeignFileWithNameOfManifest() throws {
        let stage = try Stage(size: Self.size)
        // Another program's file has the manifest's name.
        stage.origin.bendGET { $0 = .text(500) }
        try stage.write("mine".utf8, to: "file.segget")
        let outcome = try stage.run(["--retries", "0"])
        #expect(outcome.end == .exit(73), "\(outcome.errorOutput)")
        #expect(try stage.names() == ["file.segget"])
    }

    /// The failed file leaves nothing, and the others complete.
    @Test func failedFileOfAListLeavesNothing() throws {
        let stage = try BatchStage(size: Self.size)
        stage.origin.bendGET { request, reply in
            if request.target.hasPrefix("/2/") { reply = .text(500) }
        }
        let outcome = try stage.run(
            list: stage.urls(3).joined(separator: "\n"), ["--retries", "0", "-d", "d"])
        #expect(outcome.end == .exit(69), "\(outcome.errorOutput)")
        let names = try FileManager.default.contentsOfDirectory(atPath: stage.sandbox.path("d"))
        #expect(names.sorted() == ["big.1.iso", "big.iso"], "\(outcome.errorOutput)")
    }

    /// A part with a wrong digest stays for inspection, even if it is empty.
    @Test func keepsPartWithWrongDigest() throws {
        let stage = try Stage(size: 0)
        let wrong = "md5:" + String(repeating: "0", count: 32)
        let outcome = try stage.run(["--checksum", wrong])
        #expect(outcome.end == .exit(65), "\(outcome.errorOutput)")
        #expect(try stage.names() == ["file.part", "file.segget"])
    }
}
