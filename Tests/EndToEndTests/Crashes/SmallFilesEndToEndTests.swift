import Foundation
import Glibc
import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests lists of small files, each of which takes one request.
@Suite(.timeLimit(.minutes(5)))
struct SmallFilesEndToEndTests {
    private static func names(_ count: Int) -> [String] { (1...count).map { "f\($0)" } }

    /// The list with `count` URLs, `/f1` and so on.
    private static func list(_ stage: BatchStage, _ count: Int) -> String {
        names(count).map { stage.origin.url("/\($0)") + "\n" }.joined()
    }

    private static func expectRight(_ stage: BatchStage, _ names: [String]) throws {
        for name in names { #expect(try stage.isRight(name, "/\(name)"), "\(name)") }
    }

    @Test func eachFileTakesOneRequest() throws {
        let stage = try BatchStage(size: 20_000)
        let outcome = try stage.run(list: Self.list(stage, 60), ["-q"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.sandbox.names() == Self.names(60).sorted())
        try Self.expectRight(stage, Self.names(60))
        #expect(stage.origin.requests.count == 60)
        #expect(stage.origin.requests.allSatisfy { $0.method == "GET" })
    }

    /// Before Linux 6.10, only a privileged process may name a file by its descriptor alone.
    @Test func namesFilesByPathIfKernelRefusesDescriptor() throws {
        let stage = try BatchStage(size: 20_000)
        let log = try Sandbox()
        let outcome = try Run(
            Self.names(3).map { stage.origin.url("/\($0)") } + ["-q"], in: stage.folder,
            environment: try DiskFaults.environment(
                ["linkat:*:1:1:\(ENOENT)"], in: stage.folder, log: log.path("calls"))
        ).wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        try Self.expectRight(stage, Self.names(3))
        let calls = try String(contentsOfFile: log.path("calls"), encoding: .utf8)
        let links = calls.split(separator: "\n").filter { $0.hasPrefix("linkat ") }
        #expect(links.count == 4, "\(calls)")
    }

    @Test func sendsManyRequestsAtOnce() throws {
        let stage = try BatchStage(size: 20_000)
        stage.origin.bend { _, reply in reply.delayBeforeHeaders = 0.3 }
        let outcome = try stage.run(list: Self.list(stage, 120), ["-q", "-x", "64"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect((9...64).contains(stage.origin.peakConnections))
    }

    /// A late reply delays the names of all later files of the list, but not their downloads.
    @Test func lateReplyDelaysNoOtherFile() throws {
        let stage = try BatchStage(size: 20_000)
        let (asked, isInTime) = (Guarded(0), Guarded(false))
        stage.origin.bend { request, _ in
            asked.withLock { $0 += 1 }
            guard request.target == "/f1" else { return }
            // Shorter than the stall timeout, after which later files do not wait for its name.
            let areAllAsked = eventually(timeout: 10) { asked.withLock { $0 >= 200 } }
            isInTime.withLock { $0 = areAllAsked }
        }
        let outcome = try stage.run(list: Self.list(stage, 200), ["-q"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(isInTime.withLock { $0 })
        try Self.expectRight(stage, Self.names(200))
    }

    /// segget reads every field of a long header section.
    @Test func readsLongHeaderSections() throws {
        let stage = try BatchStage(size: 20_000)
        stage.origin.bend { request, reply in
            for number in 1...100 { reply.headers.append(.init("X-Line-\(number)", "x")) }
            if request.target == "/f2" { reply.headers.append(.init("Content-Encoding", "gzip")) }
        }
        let outcome = try stage.run(list: Self.list(stage, 3))
        #expect(outcome.end != .exit(0) && outcome.errorOutput.contains("gzip"))
        #expect(try stage.sandbox.names() == ["f1", "f3"])
        try Self.expectRight(stage, ["f1", "f3"])
    }

    /// The first request's bytes are the beginning of a large file, so no byte is downloaded twice.
    @Test func largeFilesAreDownloadedInSegments() throws {
        let stage = try BatchStage(size: 3_000_000)
        stage.origin.bend { _, reply in reply.pace = 1_000_000 }
        let outcome = try stage.run(list: Self.list(stage, 3), ["-q", "-x", "16"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        try Self.expectRight(stage, Self.names(3))
        // One byte is requested at the end if the download took longer than a second.
        let requests = stage.origin.requests.filter { $0.range?.last != 0 }
        #expect(requests.allSatisfy { $0.method == "GET" } && requests.count >= 9)
        // The end of a file may be requested twice if one connection delays all others.
        #expect(requests.count { $0.range?.first == 0 } == 3)
        let served = requests.reduce(0) { $0 + $1.bytesServed }
        #expect(served >= 3 * 3_000_000 && served <= 3 * (3_000_000 + Hedging.budget.least))
    }

    @Test func failureOfOneFileDoesNotAffectOthers() throws {
        let stage = try BatchStage(size: 20_000)
        let isFirst = Guarded<Set<String>>([])
        stage.origin.bend { request, reply in
            let comesAgain = isFirst.withLock { !$0.insert(request.target).inserted }
            switch request.target {
            case "/f2": reply = .text(404)
            case "/f3":
                reply = .text(302, headers: [.init("Location", "/elsewhere")])
            case "/f4" where !comesAgain:
                reply = .text(429, headers: [.init("Retry-After", "1")])
            case "/f5" where !comesAgain: reply.cutAfter = 5_000
            case "/f6": reply.framing = .chunked
            case "/f7" where !comesAgain: reply.headers.append(.init("Content-Encoding", "gzip"))
            case "/f8": reply.headers.append(.init("Repr-Digest", "sha-256=:\(Self.wrong):"))
            case "/f9" where !comesAgain: reply = .raw([])
            default: break
            }
        }
        let outcome = try stage.run(list: Self.list(stage, 20))
        #expect(outcome.end != .exit(0))
        try Self.expectRight(stage, ["f1", "f4", "f5", "f6", "f9"] + Self.names(20).suffix(11))
        #expect(try stage.isRight("elsewhere", "/elsewhere"))
        for name in ["f2", "f3", "f8"] {
            #expect(try !stage.sandbox.names().contains(name), "\(outcome.errorOutput)")
        }
        let served = stage.origin.requests.filter { $0.target == "/f5" && $0.range?.last != 0 }
            .reduce(0) { $0 + $1.bytesServed }
        #expect(served == 20_000, "what had come of a broken one was fetched again")
    }

    /// segget does not check files of this run at a URL's name before it sends the next request.
    @Test func filesWithSameNameTakeOneRequestEach() throws {
        let stage = try BatchStage(size: 2_000)
        let list = stage.urls(400, "x").map { $0 + "\n" }.joined()
        let outcome = try stage.run(list: list, ["-q"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        for number in 1...400 {
            let name = number == 1 ? "x" : "x.\(number - 1)"
            #expect(try stage.isRight(name, "/\(number)/x"), "\(name)")
        }
        #expect(stage.origin.requests.count == 400)
    }

    /// A file with a wrong digest keeps the name that the list order gave it.
    @Test func failedFileKeepsItsName() throws {
        let stage = try BatchStage(size: 20_000)
        stage.origin.bend { request, reply in
            guard request.target == "/a/x" else { return }
            reply.headers.append(.init("Repr-Digest", "sha-256=:\(Self.wrong):"))
        }
        let list = ["/a/x", "/b/x", "/c/x"].map { stage.origin.url($0) + "\n" }.joined()
        let outcome = try stage.run(list: list)
        #expect(outcome.end != .exit(0) && outcome.errorOutput.contains("`x.part`"))
        #expect(try stage.isRight("x.1", "/b/x") && stage.isRight("x.2", "/c/x"))
        #expect(
            try stage.sandbox.names().allSatisfy { $0 != "x" && !$0.hasPrefix("x.3") })
    }

    /// An existing file waits for the names of the files before it, whose requests must have been
    /// sent.
    @Test func existingFilesDoNotBlockEarlierOnes() throws {
        let stage = try BatchStage(size: 20_000)
        let list = Self.names(40).map { stage.origin.url("/\($0)") + "\n" }
        let later = list[4..<8] + list[20..<30]
        #expect(try stage.run(list: later.joined(), ["-q"]).end == .exit(0))
        let outcome = try stage.run(list: list.joined(), ["-q"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        try Self.expectRight(stage, Self.names(40))
    }

    /// No two files wait for each other, whichever files exist already, are large, fail or are
    /// late, and however many may be active.
    @Test(arguments: [20_000, 300_000], ["", "--jobs=1", "--jobs=3", "-x2"])
    func filesNeverWaitForEachOther(size: Int64, option: String) throws {
        let stage = try BatchStage(size: size)
        var random = SplitMix64(seed: UInt64(size) + UInt64(option.utf8.count))
        let names = Self.names(80)
        let there = names.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
        func list(_ names: [String]) -> String {
            names.map { stage.origin.url("/\($0)") + "\n" }.joined()
        }
        #expect(try stage.run(list: list(there), ["-q"]).end == .exit(0))
        let troubles = Dictionary(
            uniqueKeysWithValues: names.map { ("/\($0)", Int.random(in: 0..<12, using: &random)) })
        let asked = Guarded<Set<String>>([])
        stage.origin.bend { request, reply in
            let isFirst = asked.withLock { $0.insert(request.target).inserted }
            switch troubles[request.target] {
            case 0 where isFirst: reply = .text(503, headers: [.init("Retry-After", "1")])
            case 1 where isFirst: reply.cutAfter = 5_000
            case 2: reply.delayBeforeHeaders = 0.2
            case 3 where isFirst: reply.framing = .chunked
            default: break
            }
        }
        let arguments = ["-q"] + (option.isEmpty ? [] : [option])
        let outcome = try stage.run(list: list(names), arguments)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        try Self.expectRight(stage, names)
    }

    /// segget waits neither for active requests nor for files without a request.
    @Test func interruptEndsAllFiles() throws {
        let stage = try BatchStage(size: 20_000)
        stage.origin.bend { _, reply in reply.delayBeforeHeaders = 600 }
        let list = try stage.sandbox.write("list", Self.list(stage, 100))
        let process = try Run(["-i", list], in: stage.folder)
        #expect(eventually(timeout: 60) { stage.origin.requests.count >= 4 })
        process.signal(SIGINT)
        let outcome = try process.wait()
        #expect(outcome.end == .exit(130), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("100 of 100 files remaining"))
        #expect(try stage.sandbox.names() == ["list"])
    }

    /// Shutting down the loop ends all files of a batch that began too late to be stopped with the
    /// others.
    ///
    /// The files end together then, although the list has not ended.
    @Test func shutdownOfLoopEndsAllFiles() async throws {
        let stage = try BatchStage(size: 5000)
        stage.origin.bend { _, reply in reply.delayBeforeHeaders = 600 }
        let (origin, folder) = (stage.origin, stage.folder)
        for round in 1...60 {
            let session = DownloadSession()
            let batch = session.start(count: 100) { index in
                BatchItem(origin.url("/\(index)/f"), to: .folder(folder))
            }
            var ends = 0
            for await event in batch.events {
                switch event.kind {
                case .begun where event.index == 3: session.loop.shutdown()
                case .ended(.failure(let error)) where error.reason == .cancelled: ends += 1
                default: break
                }
            }
            #expect(ends == 100, "round \(round)")
            await session.shutdown()
        }
    }

    private static let wrong = Data(repeating: 1, count: 32).base64EncodedString()

    /// A server that serves three requests at a time makes no file fail.
    @Test func completesDespiteRefusedRequests() throws {
        let stage = try BatchStage(size: 20_000)
        let (busy, refused) = (Guarded(0), Guarded(0))
        stage.origin.bend { request, reply in
            guard busy.withLock({ $0 < 3 }) else {
                refused.withLock { $0 += 1 }
                reply = .text(503)
                return
            }
            busy.withLock { $0 += 1 }
            usleep(20_000)
            busy.withLock { $0 -= 1 }
        }
        let outcome = try stage.run(list: Self.list(stage, 150), ["-q"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        try Self.expectRight(stage, Self.names(150))
        #expect(refused.withLock { $0 } > 0)
    }

    @Test func existingFilesStayUnchanged() throws {
        let stage = try BatchStage(size: 20_000)
        try stage.sandbox.write("f1.part", "somebody's")
        try stage.sandbox.write("f2", "somebody's")
        #expect(symlink("nowhere", stage.sandbox.path("f3")) == 0)
        #expect(symlink("nowhere", stage.sandbox.path("f4.part")) == 0)
        let outcome = try stage.run(list: Self.list(stage, 8))
        #expect(outcome.end != .exit(0))
        #expect(try stage.sandbox.read("f1.part") == Data("somebody's".utf8))
        #expect(try stage.sandbox.read("f2") == Data("somebody's".utf8))
        #expect(
            try stage.sandbox.names()
                == ["f1.part", "f2", "f3", "f4.part", "f5", "f6", "f7", "f8"])
        try Self.expectRight(stage, ["f5", "f6", "f7", "f8"])
    }

    /// Kills the process repeatedly, each time with more finished files; the same command then
    /// completes the list.
    @Test func killsLeaveNoTemporaryFiles() throws {
        let stage = try BatchStage(size: 20_000)
        let list = try stage.sandbox.write("list", Self.list(stage, 200))
        for round in 1...4 {
            stage.origin.bend { _, reply in reply.delayBeforeHeaders = 0.02 }
            let process = try Run(["-q", "-i", list], in: stage.folder)
            #expect(
                eventually(timeout: 60) {
                    ((try? stage.sandbox.names().count) ?? 0) >= round * 40
                })
            process.signal(SIGKILL)
            _ = try process.wait()
            #expect(try stage.sandbox.names().allSatisfy { !$0.contains(".") })
        }
        stage.origin.behave()
        #expect(try Run(["-q", "-i", list], in: stage.folder).wait().end == .exit(0))
        #expect(try stage.sandbox.names() == (Self.names(200) + ["list"]).sorted())
        try Self.expectRight(stage, Self.names(200))
    }

    /// Over HTTP/2 small files share one connection; segments have separate connections.
    @Test func smallFilesShareHTTP2Connection() throws {
        let root = try Sandbox(), target = try Sandbox()
        let port = try Nginx.freePort()
        for index in 0..<100 {
            try Content(size: 10_000, seed: UInt64(index)).write(to: root.path("f\(index)"))
        }
        let large = Content(size: 3_000_000, seed: 1_000)
        try large.write(to: root.path("large"))
        let nginx = try Nginx(
            root: root.path, limitRate: "2m", workers: 1,
            directives: "listen 127.0.0.1:\(port) ssl http2;")
        let urls = ((0..<100).map { "f\($0)" } + ["large"])
            .map { "https://127.0.0.1:\(port)/\($0)\n" }
        let list = try root.write("list", urls.joined())
        let outcome = try Run(
            ["-q", "--ca-certificate", nginx.authority, "-i", list], in: target.path
        ).wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        for index in 0..<100 {
            let content = Content(size: 10_000, seed: UInt64(index))
            #expect(try content.firstDifference(at: target.path("f\(index)")) == nil)
        }
        #expect(try large.firstDifference(at: target.path("large")) == nil)
        // nginx logs a request when it has ended.
        #expect(eventually(timeout: 10) { ((try? nginx.bytesSent()) ?? 0) >= 4_000_000 })
        let log = try nginx.accessLog()
        let shared = log.filter { $0.request.hasSuffix("HTTP/2.0") }
        #expect(shared.count == 101 && Set(shared.map(\.connection)).count == 1)
        let own = log.filter { $0.request.hasSuffix("HTTP/1.1") }
        #expect(own.allSatisfy { $0.request.contains("/large") } && !own.isEmpty)
        #expect(Set(own.map(\.connection)).isDisjoint(with: Set(shared.map(\.connection))))
        #expect(log.count == shared.count + own.count)
    }
}
