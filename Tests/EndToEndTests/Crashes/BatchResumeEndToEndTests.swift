import Foundation
import Glibc
import TestSupport
import Testing

/// Tests interrupted lists whose URLs suggest the same file name.
@Suite(.timeLimit(.minutes(5)))
struct BatchResumeEndToEndTests {
    private static let names = (0..<6).map { $0 == 0 ? "big.iso" : "big.\($0).iso" }

    /// Delays replies randomly, so that probes end in another order in each run.
    private func shuffle(_ stage: BatchStage, pace: Double?) {
        stage.origin.bend { request, reply in
            reply.delayBeforeHeaders = .random(in: 0...0.05)
            if request.method == "GET" { reply.pace = pace }
        }
    }

    @Test func numberedNamesFollowListOrder() throws {
        let stage = try BatchStage(size: 10_000)
        for _ in 0..<5 {
            shuffle(stage, pace: nil)
            let outcome = try Run(
                stage.urls(6) + ["-j", "6", "--overwrite", "-q"], in: stage.folder
            ).wait()
            #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
            #expect(try stage.sandbox.names() == Self.names.sorted())
            for (index, name) in Self.names.enumerated() {
                #expect(try stage.isRight(name, "/\(index + 1)/big.iso"), "\(name)")
            }
        }
    }

    /// A URL that is listed twice is downloaded twice; several paths of one folder are the same
    /// folder.
    @Test func foldersAreComparedByIdentity() throws {
        let stage = try BatchStage(size: 10_000)
        try FileManager.default.createDirectory(
            atPath: stage.sandbox.path("sub"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: stage.sandbox.path("link"), withDestinationPath: "sub")
        let url = stage.origin.url("/1/a")
        let list = ["sub", "link", "./sub/", stage.sandbox.path("sub")].map {
            "\(url)\n dir=\($0)\n"
        }
        let named = "\(url)\n dir=sub\n out=b\n\(url)\n out=link/b\n"
        let outcome = try stage.run(list: list.joined() + named)
        #expect(outcome.end == .exit(73), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("an earlier file of this run is saved as `link/b`"))
        let found = try FileManager.default.contentsOfDirectory(atPath: stage.sandbox.path("sub"))
        #expect(found.sorted() == ["a", "a.1", "a.2", "a.3", "b"])
    }

    /// No other file replaces a part that was begun from a mirror, while that mirror fails.
    @Test func partOfMirrorStaysUnchanged() throws {
        let stage = try BatchStage(size: 3_000_000)
        stage.origin.bendGET { $1.pace = 200_000 }
        let begun = try Run([stage.urls(2)[1], "-x", "2"], in: stage.folder)
        #expect(eventually(timeout: 50) { stage.recorded("big.iso") ?? 0 > 300_000 })
        begun.signal(SIGKILL)
        _ = try begun.wait()
        let kept = try #require(stage.recorded("big.iso"))
        stage.origin.bend { request, reply in
            if request.target.hasPrefix("/2/") { reply = .text(404) }
        }
        let urls = stage.urls(3)
        let list = "\(stage.origin.url("/none/big.iso"))\t\(urls[1])\n\(urls[2])\n"
        let outcome = try stage.run(list: list, ["--retries", "0", "-q"])
        #expect(outcome.end == .exit(69), "\(outcome.errorOutput)")
        #expect(stage.recorded("big.iso") == kept)
        #expect(
            try stage.sandbox.names() == ["big.1.iso", "big.iso.part", "big.iso.segget"])
    }

