import Assembler
import Foundation
import Glibc
import TestSupport
import Testing

/// System calls that fail, one after the other.
///
/// In every case the file under its name is correct, the run ends in order, and the same command
/// resumes.
struct FailingDiskTests {
    /// Calls whose failure does not fail the download.
    private static let optional = [
        "close:", "fstatvfs:", "fgetxattr:", "fsetxattr:", "fremovexattr:", "posix_fadvise:",
    ]

    /// Runs once with the faults and, if that fails, once without.
    ///
    /// - Returns: The result of the run with the faults.
    @discardableResult
    private func attempt(
        _ trial: FaultTrial, _ faults: [String], error: String? = nil
    ) throws -> Run.Outcome {
        let stage = trial.stage
        try trial.reset()
        let before = stage.recorded() ?? 0
        let outcome = try stage.run(trial.arguments, faults: faults)
        let report = Comment(
            rawValue: "\(faults) \(outcome.end) \(try stage.names()) \(outcome.errorOutput)")
        #expect(outcome.end == .exit(0) || outcome.end == .exit(74), report)
        #expect(try trial.destinationIsWhole(), report)
        guard outcome.end != .exit(0) else {
            #expect(try stage.isRight(), report)
            #expect(try stage.names() == trial.names, report)
            return outcome
        }
        if let error {
            #expect(outcome.errorOutput.contains(error), report)
            #expect(
                outcome.errorOutput.contains("`file") || outcome.errorOutput.contains("`.`"),
                report)
        }
        #expect(outcome.errorOutput.contains("hint: "), report)
        let kept = stage.recorded()
        let hasPart = try stage.names().contains("file.part")
        // A part with data has a readable manifest.
        if hasPart, try stage.status(of: "file.part").st_size > 0 { #expect(kept != nil, report) }
        // Recorded bytes are not lost, unless they cannot be read. A repair keeps all good bytes in
        // the file itself.
        let isPublished =
            try stage.names().contains("file") && (!hasPart || trial.arguments.first == "repair")
        if !isPublished, !faults.contains(where: { $0.hasPrefix("pread") }) {
            #expect((kept ?? 0) >= before, report)
        }
        let next = try Run(trial.arguments + ["--json"], in: stage.folder).wait()
        let second = Comment(rawValue: "\(report) then \(next.end) \(next.errorOutput)")
        #expect(next.end == .exit(0), second)
        #expect(try stage.isRight(), second)
        #expect(try stage.names() == trial.names, second)
        if hasPart, let kept, let last = try jsonEvents(next.output).last {
            #expect(last["bytes_resumed"] as? Int64 ?? 0 >= kept, second)
        }
        return outcome
    }

