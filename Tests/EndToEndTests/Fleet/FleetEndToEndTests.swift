import Foundation
import Glibc
import TestSupport
import Testing

/// One plan on several workers: each byte once, and nothing wrong.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct FleetEndToEndTests {
    // MARK: All is well

    @Test func eachByteIsDownloadedOnce() throws {
        let stage = try FleetStage(hasDigests: true)
        try stage.create(2)
        let before = stage.origin.bytesServed
        #expect(try stage.work(0, of: 2).end == .exit(0))
        let second = try stage.work(1, of: 2)
        #expect(second.end == .exit(0), "\(second.errorOutput)")
        let (start, last) = (66 << 20, FleetStage.large.size - 1)
        #expect(
            second.errorOutput.contains("; bytes \(start)-\(last) of the file (CRC-32 "),
            "\(second.errorOutput)")
        let size = FleetStage.large.size + FleetStage.small.reduce(0) { $0 + $1.size }
        #expect(stage.origin.bytesServed - before < size + size / 50)
        #expect(stage.marks == ["0.1.claim", "0.1.done", "1.1.claim", "1.1.done"])
        let requests = stage.origin.requests.count
        let outcome = try stage.finish()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(stage.origin.requests.count == requests)
        // The set is complete, and the folder has no second copy.
        let again = try stage.run(["get", "--plan", "plan", "-d", "out"])
        #expect(again.end == .exit(0), "\(again.errorOutput)")
        #expect(stage.origin.requests.count == requests)
        #expect(
            try FileManager.default.contentsOfDirectory(
                atPath: stage.sandbox.path("fleet/work")
            ).isEmpty)
    }

    /// Schedulers name the index in variables, and Slurm also the number.
    @Test(arguments: [
        ["SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_TASK_COUNT": "2"],
        ["JOB_COMPLETION_INDEX": "1"], ["PMI_RANK": "1", "PMI_SIZE": "2"],
    ])
    func indexComesFromTheScheduler(variables: [String: String]) throws {
        let stage = try FleetStage(isLarge: false)
        try stage.create(2)
        #expect(try stage.run(["fleet", "work", "fleet"], variables).end == .exit(0))
        #expect(stage.marks == ["1.1.claim", "1.1.done"])
    }

    @Test func workersWithoutIndexShareTheShards() throws {
        let stage = try FleetStage(isLarge: false)
        try stage.create(5)
        let workers = try (0..<3).map { _ in try stage.start(["fleet", "work", "fleet"]) }
        for worker in workers { #expect(try worker.wait().end == .exit(0)) }
        #expect(stage.marks.count { $0.hasSuffix(".done") } == 5)
        #expect(stage.marks.count { $0.hasSuffix(".claim") } == 5)
        let finish = try stage.run(["fleet", "finish", "fleet", "-d", "out", "--json"])
        #expect(finish.end == .exit(0), "\(finish.errorOutput)")
        let report =
            try JSONSerialization.jsonObject(with: Data(finish.standardOutput)) as? [String: Any]
        #expect(report?["complete"] as? Int == 5 && report?["files"] as? Int == 5)
        #expect(report?["path"] as? String == "out" && report?["code"] as? Int == 0)
        #expect(try stage.isRight(isLarge: false))
    }

    @Test func statusCountsShards() throws {
        let stage = try FleetStage(isLarge: false)
        try stage.create(2)
        #expect(try stage.work(0, of: 2).end == .exit(0))
        let outcome = try stage.run(["fleet", "status", "fleet", "--json"])
        #expect(outcome.end == .exit(0))
        let object =
            try JSONSerialization.jsonObject(with: Data(outcome.standardOutput)) as? [String: Any]
        let states = object?["states"] as? [String: Int]
        #expect(states == ["waiting": 1, "running": 0, "done": 1, "failed": 0])
        #expect(object?["files"] as? Int == 5)
    }

    // MARK: Bad days

    @Test func killedWorkerIsContinued() throws {
        let stage = try FleetStage(hasDigests: true)
        try stage.create(2)
        let release = stage.hold(from: 40 << 20)
        let worker = try stage.start(["fleet", "work", "fleet", "--index", "0", "--of", "2"])
        let part = stage.sandbox.path("fleet/work/0.1/files/d/large.segget")
        #expect(worker.waits { recorded(part) >= 8 << 20 })
        worker.signal(SIGKILL)
        _ = try worker.wait()
        release.withLock { $0 = true }
        stage.bend.withLock { $0 = { _, _ in } }
        let before = stage.origin.bytesServed
        let outcome = try stage.work(0, of: 2)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        // What had arrived is not requested again.
        #expect(stage.origin.bytesServed - before < 60 << 20)
        #expect(stage.marks == ["0.1.claim", "0.2.claim", "0.2.done"])
        #expect(try stage.work(1, of: 2).end == .exit(0))
        #expect(try stage.finish().end == .exit(0))
        #expect(try stage.isRight())
    }

    /// The bytes that a manifest records.
    private func recorded(_ path: String) -> Int64 {
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").reduce(0) { sum, line in
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            let extents = object?["extents"] as? [[Int64]] ?? []
            return sum + extents.reduce(0) { $0 + $1[1] }
        }
    }

    @Test func interruptedWorkerEndsWith75() throws {
        let stage = try FleetStage()
        try stage.create(2)
        let release = stage.hold(from: 20 << 20)
        let worker = try stage.start(["fleet", "work", "fleet", "--index", "0", "--of", "2"])
        let part = stage.sandbox.path("fleet/work/0.1/files/d/large.segget")
        #expect(worker.waits { recorded(part) > 0 })
        worker.signal(SIGTERM)
        #expect(try worker.wait().end == .exit(75))
        #expect(stage.marks == ["0.1.claim", "0.1.left"])
        // What it has received counts.
        let status = try stage.run(["fleet", "status", "fleet", "--json"])
        let object = try JSONSerialization.jsonObject(with: Data(status.standardOutput))
        #expect((object as? [String: Any])?["complete"] as? Int64 ?? 0 > 0)
        release.withLock { $0 = true }
        stage.bend.withLock { $0 = { _, _ in } }
        #expect(try stage.work(0, of: 2).end == .exit(0))
        // The part was moved, not copied.
        #expect(!stage.has("fleet/work/0.1/files/d/large.part"))
        #expect(stage.marks == ["0.1.claim", "0.1.left", "0.2.claim", "0.2.done"])
    }

    /// The umask decides who may read a part, and a part of another user is copied.
    @Test(
        .enabled(if: geteuid() == 0, "giving files away needs root"),
        arguments: [("022", 0o644), ("077", 0o600)] as [(String, mode_t)])
    func partOfAnotherUserIsContinued(umask: String, expected: mode_t) throws {
        let stage = try FleetStage()
        try stage.create(2)
        let release = stage.hold(from: 20 << 20)
        let worker = try Run(
            "/bin/sh",
            [
                "-c", "umask \(umask); exec \"$0\" \"$@\"", try Segget.binary(), "fleet", "work",
                "fleet", "--index", "0", "--of", "2",
            ], in: stage.sandbox.path)
        let files = "fleet/work/0.1/files/d"
        let part = stage.sandbox.path("\(files)/large.segget")
        #expect(worker.waits { recorded(part) > 0 })
        worker.signal(SIGTERM)
        #expect(try worker.wait().end == .exit(75))
        for name in ["large.part", "large.segget"] {
            var status = stat()
            #expect(lstat(stage.sandbox.path("\(files)/\(name)"), &status) == 0)
            #expect(status.st_mode & 0o777 == expected, "\(name)")
            #expect(chown(stage.sandbox.path("\(files)/\(name)"), 65_534, 65_534) == 0)
        }
        release.withLock { $0 = true }
        stage.bend.withLock { $0 = { _, _ in } }
        let outcome = try stage.work(0, of: 2)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("resum"), "\(outcome.errorOutput)")
        #expect(stage.has("\(files)/large.part"))
    }

    /// The same index is started twice: the later one goes on, and both end with 0.
    @Test func secondWorkerReplacesTheFirst() throws {
        let stage = try FleetStage(hasDigests: true)
        try stage.create(2)
        let release = stage.hold(from: 10 << 20)
        let arguments = ["fleet", "work", "fleet", "--index", "0", "--of", "2"]
        let first = try stage.start(arguments)
        #expect(first.waits { stage.marks.contains("0.1.claim") && stage.origin.bytesServed > 0 })
        let second = try stage.start(arguments)
        #expect(eventually { stage.marks.contains("0.2.claim") })
        // The first one looks every 20 seconds, and then waits.
        let isStopped = eventually(timeout: 60) {
            first.errorOutput.contains("waiting for shard 0")
        }
        #expect(isStopped)
        release.withLock { $0 = true }
        stage.bend.withLock { $0 = { _, _ in } }
        #expect(try second.wait().end == .exit(0))
        #expect(try first.wait().end == .exit(0))
        #expect(stage.marks == ["0.1.claim", "0.2.claim", "0.2.done"])
        #expect(try stage.work(1, of: 2).end == .exit(0))
        #expect(try stage.finish().end == .exit(0))
        #expect(try stage.isRight())
    }

    /// A byte that changes on the disk is found, and only its shard is downloaded again.
    @Test(arguments: [false, true])
    func wrongByteIsFound(hasDigests: Bool) throws {
        let stage = try FleetStage(hasDigests: hasDigests)
        try stage.create(2)
        for index in 0..<2 { #expect(try stage.work(index, of: 2).end == .exit(0)) }
        let path = stage.sandbox.path("fleet/work/1.1/files/d/large")
        let file = try FileHandle(forUpdating: URL(filePath: path))
        try file.seek(toOffset: 5_000_000)
        try file.write(contentsOf: [0, 1, 2, 3, 4, 5, 6, 7])
        try file.close()
        let outcome = try stage.finish()
        #expect(outcome.end == .exit(75))
        #expect(outcome.errorOutput.contains("`d/large`"), "\(outcome.errorOutput)")
        #expect(!stage.has("out/d/large"))
        #expect(stage.marks.contains("1.1.void"))
        let status = try stage.run(["fleet", "status", "fleet"])
        #expect(
            status.output.contains(
                "left: the finishing found wrong bytes in `d/large` (exit code 65)"),
            "\(status.output)")
        #expect(!status.output.contains("132 MiB of"), "\(status.output)")
        #expect(stage.has("fleet/rest-1.plan"))
        let before = stage.origin.bytesServed
        #expect(try stage.work(0, of: 2).end == .exit(0))
        #expect(stage.origin.bytesServed == before)
        #expect(try stage.work(1, of: 2).end == .exit(0))
        let again = try stage.finish()
        #expect(again.end == .exit(0), "\(again.errorOutput)")
        #expect(try stage.isRight())
    }

    /// A server that has another version for one worker: its shard fails, and nothing is merged.
    @Test func otherVersionFailsTheShard() throws {
        let stage = try FleetStage(host: "localhost")
        try stage.create(2)
        stage.bend.withLock {
            $0 = { request, reply in
                guard request.path == "/large" else { return }
                reply.set("ETag", "\"v2\"")
            }
        }
        let outcome = try stage.work(0, of: 2)
        #expect(outcome.end == .exit(76), "\(outcome.errorOutput)")
        #expect(stage.marks == ["0.1.claim", "0.1.failed"])
        let status = try stage.run(["fleet", "status", "fleet"])
        let text = String(decoding: status.standardOutput, as: UTF8.self)
        #expect(text.contains("failed: ") && text.contains("localhost"), "\(text)")
        #expect(text.contains("(address of the server: 127.0.0.1)"), "\(text)")
        #expect(try stage.finish().end == .exit(75))
        #expect(!stage.has("out/d/large"))
        stage.bend.withLock { $0 = { _, _ in } }
        for index in 0..<2 { #expect(try stage.work(index, of: 2).end == .exit(0)) }
        #expect(try stage.finish().end == .exit(0))
        #expect(try stage.isRight())
    }

    /// A server without ranges cannot serve a range, and never a wrong one.
    @Test func serverWithoutRangesFailsTheShard() throws {
        let stage = try FleetStage()
        try stage.create(2)
        stage.bend.withLock {
            $0 = { request, reply in
                guard request.path == "/large", request.method == "GET" else { return }
                reply = .file(FleetStage.large, for: request, etag: "\"v1\"", ranges: false)
            }
        }
        let outcome = try stage.work(1, of: 2)
        guard case .exit(let code) = outcome.end else {
            Issue.record("\(outcome.end)")
            return
        }
        #expect(code == 76, "\(outcome.errorOutput)")
        #expect(stage.marks == ["1.1.claim", "1.1.failed"])
    }

    /// A file that fails in the first round and is complete in the second one has not failed.
    @Test func lastRoundOfAShardCounts() throws {
        let stage = try FleetStage(isLarge: false)
        try stage.create(1)
        let refused: Guarded<Set<String>> = Guarded([])
        stage.bend.withLock {
            $0 = { request, reply in
                guard ["/small-2", "/small-4"].contains(request.path),
                    refused.withLock({ $0.insert(request.path).inserted })
                else { return }
                reply = .text(502)
            }
        }
        let outcome = try stage.run(["fleet", "work", "fleet", "--retries", "0", "--json"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        let text = outcome.errorOutput
        #expect(text.contains("error: ") && text.contains("5 of 5 files done; "), "\(text)")
        #expect(!text.contains("failed"), "\(text)")
        // Both rounds give a file the same number.
        let numbers = try jsonEvents(outcome.output).compactMap { event -> String? in
            guard event["event"] as? String == "begun", let url = event["url"] as? String else {
                return nil
            }
            return "\(url) \(event["file"] as? Int ?? 0)"
        }
        #expect(numbers.count > 5 && Set(numbers).count == 5, "\(numbers)")
    }

    /// What is complete is finished while others work; the plan of the rest has the others.
    @Test func finishLeavesAPlanOfTheRest() throws {
        let stage = try FleetStage(isLarge: false)
        try stage.create(5)
        #expect(try stage.work(0, of: 5).end == .exit(0))
        #expect(try stage.finish().end == .exit(75))
        #expect(stage.has("out/d/small-0"))
        let outcome = try stage.run(["get", "--plan", "fleet/rest-1.plan", "-d", "out"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight(isLarge: false))
        #expect(try stage.finish().end == .exit(0))
    }

    @Test func fileOfOthersStays() throws {
        let stage = try FleetStage(isLarge: false)
        try stage.create(1)
        #expect(try stage.work(0, of: 1).end == .exit(0))
        try FileManager.default.createDirectory(
            atPath: stage.sandbox.path("out/d"), withIntermediateDirectories: true)
        try stage.sandbox.write("out/d/small-2", "mine")
        let outcome = try stage.finish()
        #expect(outcome.end == .exit(73), "\(outcome.errorOutput)")
        #expect(try stage.sandbox.read("out/d/small-2") == Data("mine".utf8))
        #expect(stage.has("out/d/small-4"))
    }

    /// A finishing that was killed is repeated, whatever it had done.
    @Test func killedFinishIsRepeated() throws {
        let stage = try FleetStage()
        try stage.create(2)
        for index in 0..<2 { #expect(try stage.work(index, of: 2).end == .exit(0)) }
        for delay in [1_000, 20_000, 60_000, 150_000, 400_000] {
            let run = try stage.start(["fleet", "finish", "fleet", "-d", "out"])
            usleep(UInt32(delay))
            run.signal(SIGKILL)
            _ = try run.wait()
        }
        let outcome = try stage.finish()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
    }

    // MARK: What cannot be used

    @Test func unpinnedFilesAreNamed() throws {
        let stage = try FleetStage(isLarge: false)
        let outcome = try stage.run(["plan", "-i", "list", "--no-probe", "-o", "open"])
        #expect(outcome.end == .exit(0))
        let refused = try stage.run(["fleet", "create", "open", "fleet", "--shards", "2"])
        #expect(refused.end == .exit(64))
        #expect(refused.errorOutput.contains("`d/small-3`"), "\(refused.errorOutput)")
        #expect(!stage.has("fleet"))
        let accepted = try stage.run(
            ["fleet", "create", "open", "fleet", "--shards", "2", "--allow-unpinned"])
        #expect(accepted.end == .exit(0), "\(accepted.errorOutput)")
        for index in 0..<2 { #expect(try stage.work(index, of: 2).end == .exit(0)) }
        #expect(try stage.finish().end == .exit(0))
        #expect(try stage.isRight(isLarge: false))
    }

    @Test func alteredFoldersAreRefused() throws {
        let stage = try FleetStage(isLarge: false)
        try stage.create(2)
        #expect(try stage.run(["fleet", "work", "."]).end == .exit(64))
        #expect(
            try stage.run(["fleet", "create", "plan", "fleet", "--shards", "2"]).end == .exit(73))
        let other = try stage.run(["plan", stage.origin.url("/small-1"), "-o", "other"])
        #expect(other.end == .exit(0))
        try stage.sandbox.write(
            "fleet/plan", String(decoding: stage.sandbox.read("other"), as: UTF8.self))
        let outcome = try stage.work(0, of: 2)
        #expect(outcome.end == .exit(65))
        #expect(outcome.errorOutput.contains("fleet/plan"), "\(outcome.errorOutput)")
        var head = String(decoding: try stage.sandbox.read("fleet/fleet"), as: UTF8.self)
        head = head.replacing("\"segget_fleet\":1", with: "\"segget_fleet\":2")
        try stage.sandbox.write("fleet/fleet", head)
        #expect(try stage.work(0, of: 2).end == .exit(64))
    }

    @Test func optionsOfOtherActionsAreRefused() throws {
        let stage = try FleetStage(isLarge: false)
        try stage.create(2)
        for arguments in [
            ["work", "fleet", "--shards", "2"], ["work", "fleet", "--of", "2"],
            ["status", "fleet", "--index", "1"], ["finish", "fleet"],
            ["submit", "fleet", "-d", "x"],
            ["work", "fleet", "--index", "3", "--of", "2"],
        ] {
            #expect(try stage.run(["fleet"] + arguments).end == .exit(64), "\(arguments)")
        }
    }

    // MARK: Schedulers

    @Test func scriptsNameTheFleet() throws {
        let stage = try FleetStage(isLarge: false)
        try stage.create(3)
        let line = try stage.run(["fleet", "submit", "fleet", "-d", "out", "--parallel"])
        let text = String(decoding: line.standardOutput, as: UTF8.self)
        #expect(text.contains("seq 0 2 | parallel"), "\(text)")
        #expect(text.contains("fleet finish \(stage.sandbox.path("fleet"))"), "\(text)")
        let manifest = try stage.run(["fleet", "submit", "fleet", "-d", "out", "--kubernetes"])
        let yaml = String(decoding: manifest.standardOutput, as: UTF8.self)
        #expect(yaml.contains("completions: 3") && yaml.contains("values: [64, 65, 69, 73"))
    }
}
