import Foundation
import Glibc
import TestSupport
import Testing

/// Several files in one run.
@Suite(.timeLimit(.minutes(5)))
struct BatchEndToEndTests {
    @Test func downloadsManyURLsFromNginx() throws {
        let root = try Sandbox(), target = try Sandbox()
        let contents = (0..<6).map { Content(size: 300_000 + $0, seed: UInt64($0)) }
        for (index, content) in contents.enumerated() {
            try content.write(to: root.path("f\(index)"))
        }
        let nginx = try Nginx(root: root.path)
        let urls = (0..<6).map { nginx.secureURL("/f\($0)") }
        let outcome = try Run(
            urls + ["--ca-certificate", nginx.authority], in: target.path
        ).wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try target.names() == (0..<6).map { "f\($0)" })
        for (index, content) in contents.enumerated() {
            #expect(try content.firstDifference(at: target.path("f\(index)")) == nil)
        }
        #expect(outcome.errorOutput.contains("6 of 6 files done; 1.72 MiB in "))
    }

    @Test func filesShareConnections() throws {
        let stage = try BatchStage(size: 20_000)
        let outcome = try Run(stage.urls(40, "f") + ["-j", "2", "-q"], in: stage.folder).wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(stage.origin.requests.count == 40)
        #expect(stage.origin.acceptedConnections <= 4)
    }

    @Test func runsAtMostRequestedFilesAtATime() throws {
        let stage = try BatchStage(size: 30_000)
        stage.origin.bendGET { _, reply in reply.delayBeforeHeaders = 0.05 }
        let process = try Run(
            stage.urls(12, "f") + ["-j", "3", "-x", "3", "--json"], in: stage.folder)
        let outcome = try process.wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        var running = 0
        var most = 0
        var order: [Int] = []
        for event in try jsonEvents(outcome.output) {
            switch event["event"] as? String {
            case "begun":
                running += 1
                order.append(try #require(event["file"] as? Int))
            case "finished": running -= 1
            default: break
            }
            most = max(most, running)
        }
        #expect(most == 3)
        #expect(order.sorted() == Array(1...12))
        // Files that start together may report it in any order.
        #expect(order.enumerated().allSatisfy { abs($0.element - 1 - $0.offset) < 3 }, "\(order)")
        #expect(stage.origin.peakConnections <= 3)
    }

    /// `-x` is the bound of a host over all files; together, these use all of the connections.
    @Test(arguments: [[], ["-j", "2"]])
    func filesOfHostShareGivenConnections(jobs: [String]) async throws {
        // No connection takes bytes that another one has requested, which would close that one.
        let stage = try BatchStage(size: 100_000_000, memory: 400 << 20)
        stage.origin.bendGET { _, reply in reply.pace = 500_000 }
        let child = try Run(stage.urls(3) + jobs + ["-x", "4"], in: stage.folder)
        let names = ["big.iso", "big.1.iso", "big.2.iso"].prefix(jobs.isEmpty ? 3 : 2)
        let isThere = try await onThread {
            child.waits { names.allSatisfy { (stage.recorded($0) ?? 0) >= 1_500_000 } }
        }
        #expect(isThere, "\(child.errorOutput)")
        #expect(stage.origin.peakConnections == 4)
        child.signal(SIGTERM)
        #expect(try await child.ended().exitCode == 143)
    }

    /// The bound is that of each host, so files of another host need not wait.
    @Test func eachHostHasGivenConnections() async throws {
        let stage = try BatchStage(size: 1_000_000), other = try BatchStage(size: 20_000)
        let isDue = Guarded(false)
        stage.origin.bendGET { _, reply in
            reply.stallAfter = 100_000
            reply.release = isDue
        }
        let urls = [stage.origin.url("/slow"), other.origin.url("/a"), other.origin.url("/b")]
        let child = try Run(urls + ["-x", "1", "--stall-timeout", "500"], in: stage.folder)
        let isDone = try await onThread {
            child.waits {
                ["a", "b"].allSatisfy {
                    FileManager.default.fileExists(atPath: stage.sandbox.path($0))
                }
            }
        }
        #expect(isDone, "\(child.errorOutput)")
        isDue.withLock { $0 = true }
        #expect(try await child.ended().exitCode == 0)
        #expect(try stage.isRight("slow", "/slow"))
        #expect(other.origin.peakConnections == 1)
    }

    @Test func listSetsOptionsOfEachFile() throws {
        let stage = try BatchStage(size: 50_000)
        try FileManager.default.createDirectory(
            atPath: stage.sandbox.path("sub"), withIntermediateDirectories: false)
        let list = """
            \u{feff}# a list\r
            \(stage.origin.url("/1/a"))\r
              out=one\r
              checksum=sha-256=\(stage.sha256("/1/a"))\r
            \r
            \(stage.origin.url("/2/a"))
            \tdir=sub
            \theader=X-Test: two
            \(stage.origin.url("/3/a"))
              out=sub/three
              split=1
            """
        let outcome = try stage.run(list: list, ["-j", "1", stage.origin.url("/4/a"), "--json"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        for (name, path) in [
            ("one", "/1/a"), ("sub/a", "/2/a"), ("sub/three", "/3/a"), ("a", "/4/a"),
        ] {
            #expect(try stage.isRight(name, path))
        }
        #expect(try stage.sandbox.names() == ["a", "one", "sub"])
        let marked = stage.origin.requests.filter { $0.header("X-Test") == "two" }
        #expect(!marked.isEmpty && marked.allSatisfy { $0.target == "/2/a" })
        // The URLs of the command line come before those of the list.
        let finished = try jsonEvents(outcome.output).filter {
            $0["event"] as? String == "finished"
        }
        #expect(finished.map { $0["path"] as? String } == ["a", "one", "sub/a", "sub/three"])
        #expect(finished.map { $0["file"] as? Int } == [1, 2, 3, 4])
        #expect((finished[1]["verified"] as? [String])?.count == 1)
    }

    @Test(
        arguments: [
            ("  frobnicate=secret\n", 3, "the option `frobnicate` is unknown"),
            ("  split=secret\n", 3, "`split` takes 1 to 64"),
            ("  http://u:secret@h/?secret=secret\n", 3, "`name=value`"),
        ])
    func reportsListErrorsBeforeDownloading(
        line: String, number: Int, problem: String
    ) throws {
        let stage = try BatchStage(size: 1000)
        let path = try stage.sandbox.write("list", "\(stage.origin.url("/1/a"))\n\n\(line)")
        let outcome = try Run(["-i", path, stage.origin.url("/2/b")], in: stage.folder).wait()
        #expect(outcome.end == .exit(64))
        #expect(outcome.errorOutput.contains("`\(path)`, line \(number): "))
        #expect(outcome.errorOutput.contains(problem), "\(outcome.errorOutput)")
        #expect(!outcome.errorOutput.contains("secret"))
        #expect(stage.origin.requests.isEmpty)
        #expect(try stage.sandbox.names() == ["list"])
    }

    @Test func refusesListThatIsNotUTF8() throws {
        let stage = try BatchStage(size: 1000)
        try Data(Array("\(stage.origin.url("/1/a"))\nhttp://h/".utf8) + [0xff]).write(
            to: URL(fileURLWithPath: stage.sandbox.path("list")))
        let outcome = try Run(["-i", "list"], in: stage.folder).wait()
        #expect(outcome.end == .exit(64))
        #expect(outcome.errorOutput.contains("`list`, line 2: the line is not UTF-8"))
        #expect(stage.origin.requests.isEmpty)
    }

    @Test func oneFailureDoesNotStopTheRest() throws {
        let stage = try BatchStage(size: 40_000)
        let wrong = String(repeating: "0", count: 64)
        let list = """
            \(stage.origin.url("/1/a"))
            \(stage.origin.url("/none/b"))
            \(stage.origin.url("/2/c"))
              checksum=sha-256=\(wrong)
            \(stage.origin.url("/3/d"))
            """
        let outcome = try stage.run(list: list, ["-j", "2", "--json"])
        #expect(outcome.end == .exit(65), "\(outcome.errorOutput)")
        #expect(try stage.isRight("a", "/1/a") && stage.isRight("d", "/3/d"))
        #expect(try stage.sandbox.names() == ["a", "c.part", "c.segget", "d"])
        #expect(outcome.errorOutput.contains("2 of 4 files done, 2 failed; "))
        let failed = outcome.errorOutput.split(separator: "\n").filter {
            $0.hasPrefix("  failed: ")
        }
        #expect(failed.count == 2)
        #expect(failed.contains { $0.contains("/none/b") && $0.contains("404") })
        let events = try jsonEvents(outcome.output)
        let codes = events.filter { $0["event"] as? String == "error" }.reduce(into: [:]) {
            $0[$1["file"] as? Int ?? 0] = $1["code"] as? Int
        }
        #expect(codes == [2: 69, 3: 65])
        let last = try #require(events.last)
        #expect(last["event"] as? String == "summary")
        #expect(last["code"] as? Int == 65)
        #expect((last["done"] as? Int, last["failed"] as? Int) == (2, 2))
        #expect(
            events.allSatisfy {
                ["run", "summary"].contains($0["event"] as? String) == ($0["file"] == nil)
            })
    }

    /// A server that is down delays neither other servers nor their name resolution.
    @Test func downServerDelaysNoOtherFile() throws {
        let stage = try BatchStage(size: 30_000, memory: 16 << 20)
        let dead = try BatchStage(size: 10)
        dead.origin.refuseConnections()
        let process = try Run(
            [dead.origin.url("/0/big.iso")] + stage.urls(6) + ["-j", "2", "--retries", "1000"],
            in: stage.folder)
        #expect(
            eventually(timeout: 120) {
                (try? stage.sandbox.names().filter { $0.hasSuffix(".iso") }.count) == 6
            })
        #expect(process.isRunning)
        process.signal(SIGTERM)
        let outcome = try process.wait()
        #expect(outcome.end == .exit(143))
        #expect(outcome.errorOutput.contains("6 of 7 files done, 1 stopped; "))
        #expect(try stage.isRight("big.iso", "/1/big.iso"))
        #expect(try stage.isRight("big.5.iso", "/6/big.iso"))
    }

    /// The first active file reports notices about the whole session.
    @Test func rateChangeIsReportedOnce() throws {
        let stage = try BatchStage(size: 2_000_000)
        stage.origin.bendGET { _, reply in reply.pace = 100_000 }
        let process = try Run(
            stage.urls(3) + ["-x", "3", "--json", "--limit-rate", "10M"], in: stage.folder)
        #expect(
            eventually(timeout: 120) {
                (1...3).allSatisfy {
                    process.output.contains("\"event\":\"progress\",\"file\":\($0)")
                }
            })
        process.signal(SIGUSR1)
        #expect(eventually(timeout: 120) { process.output.contains("limit_changed") })
        process.signal(SIGTERM)
        let outcome = try process.wait()
        #expect(outcome.end == .exit(143))
        let notices = try jsonEvents(outcome.output).filter {
            $0["notice"] as? String == "limit_changed"
        }
        #expect(notices.map { $0["file"] as? Int } == [1])
    }

    /// The list has 100,001 URLs, and one file is active at a time.
    @Test func longListTakesLittleMemory() throws {
        let stage = try BatchStage(size: 1000)
        let first = "\(stage.origin.url("/none/first"))\n"
        let rest = (0..<100_000).map { "\(stage.origin.url("/some/folder/file-\($0).bin"))\n" }
        let outcome = try stage.run(
            list: first + rest.joined(), ["-j", "1", "--fail-fast", "--json"])
        #expect(outcome.end == .exit(69))
        #expect(
            outcome.errorOutput.contains("0 of 100001 files done, 1 failed, 100000 not started"))
        #expect(
            try jsonEvents(outcome.output).filter { $0["event"] as? String == "begun" }.count == 1)
        #expect(outcome.peakMemory < 160 << 20, "\(outcome.peakMemory)")
    }
}
