import Foundation
import Glibc
import TestSupport
import Testing

/// The Hub's own cache, which other programs and other runs of segget use, too.
@Suite(.timeLimit(.minutes(5)))
struct HubCacheEndToEndTests {
    private let repository = "home/hub/models--org--model"

    private var snapshot: String { "\(repository)/snapshots/\(HubStage.commit)" }

    private func blob(_ file: HubStage.File) -> String {
        "\(repository)/blobs/\(file.isLarge ? file.content.sha256Hex : file.gitSHA1)"
    }

    /// Checks the snapshot, and that nothing else is left.
    private func expectComplete(_ stage: HubStage) throws {
        for file in stage.files { #expect(try stage.isRight(file.path, in: snapshot)) }
        let own = try FileManager.default.contentsOfDirectory(
            atPath: stage.sandbox.path("\(repository)/.segget"))
        #expect(own.count == 1 && own.allSatisfy { $0.hasSuffix(".ledger") }, "\(own)")
        #expect(
            try stage.sandbox.read("\(repository)/refs/main") == Data(HubStage.commit.utf8))
    }

    // MARK: Layout

    @Test func downloadsIntoCache() throws {
        let stage = try HubStage(HubStage.model)
        let outcome = try stage.run("get", "hf://org/model")
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        try expectComplete(stage)
        let last = outcome.errorOutput.split(separator: "\n").last ?? ""
        #expect(last.contains(stage.sandbox.path(snapshot)), "\(outcome.errorOutput)")
        let text = try FileManager.default.destinationOfSymbolicLink(
            atPath: stage.sandbox.path("\(snapshot)/onnx/a b.json"))
        #expect(text == "../../../blobs/\(stage.files[1].gitSHA1)")
        #expect(stage.has("CACHEDIR.TAG", in: "home/hub"))
        #expect(
            stage.hub.requests.count { $0.path.contains("/resolve/") } == stage.files.count)
    }

    @Test(
        arguments: [
            ("hf://org/model", ""), ("hf://org/model/onnx/", "/onnx"),
            ("hf://org/model/config.json", "/config.json"),
        ])
    func printsOnlyPath(address: String, inside: String) throws {
        let stage = try HubStage(HubStage.model)
        for _ in 0..<2 {
            let outcome = try stage.run("get", address, "--print-path")
            #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
            #expect(outcome.output == stage.sandbox.path(snapshot) + inside + "\n")
        }
    }

    /// The summary and the files have paths in the snapshot.
    @Test func pathsOfJSONAreThoseOfSnapshot() throws {
        let stage = try HubStage(HubStage.model)
        let outcome = try stage.run("get", "hf://org/model", "--json")
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        let folder = stage.sandbox.path(snapshot)
        let finished = try outcome.events("finished").compactMap(\.path)
        #expect(Set(finished) == Set(stage.files.map { "\(folder)/\($0.path)" }))
        #expect(try outcome.events("summary").first?.path == folder)
        #expect(!outcome.output.contains("run-"))
    }

    /// A second run asks for the list only, and does not read the blobs.
    @Test func secondRunRequestsNoBytes() throws {
        let stage = try HubStage(HubStage.model)
        #expect(try stage.run("get", "hf://org/model", "-q").end == .exit(0))
        let count = stage.requestsForBytes
        // The ledger says that they were verified: nothing notices a change that keeps the time.
        let path = stage.sandbox.path(blob(stage.files[2]))
        var status = stat()
        stat(path, &status)
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.write(contentsOf: Data([1, 2, 3]))
        try file.close()
        let times = [status.st_atim, status.st_mtim]
        #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
        #expect(try stage.run("get", "hf://org/model", "-q").end == .exit(0))
        #expect(stage.requestsForBytes == count)
        // `--recheck` reads them.
        // From then on, others know it, too.
        for argument in ["--recheck", "--overwrite"] {
            let outcome = try stage.run("get", "hf://org/model", "-q", argument)
            #expect(outcome.end == .exit(65), "\(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains(path))
        }
    }

    /// One content at two paths is requested once.
    @Test func equalFilesShareBlob() throws {
        var files = HubStage.model
        let entry = files[0].entry.replacingOccurrences(of: "config.json", with: "copy/again.json")
        let stage = try HubStage(files)
        stage.faults.withLock { $0.entries = files.map(\.entry) + [entry] }
        #expect(try stage.run("get", "hf://org/model", "-q").end == .exit(0))
        files.removeAll { $0.path != "config.json" }
        #expect(
            try files[0].content.firstDifference(
                at: stage.sandbox.path("\(snapshot)/copy/again.json")) == nil)
        #expect(stage.hub.requests.count { $0.path.contains("/resolve/") } == 4)
    }

    // MARK: What others have written

    /// A blob that segget did not verify is read once; a wrong one stays, and is named.
    @Test func foreignBlobsAreReadOnce() throws {
        let stage = try HubStage(HubStage.model)
        let folder = stage.sandbox.path("\(repository)/blobs")
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        for file in stage.files { try file.content.write(to: stage.sandbox.path(blob(file))) }
        #expect(try stage.run("get", "hf://org/model", "-q").end == .exit(0))
        #expect(stage.requestsForBytes == 0)
        try expectComplete(stage)
        // Another program has replaced one by a wrong one of the same size.
        let wrong = stage.sandbox.path(blob(stage.files[0]))
        try Data(repeating: 1, count: 700).write(to: URL(filePath: wrong))
        let outcome = try stage.run("get", "hf://org/model", "-q")
        #expect(outcome.end == .exit(65), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains(wrong))
        #expect(try Data(contentsOf: URL(filePath: wrong)) == Data(repeating: 1, count: 700))
        let trusting = try stage.run("get", "hf://org/model", "--trust-cache")
        #expect(trusting.end == .exit(0), "\(trusting.errorOutput)")
        #expect(trusting.errorOutput.contains("1 file not checked"))
        #expect(stage.requestsForBytes == 0)
    }

    /// Links of others stay, and none that leaves the cache is followed.
    @Test func foreignLinksStay() throws {
        let stage = try HubStage(HubStage.model)
        let outside = try stage.sandbox.write("outside", "secret")
        for path in [blob(stage.files[0]), "\(snapshot)/empty.txt"] {
            let link = stage.sandbox.path(path)
            try FileManager.default.createDirectory(
                atPath: URL(filePath: link).deletingLastPathComponent().path,
                withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(
                atPath: link, withDestinationPath: outside)
        }
        let outcome = try stage.run("get", "hf://org/model", "-q")
        #expect(outcome.end != .exit(0))
        #expect(outcome.errorOutput.contains("empty.txt"), "\(outcome.errorOutput)")
        #expect(try String(decoding: stage.sandbox.read("outside"), as: UTF8.self) == "secret")
        for path in [blob(stage.files[0]), "\(snapshot)/empty.txt"] {
            #expect(
                try FileManager.default.destinationOfSymbolicLink(
                    atPath: stage.sandbox.path(path)) == outside)
        }
        #expect(!stage.has("refs/main", in: repository))
    }

    /// A link that leaves the cache is not followed, even to the right content.
    @Test func linkOutOfCacheIsNotFollowed() throws {
        let stage = try HubStage(HubStage.model)
        let outside = stage.sandbox.path("outside")
        try stage.files[0].content.write(to: outside)
        let link = stage.sandbox.path(blob(stage.files[0]))
        try FileManager.default.createDirectory(
            atPath: URL(filePath: link).deletingLastPathComponent().path,
            withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: outside)
        let outcome = try stage.run("get", "hf://org/model", "-q", "--print-path")
        #expect(outcome.end == .exit(73), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains(link))
        #expect(outcome.output.isEmpty)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == outside)
        #expect(!stage.has("refs/main", in: repository))
        #expect(!stage.has("config.json", in: snapshot))
        #expect(try stage.isRight("model.safetensors", in: snapshot))
    }

    /// A blob that is shared between repositories is a link within the cache.
    @Test func sharedBlobsAreFollowed() throws {
        let stage = try HubStage(HubStage.model)
        let shared = stage.sandbox.path("home/hub/blobs/ab")
        for folder in [shared, stage.sandbox.path("\(repository)/blobs")] {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
        }
        try stage.files[2].content.write(to: "\(shared)/abcdef")
        try FileManager.default.createSymbolicLink(
            atPath: stage.sandbox.path(blob(stage.files[2])),
            withDestinationPath: "../../blobs/ab/abcdef")
        #expect(try stage.run("get", "hf://org/model", "-q").end == .exit(0))
        #expect(stage.large.requests.isEmpty)
        try expectComplete(stage)
    }

    /// A cache that cannot be written is used, and nothing is written.
    @Test func readOnlyCacheIsUsed() throws {
        let disk = try Tmpfs(size: 32 << 20)
        let stage = try HubStage(HubStage.model)
        let cache = ["HF_HUB_CACHE": disk.path("hub")]
        #expect(try stage.run("get", "hf://org/model", "-q", variables: cache).end == .exit(0))
        guard mount("tmpfs", disk.path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0 else {
            throw SystemCallError("remount \(disk.path)")
        }
        let count = stage.requestsForBytes
        let outcome = try stage.run(
            "get", "hf://org/model", "-q", "--print-path", variables: cache)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(
            outcome.output
                == disk.path("hub/models--org--model/snapshots/\(HubStage.commit)") + "\n")
        #expect(stage.requestsForBytes == count)
        let other = try stage.run("get", "hf://datasets/org/model", "-q", variables: cache)
        #expect(other.end == .exit(73), "\(other.errorOutput)")
    }

    /// What `hf` has left of a file is copied and continued; wrong bytes cost another download.
    @Test(arguments: [true, false])
    func incompleteFileOfHFIsContinued(isRight: Bool) throws {
        let stage = try HubStage(HubStage.model)
        let folder = stage.sandbox.path("\(repository)/blobs")
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        let (content, left) = (stage.files[2].content, Int64(2_000_000))
        var bytes = Data(content.bytes(0..<left))
        if !isRight { bytes[1000] ^= 1 }
        let path = "\(folder)/\(content.sha256Hex).1a2b3c4d.incomplete"
        try bytes.write(to: URL(filePath: path))
        let past = timespec(tv_sec: time(nil) - 100, tv_nsec: 0)
        #expect(utimensat(AT_FDCWD, path, [past, past], 0) == 0)
        let outcome = try stage.run("get", "hf://org/model")
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        try expectComplete(stage)
        #expect(!outcome.errorOutput.contains("failed"))
        // The file itself stays.
        #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
        #expect(isRight == (stage.bytesOfLarge < 2_000_000))
    }

    /// If the file is wrong without the copied bytes, too, the run ends.
    @Test func wrongFileAfterWrongCopyEndsRun() throws {
        let stage = try HubStage(HubStage.model)
        let folder = stage.sandbox.path("\(repository)/blobs")
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        let content = stage.files[2].content
        let path = "\(folder)/\(content.sha256Hex).incomplete"
        try Data(content.bytes(0..<2_000_000)).write(to: URL(filePath: path))
        let past = timespec(tv_sec: time(nil) - 100, tv_nsec: 0)
        #expect(utimensat(AT_FDCWD, path, [past, past], 0) == 0)
        stage.faults.withLock { $0.bendLarge = { _, reply in reply.corruptAt = [2_500_000] } }
        let outcome = try stage.run("get", "hf://org/model", "-q")
        #expect(outcome.end == .exit(65), "\(outcome.errorOutput)")
        #expect(!FileManager.default.fileExists(atPath: stage.sandbox.path(blob(stage.files[2]))))
        #expect(try stage.isRight("config.json", in: snapshot))
    }

    /// A file that `hf` still writes, or has just written, is not touched.
    @Test(arguments: [true, false])
    func incompleteFileInUseIsLeftOut(isOpen: Bool) throws {
        let stage = try HubStage(HubStage.model)
        let folder = stage.sandbox.path("\(repository)/blobs")
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        let content = stage.files[2].content
        let path = "\(folder)/\(content.sha256Hex).1a2b3c4d.incomplete"
        try Data(content.bytes(0..<2_000_000)).write(to: URL(filePath: path))
        let writer = try FileHandle(forWritingTo: URL(filePath: path))
        if isOpen {
            let past = timespec(tv_sec: time(nil) - 100, tv_nsec: 0)
            #expect(utimensat(AT_FDCWD, path, [past, past], 0) == 0)
        } else {
            try writer.close()
        }
        #expect(try stage.run("get", "hf://org/model", "-q").end == .exit(0))
        try expectComplete(stage)
        #expect(stage.bytesOfLarge >= 3_000_000)
        if isOpen { try writer.close() }
    }

    /// Another program writes a wrong blob while segget downloads it: it stays, and is named.
    @Test(arguments: [true, false])
    func wrongBlobThatAppearsIsNamed(isWrong: Bool) throws {
        let stage = try HubStage(HubStage.model)
        let file = stage.files[2]
        let path = stage.sandbox.path(blob(file))
        var bytes = Data(file.content.bytes(0..<file.size))
        if isWrong { bytes[5] ^= 1 }
        let other = bytes
        stage.faults.withLock {
            $0.bendLarge = { _, _ in try? other.write(to: URL(filePath: path)) }
        }
        let outcome = try stage.run("get", "hf://org/model", "-q")
        #expect(outcome.end == .exit(isWrong ? 65 : 0), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains(path) == isWrong)
        #expect(try Data(contentsOf: URL(filePath: path)) == other)
        guard isWrong else { return try expectComplete(stage) }
        #expect(!stage.has("model.safetensors", in: snapshot))
        // The right bytes are kept: after the wrong ones are removed, nothing is requested again.
        #expect(unlink(path) == 0)
        stage.faults.withLock { $0.bendLarge = { _, _ in } }
        let before = stage.requestsForBytes
        #expect(try stage.run("get", "hf://org/model", "-q").end == .exit(0))
        #expect(stage.requestsForBytes == before)
        try expectComplete(stage)
    }

    // MARK: Failures

    /// A wrong file is not published, and the others are.
    @Test func wrongFileIsNotPublished() throws {
        let stage = try HubStage(HubStage.model)
        stage.faults.withLock {
            $0.bendLarge = { _, reply in
                guard case .content(_, let range) = reply.body else { return }
                reply.body = .content(Content(size: 3_000_000, seed: 99), range)
            }
        }
        let outcome = try stage.run("get", "hf://org/model", "-q")
        #expect(outcome.end == .exit(65), "\(outcome.errorOutput)")
        #expect(!FileManager.default.fileExists(atPath: stage.sandbox.path(blob(stage.files[2]))))
        #expect(try stage.isRight("config.json", in: snapshot))
        #expect(!stage.has("refs/main", in: repository))
        stage.faults.withLock { $0.bendLarge = { _, _ in } }
        #expect(try stage.run("get", "hf://org/model", "-q").end == .exit(0))
        try expectComplete(stage)
    }

    /// The next run continues in the folder of one that was killed, also at a newer commit with the
    /// same file.
    @Test(arguments: [HubStage.commit, String(repeating: "b", count: 40)])
    func killedRunIsContinued(commit: String) throws {
        let files = [HubStage.File(path: "model.bin", size: 24 << 20, isLarge: true)]
        let stage = try HubStage(files)
        stage.faults.withLock { $0.bendLarge = { _, reply in reply.pace = 1_048_576 } }
        let first = try Run(
            ["get", "hf://org/model", "-q"], in: stage.sandbox.path,
            environment: stage.environment)
        #expect(first.waits { stage.bytesOfLarge > 12 << 20 })
        first.signal(SIGKILL)
        _ = try first.wait()
        stage.faults.withLock { ($0.bendLarge, $0.commit) = ({ _, _ in }, commit) }
        let before = stage.bytesOfLarge
        let outcome = try stage.run("get", "hf://org/model", "-q", "--print-path")
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight("model.bin", in: "\(repository)/snapshots/\(commit)"))
        #expect(outcome.output.hasSuffix("\(commit)\n"))
        #expect(stage.bytesOfLarge - before < 20 << 20)
    }

    /// A run was killed between completing a file and delivering it: the file is not requested again.
    @Test func completedFilesOfKilledRunAreDelivered() throws {
        let stage = try HubStage(HubStage.model)
        let run = stage.sandbox.path("\(repository)/.segget/run-3")
        try FileManager.default.createDirectory(atPath: run, withIntermediateDirectories: true)
        for file in stage.files.dropFirst() {
            let name = file.isLarge ? file.content.sha256Hex : file.gitSHA1
            try file.content.write(to: "\(run)/\(name)")
        }
        // A wrong one is downloaded.
        try Data([1]).write(to: URL(filePath: "\(run)/\(stage.files[0].gitSHA1)"))
        #expect(try stage.run("get", "hf://org/model", "-q").end == .exit(0))
        try expectComplete(stage)
        #expect(stage.requestsForBytes == 1)
    }

    /// Another program completes the files of a run that was killed: its parts are removed.
    @Test func partsOfCompleteFilesAreRemoved() throws {
        let stage = try HubStage(HubStage.model)
        let run = stage.sandbox.path("\(repository)/.segget/run-3")
        for folder in [run, stage.sandbox.path("\(repository)/blobs")] {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
        }
        for file in stage.files { try file.content.write(to: stage.sandbox.path(blob(file))) }
        let part = "\(run)/\(stage.files[2].content.sha256Hex).part"
        try Data(repeating: 0, count: 100).write(to: URL(filePath: part))
        // A part of a file that the cache does not have stays.
        let other = stage.sandbox.path("\(repository)/.segget/run-4")
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
        let needed = "\(other)/\(String(repeating: "c", count: 64)).part"
        try Data(repeating: 0, count: 100).write(to: URL(filePath: needed))
        #expect(try stage.run("get", "hf://org/model", "-q").end == .exit(0))
        #expect(!FileManager.default.fileExists(atPath: run))
        #expect(FileManager.default.fileExists(atPath: needed))
    }

    // MARK: Several runs at once

    /// How flock(2) behaves.
    enum Locks: CaseIterable { case work, fail, lie }

    /// Two runs at once download each file once; the second one waits for the first.
    @Test(arguments: Locks.allCases)
    func twoRunsDownloadFilesOnce(locks: Locks) async throws {
        let stage = try HubStage(HubStage.model)
        let isOpen = Guarded(false)
        stage.faults.withLock {
            $0.bendLarge = { _, _ in
                while !isOpen.withLock({ $0 }) { usleep(10_000) }
            }
        }
        let prefix =
            switch locks {
            case .work: [String]()
            case .fail: try Denial.prefix(["flock"], errno: ENOSYS)
            case .lie: try Denial.prefix(["flock"], errno: 0)
            }
        let command = prefix + [try Segget.binary(), "get", "hf://org/model"]
        func start() throws -> Run {
            try Run(
                Array(command.dropFirst()), in: stage.sandbox.path,
                environment: stage.environment, program: command[0])
        }
        let first = try start()
        #expect(first.waits { !stage.large.requests.isEmpty })
        let second = try start()
        #expect(second.waits { second.errorOutput.contains("waiting for process \(first.pid)") })
        isOpen.withLock { $0 = true }
        for run in [first, second] {
            let outcome = try await run.ended()
            #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        }
        try expectComplete(stage)
        #expect(
            stage.hub.requests.count { $0.path.contains("/resolve/") } == stage.files.count)
    }

    /// What another machine claims is waited for, until nothing of it has moved for ten minutes.
    @Test func claimOfAnotherMachineEndsAfterTenMinutes() async throws {
        let stage = try HubStage(HubStage.model)
        let run = stage.sandbox.path("\(repository)/.segget/run-7")
        try FileManager.default.createDirectory(
            atPath: run, withIntermediateDirectories: true)
        let owner = "segget_lock=1\nhost=elsewhere\nboot=b\nnamespace=n\npid=7\nstarted=\nend\n"
        try Data(owner.utf8).write(to: URL(filePath: "\(run)/owner"))
        try Data(stage.files[2].content.sha256Hex.utf8).write(to: URL(filePath: "\(run)/blobs"))
        let waiting = try Run(
            ["get", "hf://org/model"], in: stage.sandbox.path, environment: stage.environment)
        #expect(
            waiting.waits { waiting.errorOutput.contains("waiting for process 7 on elsewhere") })
        #expect(stage.large.requests.isEmpty)
        let past = timespec(tv_sec: time(nil) - 700, tv_nsec: 0)
        for name in ["owner", "blobs"] {
            #expect(utimensat(AT_FDCWD, "\(run)/\(name)", [past, past], 0) == 0)
        }
        let outcome = try await waiting.ended()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        for file in stage.files { #expect(try stage.isRight(file.path, in: snapshot)) }
        // The folder of the other one is not touched.
        #expect(stage.has("owner", in: "\(repository)/.segget/run-7"))
    }

    /// A signal ends the wait.
    @Test func signalEndsWait() async throws {
        let stage = try HubStage(HubStage.model)
        let run = stage.sandbox.path("\(repository)/.segget/run-7")
        try FileManager.default.createDirectory(
            atPath: run, withIntermediateDirectories: true)
        let owner = "segget_lock=1\nhost=elsewhere\nboot=b\nnamespace=n\npid=7\nstarted=\nend\n"
        try Data(owner.utf8).write(to: URL(filePath: "\(run)/owner"))
        let names = stage.files.map { $0.isLarge ? $0.content.sha256Hex : $0.gitSHA1 }
        try Data(names.joined(separator: "\n").utf8).write(to: URL(filePath: "\(run)/blobs"))
        let waiting = try Run(
            ["get", "hf://org/model"], in: stage.sandbox.path, environment: stage.environment)
        #expect(waiting.waits { waiting.errorOutput.contains("waiting for process 7") })
        waiting.signal(SIGTERM)
        let outcome = try await waiting.ended()
        #expect(outcome.end == .exit(143), "\(outcome.errorOutput)")
        #expect(stage.requestsForBytes == 0)
    }

    // MARK: A fleet

    /// A fleet finishes into the cache; neither wrong bytes that `hf` has left nor a wrong blob count.
    @Test(arguments: [false, true])
    func fleetFinishesIntoCache(isBlobWrong: Bool) throws {
        let stage = try HubStage(HubStage.model)
        let folder = stage.sandbox.path("\(repository)/blobs")
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        let name = stage.files[2].content.sha256Hex
        let wrong = Data(repeating: 7, count: isBlobWrong ? 3_000_000 : 2_000_000)
        let path = "\(folder)/\(name)" + (isBlobWrong ? "" : ".1a2b3c4d.incomplete")
        try wrong.write(to: URL(filePath: path))
        let past = timespec(tv_sec: time(nil) - 100, tv_nsec: 0)
        #expect(utimensat(AT_FDCWD, path, [past, past], 0) == 0)
        #expect(try stage.run("plan", "hf://org/model", "-o", "plan").end == .exit(0))
        #expect(try stage.run("fleet", "create", "plan", "fleet", "--shards", "2").end == .exit(0))
        #expect(try stage.run("fleet", "work", "fleet").end == .exit(0))
        let outcome = try stage.run("fleet", "finish", "fleet")
        let last = outcome.errorOutput.split(separator: "\n").last
        if !isBlobWrong {
            #expect(last.map(String.init) == "in `\(stage.sandbox.path(snapshot))`")
        }
        #expect(outcome.end == .exit(isBlobWrong ? 73 : 0), "\(outcome.errorOutput)")
        #expect(try Data(contentsOf: URL(filePath: path)) == wrong)
        guard !isBlobWrong else { return }
        let count = stage.requestsForBytes
        #expect(try stage.run("get", "hf://org/model", "-q").end == .exit(0))
        #expect(stage.requestsForBytes == count)
        try expectComplete(stage)
    }
}
