import Assembler
import Foundation
import Glibc
import TestSupport
import Testing

/// Existing files and other obstacles at the destination, before and during a download.
struct DestinationTests {
    private static let size: Int64 = 2_000_000
    private static let mine = Array("what was there before".utf8)

    @Test(.timeLimit(.minutes(5))) func doesNotReplaceExistingFile() throws {
        let stage = try Stage(size: Self.size)
        try stage.write(Self.mine, to: "file")
        for arguments in [["-o", "file"], ["-o", stage.path("file")], []] {
            let requests = stage.origin.requests.count
            let outcome = try stage.run(arguments)
            #expect(outcome.end == .exit(73))
            #expect(outcome.errorOutput.contains("file` exists already"))
            #expect(outcome.errorOutput.contains("--overwrite"))
            #expect(try stage.read("file") == Self.mine)
            #expect(try stage.names() == ["file"])
            // segget asks whether the existing file is the server's.
            let asked = stage.origin.requests.dropFirst(requests).map(\.method)
            #expect(asked == ["HEAD"])
        }
    }

    @Test(.timeLimit(.minutes(5))) func overwriteReplacesOnlyWithCompleteFile() throws {
        let stage = try Stage(size: Self.size)
        try stage.write(Self.mine, to: "file")
        // A killed run, a failed run, and a run with a wrong checksum.
        try stage.leavePart(each: 200_000, arguments: ["--overwrite"])
        #expect(try stage.read("file") == Self.mine)
        stage.origin.bendGET { $0 = .text(500) }
        let failed = try stage.run(["--overwrite", "--retries", "0"])
        #expect(failed.end == .exit(69), "\(failed.errorOutput)")
        #expect(try stage.read("file") == Self.mine)
        stage.origin.behave()
        let wrong = "crc32:00000000"
        #expect(try stage.run(["--overwrite", "--checksum", wrong]).end == .exit(65))
        #expect(try stage.read("file") == Self.mine)

        let goesOn = Guarded(false)
        stage.origin.bendGET {
            $0.stallAfter = 200_000
            $0.release = goesOn
        }
        let process = try stage.start(["--overwrite", "-x", "4"])
        #expect(process.waits(for: 800_000))
        #expect(try stage.read("file") == Self.mine)
        goesOn.withLock { $0 = true }
        #expect(try process.wait().end == .exit(0))
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }

    /// Things that are not regular files.
    enum Obstacle: String, CaseIterable, Sendable {
        case folder, pipe, link, danglingLink, socket

        func make(at path: String) throws {
            switch self {
            case .folder:
                try FileManager.default.createDirectory(
                    atPath: path, withIntermediateDirectories: false)
            case .pipe: guard mkfifo(path, 0o600) == 0 else { throw SystemCallError("mkfifo") }
            case .link:
                try Data("target".utf8).write(to: URL(fileURLWithPath: path + "-target"))
                try FileManager.default.createSymbolicLink(
                    atPath: path, withDestinationPath: path + "-target")
            case .danglingLink:
                try FileManager.default.createSymbolicLink(
                    atPath: path, withDestinationPath: path + "-target")
            case .socket:
                guard mknod(path, S_IFSOCK | 0o600, 0) == 0 else { throw SystemCallError("mknod") }
            }
        }
    }

    @Test(
        .timeLimit(.minutes(5)), arguments: Obstacle.allCases, ["file", "file.part", "file.segget"])
    func refusesPathsThatAreNotRegularFiles(obstacle: Obstacle, name: String) throws {
        let stage = try Stage(size: Self.size)
        try obstacle.make(at: stage.path(name))
        let before = try stage.status(of: name)
        let names = try stage.names()
        for arguments in [["-o", "file"], ["-o", "file", "--overwrite"]] {
            let outcome = try stage.run(arguments)
            #expect(outcome.end == .exit(73), "\(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains("`\(name)` "), "\(outcome.errorOutput)")
            let after = try stage.status(of: name)
            #expect(after.st_ino == before.st_ino)
            #expect(after.st_mode == before.st_mode)
            #expect(try stage.names() == names)
        }
        #expect(stage.origin.bytesServed == 0)
        if obstacle == .link {
            #expect(try stage.read("\(name)-target") == Array("target".utf8))
        }
    }

    /// Downloads, and creates a file at the destination meanwhile.
    private static func takeTheNameMeanwhile(_ stage: Stage) throws -> Run.Outcome {
        let goesOn = Guarded(false)
        stage.origin.bendGET {
            $0.stallAfter = 50_000
            $0.release = goesOn
        }
        let process = try stage.start(["-x", "4"])
        #expect(process.waits(for: 100_000))
        try stage.write(mine, to: "file")
        goesOn.withLock { $0 = true }
        return try process.wait()
    }

    @Test(.timeLimit(.minutes(5))) func doesNotReplaceFileThatAppearsMeanwhile() throws {
        let stage = try Stage(size: Self.size)
        let outcome = try Self.takeTheNameMeanwhile(stage)
        #expect(outcome.end == .exit(73), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("`file` exists already"))
        #expect(outcome.errorOutput.contains("kept: 1.91 MiB in `file.part`"))
        #expect(try stage.read("file") == Self.mine)
        #expect(try stage.content.firstDifference(at: stage.path("file.part")) == nil)

        let requests = stage.origin.requests.count
        let second = try stage.run(["--overwrite"])
        #expect(second.end == .exit(0), "\(second.errorOutput)")
        #expect(stage.bytesServed(after: requests) == 0)
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }

