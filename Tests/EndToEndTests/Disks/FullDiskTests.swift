import Foundation
import Glibc
import TestSupport
import Testing

/// Disks that are full at the start of a download, or become full later.
struct FullDiskTests {
    private static let size: Int64 = 4_000_000

    /// Fills the rest of the disk with the file `filler`.
    private func fill(_ stage: Stage) throws {
        let file = open(stage.path("filler"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        let page = [UInt8](repeating: 1, count: 4096)
        while write(file, page, page.count) > 0 {}
        #expect(errno == ENOSPC)
    }

    @Test(.timeLimit(.minutes(5))) func failsBeforeDownloadingIfSpaceIsShort() throws {
        let disk = try Tmpfs(size: 1 << 20)
        let stage = try Stage(size: Self.size, in: disk.path)
        let outcome = try stage.run()
        #expect(outcome.end == .exit(74), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("too little space for `file.part`: 3.81 MiB needed, "))
        // segget confirms the size in the reply to HEAD by a GET of one byte.
        #expect(stage.origin.requests.map(\.method) == ["HEAD", "GET"])
        #expect(stage.origin.bytesServed <= 1)
        #expect(try stage.names().isEmpty)
        try disk.resize(to: 8 << 20)
        #expect(try stage.run().end == .exit(0))
        #expect(try stage.isRight())
    }

    /// Another download fails and removes the folder that it created.
    ///
    /// Meanwhile segget confirms the file's size with the server.
    @Test(.timeLimit(.minutes(5))) func reportsFullDiskIfFolderDisappears() throws {
        let disk = try Tmpfs(size: 1 << 20)
        let stage = try Stage(size: Self.size, in: disk.path)
        let folder = stage.path("new")
        try #require(mkdir(folder, 0o700) == 0)
        stage.origin.bendGET { _ in _ = rmdir(folder) }
        let outcome = try stage.run(["-d", "new"])
        // Space may become free later, so the error is temporary and a queue waits.
        #expect(outcome.end == .exit(74), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("too little space"), "\(outcome.errorOutput)")
        #expect(try stage.names().isEmpty)
        try disk.resize(to: 8 << 20)
        #expect(try stage.run(["-d", "new"]).end == .exit(0))
    }

    /// There is space for the data, but not for the manifest.
    @Test(.timeLimit(.minutes(5)), arguments: [0, 1, 2])
    func failsIfManifestDoesNotFit(sparePages: Int64) throws {
        let data = (Self.size + 4095) / 4096 * 4096
        let disk = try Tmpfs(size: data + sparePages * 4096)
        let stage = try Stage(size: Self.size, in: disk.path)
        // The folder itself may need a page.
        let outcome = try stage.run(["-x", "1", "--file-allocation", "falloc"])
        if outcome.end == .exit(0) {
            #expect(sparePages > 0)
            #expect(try stage.isRight())
        } else {
            #expect(outcome.end == .exit(74), "\(outcome.errorOutput)")
            #expect(try stage.names().isEmpty)
            try disk.resize(to: 8 << 20)
            #expect(try stage.run().end == .exit(0))
            #expect(try stage.isRight())
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: [false, true])
    func leavesNothingOnFullDisk(tellsSize: Bool) throws {
        let disk = try Tmpfs(size: 1 << 20)
        let stage = try Stage(size: 500_000, in: disk.path)
        if !tellsSize { stage.origin.hideSize() }
        try fill(stage)
        let outcome = try stage.run()
        #expect(outcome.end == .exit(74), "\(outcome.errorOutput)")
        #expect(try stage.names() == ["filler"])
        try stage.remove("filler")
        let second = try stage.run()
        #expect(second.end == .exit(0), "\(second.errorOutput)")
        #expect(try stage.isRight())
    }

    /// segget can reserve no space if it does not know the size.
    @Test(.timeLimit(.minutes(5))) func stopsInOrderWhenStreamFillsDisk() throws {
        let disk = try Tmpfs(size: 2 << 20)
        let stage = try Stage(size: Self.size, in: disk.path)
        stage.origin.hideSize()
        let outcome = try stage.run()
        #expect(outcome.end == .exit(74), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("`write` failed on `file.part`: No space left"))
        #expect(outcome.errorOutput.contains("kept: "), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("hint: free some space, then run the same command"))
        #expect(try !stage.names().contains("file"))
        try disk.resize(to: 8 << 20)
        let second = try stage.run()
        #expect(second.end == .exit(0), "\(second.errorOutput)")
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }

    /// The space for the data is reserved, but the manifest cannot grow.
    @Test(.timeLimit(.minutes(5))) func stopsInOrderWhenManifestCannotGrow() throws {
        let disk = try Tmpfs(size: 8 << 20)
        let stage = try Stage(size: Self.size, in: disk.path)
        stage.origin.bendGET { $0.pace = 30_000 }
        let process = try stage.start(["-x", "16", "--file-allocation", "falloc"])
        try #require(process.waits(for: 50_000))
        try fill(stage)
        let outcome = try process.wait()
        #expect(outcome.end == .exit(74), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("`write` failed on `file.segget`: No space left"))
        #expect(outcome.errorOutput.contains("kept: "))
        let kept = try #require(stage.recorded())
        #expect(kept > 0)
        #expect(try stage.names() == ["file.part", "file.segget", "filler"])

        // The disk is still full, and another attempt loses nothing.
        stage.origin.behave()
        let second = try stage.run()
        #expect(second.end == .exit(74), "\(second.errorOutput)")
        #expect(stage.recorded() == kept)
        #expect(try stage.names() == ["file.part", "file.segget", "filler"])

        try stage.remove("filler")
        let third = try stage.run(["--json"])
        #expect(third.end == .exit(0), "\(third.errorOutput)")
        let last = try #require(try jsonEvents(third.output).last)
        #expect(last["bytes_resumed"] as? Int64 == kept)
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }

    /// `ulimit -f` limits the size of files, and by default SIGXFSZ ends a process that exceeds it.
    @Test(.timeLimit(.minutes(5))) func survivesFileSizeLimit() throws {
        let stage = try Stage(size: Self.size)
        let outcome = try Run(
            "/bin/sh",
            [
                "-c", "ulimit -f 1000; exec \"$0\" \"$@\"", try Segget.binary(),
                stage.origin.url("/file"),
            ], in: stage.folder
        ).wait()
        #expect(outcome.end == .exit(74), "\(outcome.errorOutput)")
        #expect(try stage.names().isEmpty)
    }
}
