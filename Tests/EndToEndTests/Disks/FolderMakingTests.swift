import Foundation
import Glibc
import TestSupport
import Testing

/// Missing folders of the destination, which segget creates.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct FolderMakingTests {
    private static let size: Int64 = 600_000

    /// The paths below a folder, in order.
    private func tree(_ folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).sorted()
    }

    @Test(arguments: [
        ["-d", "new"], ["-d", "./new//"], ["-d", "new", "--auto-rename"], ["-d", "new", "-N"],
    ])
    func createsMissingFolder(arguments: [String]) throws {
        let stage = try Stage(size: Self.size)
        let outcome = try stage.run(arguments)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try tree(stage.folder) == ["new", "new/file"])
        #expect(try stage.isRight("new/file"))
        // The second run uses the existing folder.
        let again = try stage.run(arguments)
        #expect(again.end == .exit(0), "\(again.errorOutput)")
    }

    @Test func createsMissingParentFolders() throws {
        let stage = try Stage(size: Self.size)
        let outside = try Sandbox()
        for folder in ["a/b/c", "up/../other/d", outside.path("x/y")] {
            let outcome = try stage.run(["-d", folder])
            #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
            #expect(
                try Content(size: Self.size, seed: 1).firstDifference(
                    at: folder.hasPrefix("/") ? "\(folder)/file" : stage.path("\(folder)/file"))
                    == nil)
        }
    }

    @Test(arguments: [0o022, 0o077, 0o002])
    func umaskAppliesToNewFolders(mask: Int) throws {
        let stage = try Stage(size: 1000)
        let outcome = try Run(
            "/bin/sh",
            [
                "-c", "umask \(String(mask, radix: 8)); exec \"$0\" \"$@\"", try Segget.binary(),
                "-d", "a/b", stage.origin.url("/file"),
            ], in: stage.folder,
            environment: ["HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent"]
        ).wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        for name in ["a", "a/b"] {
            #expect(Int(try stage.status(of: name).st_mode) & 0o7777 == 0o777 & ~mask)
        }
    }

    /// segget creates folders after the server's reply, and removes them if no byte arrives.
    @Test func failedDownloadLeavesNoFolder() throws {
        let stage = try Stage(size: Self.size)
        stage.origin.bend { _, reply in reply = .text(404) }
        #expect(try stage.run(["-d", "a/b"]).end == .exit(69))
        #expect(try tree(stage.folder) == [])
        let sandbox = try Sandbox()
        let list = try sandbox.write(
            "list", "\(stage.origin.url("/x"))\n dir=a/c\n\(stage.origin.url("/y"))\n out=d/y\n")
        #expect(try stage.run(["-i", list, "-d", "e"]).end == .exit(69))
        #expect(try tree(stage.folder) == [])
        // HEAD succeeds, but no byte of the file arrives.
        stage.origin.bendGET { $0 = .text(500) }
        let late = try stage.run(["-d", "a/b", "--retries", "0"])
        #expect(late.end == .exit(69), "\(late.errorOutput)")
        #expect(try tree(stage.folder) == [])
        // A folder that existed before stays, though it is empty.
        #expect(mkdir(stage.path("a"), 0o755) == 0)
        #expect(try stage.run(["-d", "a/b", "--retries", "0"]).end == .exit(69))
        #expect(try tree(stage.folder) == ["a"])
    }

    @Test func keepsFolderOfPart() throws {
        let stage = try Stage(size: Self.size)
        stage.origin.bendGET { $0.cutAfter = 100_000 }
        let broken = try stage.run(["-d", "a/b", "--retries", "0", "-x", "2"])
        #expect(broken.end == .exit(69), "\(broken.errorOutput)")
        #expect(try tree(stage.folder) == ["a", "a/b", "a/b/file.part", "a/b/file.segget"])
        stage.origin.behave()
        let outcome = try stage.run(["-d", "a/b"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight("a/b/file"))
    }

    /// A file, a link, or a name that is too long is in the way.
    @Test func messageNamesPathInTheWay() throws {
        let stage = try Stage(size: 1000)
        try stage.write([1], to: "plain")
        #expect(symlink("nowhere", stage.path("dangling")) == 0)
        let long = String(repeating: "n", count: 300)
        for (folder, words) in [
            ("plain", "Not a directory"), ("plain/a", "Not a directory"),
            ("a/\(long)", "File name too long"), ("dangling/a", "`dangling` cannot be opened"),
            ("dangling", "`dangling` cannot be opened"),
            ("/proc/segget/a", "`/proc/segget` cannot be created"),
        ] {
            let outcome = try stage.run(["-d", folder])
            #expect(outcome.end == .exit(73), "\(folder): \(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains(words), "\(outcome.errorOutput)")
            #expect(try tree(stage.folder) == ["dangling", "plain"])
        }
    }

    @Test func createsNoFolderWithoutPermission() throws {
        let disk = try Tmpfs(size: 16 << 20)
        let stage = try Stage(size: 1000, in: disk.path)
        #expect(mkdir(stage.path("sub"), 0o500) == 0)
        for arguments in [["-d", "sub/a/b"], ["--dry-run", "-d", "sub/a/b"]] {
            let outcome = try Run(
                "/usr/bin/setpriv",
                ["--bounding-set=-dac_override,-dac_read_search", try Segget.binary()] + arguments
                    + [stage.origin.url("/file")], in: stage.folder,
                environment: ["HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent"]
            ).wait()
            #expect(outcome.end == .exit(73), "\(outcome.errorOutput)")
            #expect(
                (outcome.output + outcome.errorOutput).contains(
                    "`sub/a` cannot be created: Permission denied"), "\(outcome.errorOutput)")
        }
        #expect(try tree(stage.folder) == ["sub"])
        guard mount("tmpfs", disk.path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0 else {
            throw SystemCallError("remount \(disk.path)")
        }
        let outcome = try stage.run(["-d", "a"])
        #expect(outcome.end == .exit(73), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("`a` cannot be created: Read-only file system"))
    }

    /// mkdirat(2) fails, or the fsync(2) that makes the folder durable.
    @Test(
        arguments: [
            ("mkdirat:file:1:1:\(EIO)", 74), ("mkdirat:file:2:1:\(EIO)", 74),
            ("mkdirat:file:1:1:\(ENOSPC)", 74), ("mkdirat:file:2:1:\(EDQUOT)", 74),
            ("mkdirat:file:1:1:\(EROFS)", 73), ("fsync:folder:1:1:\(EIO)", 74),
            ("fsync:file:1:1:\(EIO)", 74),
        ] as [(String, Int32)])
    func failedCreationLeavesNoFolder(fault: String, code: Int32) throws {
        let stage = try Stage(size: Self.size)
        let arguments = ["-d", "a/b", stage.origin.url("/file")]
        let outcome = try stage.run(arguments, faults: [fault])
        #expect(outcome.end == .exit(code), "\(fault): \(outcome.errorOutput)")
        #expect(try tree(stage.folder) == [], "\(fault)")
        let again = try stage.run(arguments, faults: ["fsync:folder:1:1:\(EINVAL)"])
        #expect(again.end == .exit(0), "\(again.errorOutput)")
        #expect(try stage.isRight("a/b/file"))
    }

    @Test func dryRunReportsNewFolders() throws {
        let stage = try Stage(size: 8 << 20)
        for options in [["-d", "a/b"], ["-d", "a/b", "--auto-rename"]] {
            let outcome = try stage.run(["--dry-run"] + options)
            #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
            #expect(outcome.output.contains("to:           a/b/file\n"), "\(outcome.output)")
            #expect(outcome.output.contains("creates:      the folder a/b\n"), "\(outcome.output)")
        }
        let several = try stage.run(
            ["--dry-run", "--json", "-d", "a", stage.origin.url("/other/file")])
        #expect(several.end == .exit(0), "\(several.errorOutput)")
        let previews = try jsonEvents(several.output)
        #expect(previews.map { $0["path"] as? String } == ["a/file", "a/file.1"])
        #expect(previews.map { $0["makes_folder"] as? String } == ["a", "a"])
        #expect(try tree(stage.folder) == [])
        #expect(mkdir(stage.path("a"), 0o755) == 0)
        #expect(!(try stage.run(["--dry-run", "-d", "a"])).output.contains("creates:"))
        let small = try Tmpfs(size: 1 << 20)
        let full = try Stage(size: 8 << 20, in: small.path)
        #expect(try full.run(["--dry-run", "-d", "a"]).end == .exit(74))
        #expect(try tree(small.path) == [])
    }
}