    /// The first run completes, but cannot rename its part.
    ///
    /// Later the name is free and the server has a newer version. Nothing crashed, so segget asks
    /// the server and downloads that version.
    @Test(.timeLimit(.minutes(5)), arguments: [[], ["-N"], ["--overwrite"]])
    func downloadsNewerVersionIfNameWasTaken(arguments: [String]) throws {
        let stage = try Stage(size: Self.size)
        #expect(try Self.takeTheNameMeanwhile(stage).end == .exit(73))
        #expect(stage.manifest()?.publishing == nil)
        #expect(stage.recorded() == Self.size)
        try stage.remove("file")
        stage.origin.behave()
        stage.origin.change { offer in
            offer.content = Content(size: Self.size, seed: 2)
            offer.etag = "\"v2\""
        }
        let second = try stage.run(["-o", "file"] + arguments)
        #expect(second.end == .exit(0), "\(second.errorOutput)")
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }

    @Test(.timeLimit(.minutes(5))) func failsIfFolderIsAFile() throws {
        let stage = try Stage(size: Self.size)
        try stage.write(Self.mine, to: "plain")
        for arguments in [["-d", "plain"], ["-o", "plain/file"], ["-d", "plain", "-o", "file"]] {
            let outcome = try stage.run(arguments)
            #expect(outcome.end == .exit(73), "\(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains("cannot be opened: "), "\(outcome.errorOutput)")
            #expect(try stage.names() == ["plain"])
        }
        #expect(stage.origin.bytesServed == 0)
    }

    @Test(.timeLimit(.minutes(5))) func savesInGivenFolder() throws {
        let stage = try Stage(size: Self.size)
        try FileManager.default.createDirectory(
            atPath: stage.path("sub"), withIntermediateDirectories: false)
        #expect(try stage.run(["-d", "sub"]).end == .exit(0))
        #expect(try stage.isRight("sub/file"))
        #expect(try stage.run(["-o", "sub/other name"]).end == .exit(0))
        #expect(try stage.isRight("sub/other name"))
        #expect(try stage.run(["-o", stage.path("third")]).end == .exit(0))
        #expect(try stage.isRight("third"))
        #expect(try stage.names() == ["sub", "third"])
    }

    /// Names that are too long for the suffix `.segget~`.
    @Test(.timeLimit(.minutes(5)), arguments: [247, 248, 250, 255, 300])
    func refusesTooLongNameAndLeavesNothing(length: Int) throws {
        let stage = try Stage(size: Self.size)
        let name = String(repeating: "n", count: length)
        let outcome = try stage.run(["-o", name])
        if length == 247 {
            #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
            #expect(try stage.names() == [name])
        } else {
            #expect(outcome.end == .exit(73), "\(outcome.errorOutput)")
            #expect(try stage.names().isEmpty)
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: [true, false])
    func reportsReadOnlyFileSystem(wasBegun: Bool) throws {
        let disk = try Tmpfs(size: 16 << 20)
        let stage = try Stage(size: Self.size, in: disk.path)
        if wasBegun { try stage.leavePart(each: 200_000) }
        try remountReadOnly(disk.path)
        let names = try stage.names()
        let outcome = try stage.run()
        #expect(outcome.end == .exit(73), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("Read-only file system"), "\(outcome.errorOutput)")
        #expect(try stage.names() == names)
    }

    private func remountReadOnly(_ path: String) throws {
        guard mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0 else {
            throw SystemCallError("remount \(path)")
        }
    }
}

/// File names that servers suggest.
struct HostileNameTests {
    static let dispositions: [(value: String, name: String)] = [
        ("attachment; filename=\"../../x\"", "x"),
        ("attachment; filename=\"/etc/passwd\"", "passwd"),
        ("attachment; filename=\"..\\\\..\\\\boot.ini\"", "boot.ini"),
        ("attachment; filename=\"..\"", "file"),
        ("attachment; filename=\".\"", "file"),
        ("attachment; filename=\"\"", "file"),
        ("attachment; filename=\".bashrc\"", "bashrc"),
        ("attachment; filename=\"-rf\"", "rf"),
        ("attachment; filename=\"a\u{1}b\u{1b}[31mc\"", "ab[31mc"),
        ("attachment; filename*=UTF-8''..%2F..%2Fy%0A.txt", "y.txt"),
        ("attachment; filename*=UTF-8''%2e%2e%2f%2e%2e", "file"),
        ("attachment; filename*=UTF-8''a%00b", "ab"),
        (
            "attachment; filename=\"\(String(repeating: "l", count: 400)).iso\"",
            String(repeating: "l", count: 243) + ".iso"
        ),
    ]

    @Test(.timeLimit(.minutes(5)), arguments: dispositions)
    func suggestedNamesStayInTheFolder(value: String, name: String) throws {
        let outside = try Sandbox()
        let folder = outside.path("a/b")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let stage = try Stage(size: 100_000, in: folder)
        stage.origin.bend { $1.set("Content-Disposition", value) }
        let outcome = try stage.run()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.names() == [name])
        #expect(try stage.isRight(name))
        #expect(try outside.names() == ["a"])
        #expect(!outcome.errorOutput.contains("\u{1b}"))
    }
}
