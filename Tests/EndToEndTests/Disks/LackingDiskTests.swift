import Foundation
import Glibc
import TestSupport
import Testing

/// Mounted file systems that lack features.
///
/// The download completes, or it fails before the first byte.
@Suite(.enabled(if: LackingDisk.isPossible, "mounting needs root and /dev/fuse"))
struct LackingDiskTests {
    /// Runs `segget ARGUMENTS URL` in a folder on such a file system.
    private func attempt(
        _ options: [String], _ arguments: [String] = [], size: Int64 = 200_000
    ) throws -> (stage: Stage, outcome: Run.Outcome, disk: LackingDisk) {
        let disk = try LackingDisk(options)
        let stage = try Stage(size: size, in: disk.path)
        stage.origin.change { $0.lastModified = httpDate(unixTime: 1_234_567_890) }
        return (stage, try stage.run(["-x", "2"] + arguments), disk)
    }

    static let complete: [[String]] = [
        [], ["flat"], ["deny=link:EIO"], ["flat", "free=0"], ["free=0", "deny=chmod:ENOSYS"],
        ["deny=utimens:EPERM"], ["deny=truncate:EPERM", "deny=statfs:ENOSYS"],
        ["deny=fsync:EINVAL", "deny=utimens:EOPNOTSUPP", "deny=lock:ENOLCK", "flat", "free=0"],
    ]

    @Test(.timeLimit(.minutes(5)), arguments: complete)
    func completesWithoutMissingFeatures(options: [String]) throws {
        let (stage, outcome, disk) = try attempt(options, ["--json"])
        defer { withExtendedLifetime(disk) {} }
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try stage.names().filter { !$0.hasPrefix(".fuse_hidden") } == ["file"])
        let last = try jsonEvents(outcome.output).last
        let cannotSync = options.contains { $0.hasPrefix("deny=fsync") }
        #expect((last?["synchronized"] as? Bool) == (cannotSync ? false : nil))
        let isUnguarded = options.contains { $0 == "flat" || $0.hasPrefix("deny=link") }
        #expect(outcome.output.contains("named_unguarded") == isUnguarded)
    }

    @Test(.timeLimit(.minutes(5))) func lastLineReportsMissingSynchronization() throws {
        let (_, outcome, disk) = try attempt(["deny=fsync:EINVAL"])
        defer { withExtendedLifetime(disk) {} }
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        let last = outcome.errorOutput.split(separator: "\n").last ?? ""
        #expect(
            last.contains("not synchronized: the file system does not support"),
            "\(outcome.errorOutput)")
    }

    /// segget checks before a plain rename, so a file that another program created stays.
    @Test(.timeLimit(.minutes(5))) func doesNotReplaceFileThatAppearsMeanwhile() throws {
        let disk = try LackingDisk(["flat"])
        defer { withExtendedLifetime(disk) {} }
        let stage = try Stage(size: 200_000, in: disk.path)
        let goesOn = Guarded(false)
        stage.origin.bendGET {
            $0.stallAfter = 50_000
            $0.release = goesOn
        }
        let process = try stage.start(["-x", "1"])
        #expect(process.waits(for: 50_000))
        try stage.write("mine".utf8, to: "file")
        goesOn.withLock { $0 = true }
        let outcome = try process.wait()
        #expect(outcome.end == .exit(73), "\(outcome.errorOutput)")
        #expect(try stage.read("file") == Array("mine".utf8))
        #expect(try stage.names() == ["file", "file.part", "file.segget"])
    }

    @Test(.timeLimit(.minutes(5))) func resumesAfterKill() throws {
        let disk = try LackingDisk(["flat", "free=0", "deny=fsync:EINVAL"])
        defer { withExtendedLifetime(disk) {} }
        let stage = try Stage(size: 200_000, in: disk.path)
        let kept = try stage.leavePart(each: 20_000)
        let outcome = try stage.run(["--json"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try jsonEvents(outcome.output).last?["bytes_resumed"] as? Int64 ?? 0 >= kept)
        #expect(try stage.isRight())
    }

    @Test(.timeLimit(.minutes(5))) func downloadsAListOfSmallFiles() throws {
        let disk = try LackingDisk(["flat", "free=0", "deny=fsync:EINVAL", "deny=chmod:EPERM"])
        defer { withExtendedLifetime(disk) {} }
        let stage = try BatchStage(size: 2_000)
        let list = stage.urls(5, "f").enumerated().map { "\($1)\n  out=f\($0)\n" }.joined()
        try stage.sandbox.write("list", list)
        let outcome = try Run(
            ["-i", stage.sandbox.path("list"), "-d", disk.path], in: stage.folder
        ).wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        for number in 0..<5 {
            let content = Content.named("/\(number + 1)/f", size: 2_000)
            #expect(try content.firstDifference(at: "\(disk.path)/f\(number)") == nil)
        }
    }

    static let early: [(options: [String], name: String, text: String)] = [
        (["append"], "file", "`write` failed on `file.part`"),
        (["deny=rename:ENOSYS"], "file", "`rename` failed on `file.segget`"),
        (["deny=read:EPERM"], "file", "failed on `file"),
        (["deny=create:EPERM"], "file", "`file.part` cannot be created"),
        (["name=20"], "a-name-of-24-bytes-in-all", "File name too long"),
        (["forbidden=:"], "a:b", "a:b"),
    ]

    @Test(.timeLimit(.minutes(5)), arguments: early)
    func failsBeforeFirstByte(options: [String], name: String, text: String) throws {
        let (stage, outcome, disk) = try attempt(options, ["-o", name])
        defer { withExtendedLifetime(disk) {} }
        #expect([.exit(73), .exit(74)].contains(outcome.end), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains(text), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("hint: "), "\(outcome.errorOutput)")
        #expect(stage.origin.bytesServed <= 1)
        #expect(try !stage.names().contains(name))
    }

    /// A file system that only appends accepts standard output, as the hint suggests.
    @Test(.timeLimit(.minutes(5))) func standardOutputWorksOnAppendOnlyDisk() throws {
        let disk = try LackingDisk(["append"])
        defer { withExtendedLifetime(disk) {} }
        let stage = try Stage(size: 200_000, in: disk.path)
        let outcome = try Run(
            "/bin/sh",
            ["-c", "\"$0\" --output - \"$1\" > file", Segget.binary(), stage.origin.url("/file")],
            in: disk.path, environment: ["SEGGET_NO_CONFIG": "1"]
        ).wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
    }

    /// The file system ignores case, so the second name is that of the first file.
    @Test(.timeLimit(.minutes(5))) func namesThatDifferInCaseReplaceNothing() throws {
        let disk = try LackingDisk(["fold"])
        defer { withExtendedLifetime(disk) {} }
        let stage = try Stage(size: 200_000, in: disk.path)
        #expect(try stage.run(["-o", "Data.bin"]).end == .exit(0))
        stage.origin.change { $0.content = Content(size: 200_000, seed: 9) }
        let second = try stage.run(["-o", "data.bin"])
        #expect(second.end == .exit(73), "\(second.errorOutput)")
        stage.origin.change { $0.content = Content(size: 200_000, seed: 1) }
        #expect(try stage.isRight("Data.bin"))
    }
}