    /// Each call that segget makes on the folder's files fails with EIO, in turn.
    @Test(.timeLimit(.minutes(10)), arguments: FaultTrial.Scene.allCases)
    func survivesFailureOfEachCall(scene: FaultTrial.Scene) throws {
        let trial = try FaultTrial(scene)
        let calls = try trial.calls()
        #expect(calls.count > 10)
        for (call, count) in calls {
            // Releasing the lock may fail, because it also ends with the process.
            let isOptional =
                Self.optional.contains(where: call.hasPrefix) || call == "flock:file"
            for number in Set([1, count]).sorted() {
                let outcome = try attempt(
                    trial, ["\(call):\(number):1:\(EIO)"], error: "Input/output error")
                if isOptional { #expect(outcome.end == .exit(0), "\(call) \(outcome.errorOutput)") }
            }
        }
    }

    /// The call keeps failing, also while segget cleans up.
    @Test(.timeLimit(.minutes(10))) func survivesPermanentFailureOfEachCall() throws {
        let trial = try FaultTrial(.resumed)
        for (call, count) in try trial.calls() {
            try attempt(
                trial, ["\(call):\(min(2, count)):0:\(EIO)"], error: "Input/output error")
        }
    }

    /// A download that cannot start leaves no files that a later one would have to judge.
    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            "fstat:part", "flock:part", "fstatat:part", "openat:rewrite", "write:rewrite",
            "fsync:rewrite", "renameat:manifest", "fsync:folder", "fallocate:part",
        ])
    func failedStartLeavesNoFiles(call: String) throws {
        let stage = try Stage(size: 200_000)
        let outcome = try stage.run(
            [stage.origin.url("/file"), "-x", "1"], faults: ["\(call):1:1:\(EIO)"])
        #expect(outcome.end == .exit(74), "\(outcome.errorOutput)")
        #expect(try stage.names().isEmpty, "\(outcome.errorOutput)")
    }

    /// If a new manifest cannot be written, the manifest of the existing file stays.
    @Test(.timeLimit(.minutes(5)), arguments: ["write:rewrite", "fsync:rewrite"])
    func keepsManifestOfExistingFile(call: String) throws {
        let stage = try Stage(size: 200_000)
        let command = ["--overwrite", "--keep-manifest", stage.origin.url("/file")]
        #expect(try Run(command, in: stage.folder).wait().end == .exit(0))
        stage.origin.change {
            $0.content = Content(size: 200_000, seed: 9)
            $0.etag = "\"v2\""
        }
        let outcome = try stage.run(command, faults: ["\(call):1:1:\(ENOSPC)"])
        #expect(outcome.end == .exit(74), "\(outcome.errorOutput)")
        #expect(stage.manifest()?.finished == 200_000)
        #expect(try Run(["verify", "file"], in: stage.folder).wait().end == .exit(0))
    }

    /// A failure after the rename does not undo it, and the message names the complete file.
    @Test(.timeLimit(.minutes(5)), arguments: ["fsync:folder:2", "unlinkat:manifest:1"])
    func reportsCompleteFileIfLaterCallFails(call: String) throws {
        let stage = try Stage(size: 200_000)
        let command = ["-o", "file", stage.origin.url("/file")]
        let outcome = try stage.run(command, faults: ["\(call):1:\(EIO)"])
        #expect(outcome.end == .exit(74), "\(outcome.errorOutput)")
        #expect(
            outcome.errorOutput.contains("kept: the whole file as `file`"),
            "\(outcome.errorOutput)")
        #expect(try stage.names() == ["file", "file.segget"])
        #expect(try stage.isRight())
        // The same command completes the rest without network.
        stage.origin.stop()
        let next = try Run(command, in: stage.folder).wait()
        #expect(next.end == .exit(0), "\(next.errorOutput)")
        #expect(try stage.names() == ["file"])
    }

    static let full: [(call: String, code: Int32, text: String)] = [
        "pwrite:part", "write:manifest", "fsync:part", "openat:rewrite", "renameat2:file",
        "fallocate:part",
    ].flatMap { call in
        [
            (call, ENOSPC, "No space left on device"), (call, EDQUOT, "Disk quota exceeded"),
            (call, EROFS, "Read-only file system"),
        ]
    }

    /// A full disk, a quota, and a file system that the kernel made read-only after an error.
    @Test(.timeLimit(.minutes(5)), arguments: full)
    func reportsFullDiskQuotaAndReadOnly(call: String, code: Int32, text: String) throws {
        let trial = try FaultTrial(.fresh)
        try trial.reset()
        let outcome = try trial.stage.run(trial.arguments, faults: ["\(call):1:0:\(code)"])
        let report = Comment(rawValue: outcome.errorOutput)
        // On a read-only file system, segget cannot create its first file: exit code 73.
        let cannotBeMade = call == "openat:rewrite" && code == EROFS
        #expect(outcome.end == .exit(cannotBeMade ? 73 : 74), report)
        let isFull = call == "fallocate:part" && code == ENOSPC
        #expect(outcome.errorOutput.contains(isFull ? "too little space" : text), report)
        if code != EROFS { #expect(outcome.errorOutput.contains("space"), report) }
        #expect(try Run(trial.arguments, in: trial.stage.folder).wait().end == .exit(0))
        #expect(try trial.stage.isRight())
        #expect(try trial.stage.names() == ["file"])
    }

    static let slight: [[String]] = [
        ["pwrite:part:1:0:byte"], ["pwrite:part:1:0:half"], ["write:*:1:0:byte"],
        ["pread:*:1:0:half"], ["copy_file_range:part:1:0:half"],
        ["pwrite:part:1:3:4", "pwrite:part:6:3:4", "pwrite:part:10:0:half"],
        ["write:manifest:1:2:4", "write:manifest:4:0:half", "write:rewrite:1:3:4"],
        ["pread:part:1:3:4", "pread:manifest:1:2:4", "pread:file:1:2:4"],
        ["fallocate:part:1:2:4", "copy_file_range:part:1:2:4"],
    ]

    /// segget continues short and interrupted (EINTR is 4) reads and writes.
    @Test(.timeLimit(.minutes(5)), arguments: FaultTrial.Scene.allCases)
    func continuesAfterShortAndInterruptedCalls(scene: FaultTrial.Scene) throws {
        let trial = try FaultTrial(scene)
        for faults in Self.slight {
            let outcome = try attempt(trial, faults)
            #expect(outcome.end == .exit(0), "\(faults) \(outcome.errorOutput)")
        }
    }

    static let lacking: [[String]] = [
        ["fallocate:part:1:0:95"], ["fallocate:part:1:0:38"], ["renameat2:file:1:0:22"],
        ["renameat2:file:1:0:38"], ["fsync:folder:1:0:22"], ["copy_file_range:part:1:0:18"],
        ["copy_file_range:part:2:0:95"], ["fsetxattr:part:1:0:95"], ["fstatvfs:folder:1:0:38"],
    ]

    /// A file system may lack fallocate, renameat2, fsync of folders, copying, attributes, or
    /// statvfs.
    @Test(.timeLimit(.minutes(5)), arguments: FaultTrial.Scene.allCases)
    func completesWithoutOptionalCalls(scene: FaultTrial.Scene) throws {
        let trial = try FaultTrial(scene)
        for faults in Self.lacking {
            let outcome = try attempt(trial, faults)
            #expect(outcome.end == .exit(0), "\(faults) \(outcome.errorOutput)")
        }
    }

    /// Without renameat2(2), segget uses link(2), which does not replace a new file either.
    @Test(.timeLimit(.minutes(5))) func linkDoesNotReplaceNewFile() throws {
        let stage = try Stage(size: 200_000)
        let goesOn = Guarded(false)
        stage.origin.bendGET {
            $0.stallAfter = 50_000
            $0.release = goesOn
        }
        let process = try Run(
            ["-x", "1", stage.origin.url("/file")], in: stage.folder,
            environment: try DiskFaults.environment(["renameat2:file:1:0:22"], in: stage.folder))
        #expect(process.waits(for: 50_000))
        try stage.write("mine".utf8, to: "file")
        goesOn.withLock { $0 = true }
        let outcome = try process.wait()
        #expect(outcome.end == .exit(73), "\(outcome.errorOutput)")
        #expect(try stage.read("file") == Array("mine".utf8))
        #expect(try stage.names() == ["file", "file.part", "file.segget"])
    }

    /// After a failed fsync(2), the kernel treats lost pages as written and reports it only once.
    @Test(.timeLimit(.minutes(5)), arguments: ["fsync", "fdatasync"])
    func checksDataAfterFailedSync(call: String) throws {
        let stage = try Stage(size: 200_000)
        let log = try Sandbox()
        let goesOn = Guarded(call == "fsync")
        stage.origin.bendGET {
            $0.stallAfter = 20_000
            $0.release = goesOn
        }
        let process = try Run(
            ["-x", "2", "--retries", "0", stage.origin.url("/file")], in: stage.folder,
            environment: try DiskFaults.environment(
                ["\(call):part:1:1:lose:5"], in: stage.folder, log: log.path("log")))
        // The first call is five seconds after the start, or at the end of the download.
        #expect(
            eventually {
                !process.isRunning
                    || (try? log.read("log")).map {
                        String(decoding: $0, as: UTF8.self).contains("\(call) part")
                    } == true
            })
        goesOn.withLock { $0 = true }
        let outcome = try process.wait()
        #expect(outcome.end == .exit(74), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("`\(call)` failed on `file.part`"))
        #expect(try !stage.names().contains("file"))
        // segget drops cached pages, so that the next run reads what is on the disk.
        let calls = String(decoding: try log.read("log"), as: UTF8.self)
        #expect(calls.contains("posix_fadvise part"))
        stage.origin.behave()
        let next = try stage.run()
        #expect(next.end == .exit(0), "\(next.errorOutput)")
        #expect(next.errorOutput.contains("failed their CRC-32"), "\(next.errorOutput)")
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }
}