    /// Each file resumes under its name, and few bytes are downloaded twice.
    @Test func killedBatchResumes() throws {
        let stage = try BatchStage(size: 6_000_000)
        let arguments = stage.urls(6) + ["-j", "6", "-x", "6", "-q"]
        let kills = 4
        for kill in 1...kills {
            shuffle(stage, pace: 300_000)
            let process = try Run(arguments, in: stage.folder)
            let isThere = process.waits {
                Self.names.allSatisfy { (stage.recorded($0) ?? 0) >= Int64(kill) * 700_000 }
            }
            try #require(isThere, "\(process.errorOutput)")
            process.signal(SIGKILL)
            #expect(try process.wait().end == .signal(SIGKILL))
            stage.origin.dropConnections()
        }
        let kept = Self.names.reduce(Int64(0)) { $0 + (stage.recorded($1) ?? 0) }
        #expect(kept >= 6 * Int64(kills) * 700_000)
        shuffle(stage, pace: nil)
        let requests = stage.origin.requests.count
        let outcome = try Run(arguments, in: stage.folder).wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.sandbox.names() == Self.names.sorted())
        for (index, name) in Self.names.enumerated() {
            #expect(try stage.isRight(name, "/\(index + 1)/big.iso"), "\(name)")
        }
        let served = stage.origin.requests.dropFirst(requests).reduce(0) { $0 + $1.bytesServed }
        #expect(served <= 6 * stage.size - kept + 6 * Stage.stolen)
        // At each kill, at most the contents of the socket buffers of six connections are lost.
        #expect(
            stage.origin.bytesServed <= 6 * stage.size + Int64(kills) * (3 << 20) + 6 * Stage.stolen
        )
    }

    /// The first file failed in the first run; in the second run it does not take the others'
    /// parts.
    @Test func lateFileDoesNotTakePartOfOtherFile() throws {
        let stage = try BatchStage(size: 400_000)
        let urls = stage.urls(3)
        stage.origin.bend { request, reply in
            if request.target == "/1/big.iso" { reply = .text(404) }
            if request.method == "GET" { reply.stallAfter = 50_000 }
        }
        let process = try Run(urls + ["-x", "4"], in: stage.folder)
        #expect(
            eventually(timeout: 120) {
                ["big.iso", "big.1.iso"].allSatisfy { stage.recorded($0) ?? 0 >= 100_000 }
            })
        process.signal(SIGINT)
        #expect(try process.wait().end == .exit(130))
        // A stalled connection may have been replaced.
        let kept = (stage.recorded("big.iso") ?? 0) + (stage.recorded("big.1.iso") ?? 0)
        #expect(kept >= 200_000)
        stage.origin.behave()
        let requests = stage.origin.requests.count
        let outcome = try Run(urls, in: stage.folder).wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight("big.iso", "/2/big.iso"))
        #expect(try stage.isRight("big.1.iso", "/3/big.iso"))
        #expect(try stage.isRight("big.2.iso", "/1/big.iso"))
        let served = stage.origin.requests.dropFirst(requests).reduce(0) { $0 + $1.bytesServed }
        // The missing bytes, and up to 256 KiB of them twice.
        let missing = 3 * 400_000 - kept
        #expect((missing...missing + (1 << 18)).contains(served))
    }

    /// The next run neither downloads finished files again nor fails because of them, and they keep
    /// their names.
    @Test func finishedFilesAreNotDownloadedAgain() throws {
        let stage = try BatchStage(size: 400_000)
        let urls = stage.urls(3)
        stage.origin.bend { request, reply in
            if request.target == "/1/big.iso" { reply = .text(404) }
        }
        #expect(try Run(urls, in: stage.folder).wait().end == .exit(69))
        stage.origin.behave()
        let requests = stage.origin.requests.count
        let outcome = try Run(urls, in: stage.folder).wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("already complete"), "\(outcome.errorOutput)")
        #expect(try stage.sandbox.names() == ["big.1.iso", "big.2.iso", "big.iso"])
        #expect(try stage.isRight("big.iso", "/2/big.iso"))
        #expect(try stage.isRight("big.1.iso", "/3/big.iso"))
        #expect(try stage.isRight("big.2.iso", "/1/big.iso"))
        let served = stage.origin.requests.dropFirst(requests).reduce(0) { $0 + $1.bytesServed }
        // One file, whose end may have been requested twice.
        #expect(served < 2 * 400_000)
    }

    @Test(arguments: [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 75)] as [(Int32, Int32)])
    func signalStopsAllFilesAndKeepsParts(signal: Int32, code: Int32) throws {
        let stage = try BatchStage(size: 1_000_000, memory: 64 << 20)
        stage.origin.bendGET { _, reply in reply.stallAfter = 60_000 }
        let process = try Run(
            stage.urls(20) + ["-j", "8", "-x", "16", "--json"], in: stage.folder)
        let names = (0..<8).map { $0 == 0 ? "big.iso" : "big.\($0).iso" }
        // A connection may have received more bytes in place of a late one.
        func isThere(_ name: String) -> Bool { stage.recorded(name) ?? 0 >= 120_000 }
        #expect(eventually(timeout: 120) { names.allSatisfy(isThere) })
        let sent = monotonicSeconds()
        process.signal(signal)
        let outcome = try process.wait(timeout: 120)
        // One second is required. The rest is for a machine that is busy with other tests.
        #expect(monotonicSeconds() - sent <= 5)
        #expect(outcome.end == .exit(code), "\(outcome.errorOutput)")
        #expect(names.allSatisfy(isThere))
        #expect(outcome.errorOutput.contains("0 of 20 files done, 8 stopped, 12 not started; "))
        let last = try #require(try jsonEvents(outcome.output).last)
        #expect(last["event"] as? String == "summary")
        #expect((last["stopped"] as? Int, last["not_started"] as? Int) == (8, 12))
        #expect(last["code"] as? Int32 == code)
        stage.origin.behave()
        #expect(try Run(stage.urls(20) + ["-q"], in: stage.folder).wait().end == .exit(0))
        #expect(try stage.isRight("big.19.iso", "/20/big.iso"))
    }

    @Test func failFastStopsOtherFilesAndKeepsParts() throws {
        let stage = try BatchStage(size: 1_000_000)
        let isDue = Guarded(false)
        stage.origin.bend { request, reply in
            if request.target == "/3/big.iso" {
                _ = isDue.wait(timeout: 120) { $0 }
                reply = .text(404)
            }
            if request.method == "GET" { reply.stallAfter = 60_000 }
        }
        let arguments = stage.urls(9) + ["-j", "3", "-x", "6"]
        let process = try Run(arguments + ["--fail-fast"], in: stage.folder)
        #expect(
            eventually(timeout: 120) {
                ["big.iso", "big.1.iso"].allSatisfy { stage.recorded($0) ?? 0 >= 120_000 }
            })
        isDue.withLock { $0 = true }
        let outcome = try process.wait()
        #expect(outcome.end == .exit(69), "\(outcome.errorOutput)")
        let summary = "0 of 9 files done, 1 failed, 2 stopped, 6 not started; "
        #expect(outcome.errorOutput.contains(summary), "\(outcome.errorOutput)")
        #expect(
            outcome.errorOutput.contains("error: stopped after a failure: 8 of 9 files remaining"))
        #expect(["big.iso", "big.1.iso"].allSatisfy { stage.recorded($0) ?? 0 >= 120_000 })
        stage.origin.behave()
        #expect(try Run(arguments + ["-q"], in: stage.folder).wait().end == .exit(0))
        #expect(try stage.isRight("big.1.iso", "/2/big.iso"))
        #expect(try stage.isRight("big.2.iso", "/3/big.iso"))
    }
}
