import Foundation
import Glibc
import TestSupport
import Testing

/// Disks that become full during a download without reserved space.
struct FillingDiskTests {
    private static let size: Int64 = 3_000_000
    private static let none = ["--file-allocation", "none"]

    private func expectStopped(
        _ outcome: Run.Outcome, _ stage: Stage,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let report = Comment(rawValue: outcome.errorOutput)
        #expect(outcome.end == .exit(74), report, sourceLocation: location)
        #expect(
            outcome.errorOutput.contains("No space left on device")
                || outcome.errorOutput.contains("too little space"), report,
            sourceLocation: location)
        #expect(
            outcome.errorOutput.contains("hint: free "), report, sourceLocation: location)
        if try stage.names().contains("file.part") {
            #expect(stage.recorded() != nil, report, sourceLocation: location)
        }
    }

    /// Expects that the same command resumes with all kept bytes.
    private func expectResumed(
        _ stage: Stage, _ arguments: [String], _ location: SourceLocation = #_sourceLocation
    ) throws {
        let kept = stage.recorded() ?? 0
        let outcome = try stage.run(arguments + ["--json"])
        #expect(
            outcome.end == .exit(0), "\(outcome.errorOutput)", sourceLocation: location)
        let last = try #require(try jsonEvents(outcome.output).last)
        #expect(last["bytes_resumed"] as? Int64 == kept, sourceLocation: location)
    }

    /// `spare` is how much the disk is larger than the data, in bytes.
    ///
    /// The disk becomes full in the data, in the manifest, at its rewrite, or not at all.
    @Test(
        .timeLimit(.minutes(5)),
        arguments: [-2_900_000, -1_500_000, -4096, 0, 4096, 8192] as [Int64],
        [1, 8])
    func stopsInOrderWhenDiskBecomesFull(spare: Int64, connections: Int) throws {
        let data = (Self.size + 4095) / 4096 * 4096
        let disk = try Tmpfs(size: data + spare)
        let stage = try Stage(size: Self.size, in: disk.path)
        // Without statvfs, segget does not check the free space before the download.
        let silent = try DiskFaults.environment(["fstatvfs:folder:1:0:38"], in: disk.path)
        let command = Self.none + ["-x", "\(connections)", stage.origin.url("/file")]
        let outcome = try Run(command, in: stage.folder, environment: silent).wait()
        if outcome.end != .exit(0) {
            try expectStopped(outcome, stage)
            #expect(try !stage.names().contains("file"))
            let kept = stage.recorded() ?? 0
            // Bytes on the disk are kept, except the last ones that the manifest does not have yet.
            if spare < 0, spare > -2_900_000 { #expect(kept > 0, "\(outcome.errorOutput)") }
            let again = try Run(command, in: stage.folder, environment: silent).wait()
            try expectStopped(again, stage)
            #expect((stage.recorded() ?? 0) >= kept)
            try disk.resize(to: 16 << 20)
            try expectResumed(stage, Self.none)
        } else {
            #expect(spare >= 0)
        }
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }

    /// Another program fills the disk after `moment` bytes.
    @Test(.timeLimit(.minutes(5)), arguments: [200_000, 700_000, 1_400_000] as [Int64])
    func stopsInOrderWhenOtherProgramFillsDisk(moment: Int64) throws {
        let disk = try Tmpfs(size: 8 << 20)
        let stage = try Stage(size: Self.size, in: disk.path)
        let goesOn = Guarded(false)
        stage.origin.bendGET {
            $0.stallAfter = moment / 4
            $0.release = goesOn
        }
        let process = try stage.start(Self.none + ["-x", "4"])
        #expect(process.waits(for: moment))
        // A disk that shrinks is full immediately.
        try disk.resize(to: Int64(try stage.status(of: "file.part").st_blocks) * 512 + 64 << 10)
        goesOn.withLock { $0 = true }
        let outcome = try process.wait()
        try expectStopped(outcome, stage)
        #expect(try #require(stage.recorded()) >= moment)
        try disk.resize(to: 8 << 20)
        stage.origin.behave()
        try expectResumed(stage, Self.none)
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }

    /// The old file stays until the new one is complete.
    ///
    /// A manifest that is kept needs space too.
    @Test(.timeLimit(.minutes(5)), arguments: [-8192, 4096, 8192, 16_384] as [Int64])
    func keepsOldFileIfDiskBecomesFull(spare: Int64) throws {
        let data = (Self.size + 4095) / 4096 * 4096
        let disk = try Tmpfs(size: data + 4096 + spare)
        let stage = try Stage(size: Self.size, in: disk.path)
        try stage.write("an older file".utf8, to: "file")
        let command = ["--overwrite", "--keep-manifest", "--xattr"]
        let outcome = try stage.run(command)
        if outcome.end != .exit(0) {
            try expectStopped(outcome, stage)
            #expect(try stage.read("file") == Array("an older file".utf8))
            try disk.resize(to: 16 << 20)
            #expect(try stage.run(command).end == .exit(0))
        } else {
            #expect(spare > 0)
        }
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file", "file.segget"])
        #expect(try Run(["verify", "file"], in: stage.folder).wait().end == .exit(0))
    }

    /// A repair needs space for a second file.
    ///
    /// Without it the damaged file is unchanged.
    @Test(
        .timeLimit(.minutes(5)), arguments: [3_050_000, 4_500_000, 5_900_000, 6_000_000] as [Int64])
    func repairNeedsSpaceForSecondFile(space: Int64) throws {
        let disk = try Tmpfs(size: 16 << 20)
        let stage = try Stage(size: Self.size, in: disk.path)
        #expect(try stage.run(["-q", "--keep-manifest"]).end == .exit(0))
        try stage.damage("file", at: 5)
        let damaged = try stage.read("file")
        try disk.resize(to: space)
        let command = ["repair", "file", stage.origin.url("/file")]
        let outcome = try Run(command, in: stage.folder).wait()
        if outcome.end != .exit(0) {
            try expectStopped(outcome, stage)
            #expect(try stage.read("file") == damaged)
            try disk.resize(to: 16 << 20)
            let next = try Run(command, in: stage.folder).wait()
            #expect(next.end == .exit(0), "\(next.errorOutput)")
        }
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file", "file.segget"])
    }

    /// Files that fit complete, and the other one completes once there is space.
    @Test(.timeLimit(.minutes(5))) func completesFilesThatFit() throws {
        let disk = try Tmpfs(size: 2 << 20)
        let stage = try Stage(size: Self.size, in: disk.path)
        stage.origin.bend { request, reply in
            guard request.path != "/large" else { return }
            reply = .file(Content(size: 100_000, seed: 9), for: request, etag: "\"s\"")
        }
        let urls = ["/small", "/large", "/tiny", "/little"].map { stage.origin.url($0) }
        let outcome = try Run(["-j", "1"] + urls, in: stage.folder).wait()
        #expect(outcome.end == .exit(74), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("too little space for `large.part`"))
        #expect(try stage.names() == ["little", "small", "tiny"])
        try disk.resize(to: 8 << 20)
        let next = try stage.run(path: "/large")
        #expect(next.end == .exit(0), "\(next.errorOutput)")
        #expect(try stage.isRight("large"))
        #expect(try stage.names() == ["large", "little", "small", "tiny"])
    }

    /// The data exceeds `ulimit -f`, and SIGXFSZ does not end the process.
    @Test(.timeLimit(.minutes(5)), arguments: [1, 4])
    func stopsInOrderAtFileSizeLimit(connections: Int) throws {
        let stage = try Stage(size: Self.size)
        let limited = try Run(
            "/bin/sh",
            [
                "-c", "ulimit -f 2000; exec \"$0\" \"$@\"", try Segget.binary(),
                "-x", "\(connections)", stage.origin.url("/file"),
            ] + Self.none, in: stage.folder
        ).wait()
        #expect(limited.end == .exit(74), "\(limited.errorOutput)")
        #expect(
            limited.errorOutput.contains("`write` failed on `file.part`: File too large"),
            "\(limited.errorOutput)")
        // A block has 512 or 1024 bytes, depending on the shell.
        if connections == 1 { #expect((stage.recorded() ?? 0) >= 2000 * 512) }
        try expectResumed(stage, [])
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }

    /// The kernel makes the file system read-only after an error, during a download.
    @Test(.timeLimit(.minutes(5))) func stopsInOrderWhenDiskBecomesReadOnly() throws {
        let stage = try Stage(size: Self.size)
        let goesOn = Guarded(false)
        stage.origin.bendGET {
            $0.stallAfter = 100_000
            $0.release = goesOn
        }
        // Once this file exists, segget cannot write, remove or rename files.
        let signal = try Sandbox()
        let calls = [
            "pwrite", "write", "unlinkat", "renameat", "renameat2", "fallocate", "ftruncate",
            "fchmod", "futimens",
        ]
        let process = try Run(
            ["-x", "4", stage.origin.url("/file")], in: stage.folder,
            environment: try DiskFaults.environment(
                calls.map { "\($0):*:1:0:\(EROFS)" }, in: stage.folder,
                when: signal.path("now")))
        #expect(process.waits(for: 400_000))
        try signal.write("now", "")
        goesOn.withLock { $0 = true }
        let outcome = try process.wait()
        #expect(outcome.end == .exit(74), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("Read-only file system"), "\(outcome.errorOutput)")
        #expect(try #require(stage.recorded()) >= 400_000)
        stage.origin.behave()
        try expectResumed(stage, [])
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }
}
