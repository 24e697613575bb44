import Foundation
import Glibc
import TestSupport
import Testing

/// Devices and files of other programs at segget's paths, and missing permissions.
struct ObstacleTests {
    private static let size: Int64 = 200_000

    @Test(
        .timeLimit(.minutes(5)), arguments: ["/dev/null", "/dev/full", "/dev/zero"],
        [[], ["--overwrite"]])
    func refusesDeviceAsDestination(device: String, arguments: [String]) throws {
        let stage = try Stage(size: Self.size)
        let outcome = try stage.run(["-o", device] + arguments)
        #expect(outcome.end == .exit(73), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("`\(device)` is not a regular file"))
        for name in ["part", "segget", "segget~"] {
            #expect(access("\(device).\(name)", F_OK) != 0)
        }
        #expect(stage.origin.bytesServed == 0)
    }

    @Test(.timeLimit(.minutes(5)), arguments: ["file.part", "file.segget", "file.segget~"])
    func refusesDeviceAtPathOfItsFiles(name: String) throws {
        let disk = try Tmpfs(size: 8 << 20)
        let stage = try Stage(size: Self.size, in: disk.path)
        // The device number of /dev/full.
        #expect(mknod(stage.path(name), S_IFCHR | 0o666, dev_t(0x107)) == 0)
        for arguments in [[], ["--overwrite"]] {
            let outcome = try stage.run(arguments)
            #expect(outcome.end == .exit(73), "\(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains("`\(name)` is not a regular file"))
            #expect(try stage.names() == [name])
        }
    }

    /// segget rewrites the manifest through this path, and must not remove other things there.
    @Test(.timeLimit(.minutes(5)), arguments: DestinationTests.Obstacle.allCases)
    func refusesRewritePathThatIsNotRegularFile(obstacle: DestinationTests.Obstacle) throws {
        let stage = try Stage(size: Self.size)
        try obstacle.make(at: stage.path("file.segget~"))
        let names = try stage.names()
        let before = try stage.status(of: "file.segget~")
        for arguments in [["-o", "file"], ["-o", "file", "--overwrite"]] {
            let outcome = try stage.run(arguments)
            #expect(outcome.end == .exit(73), "\(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains("`file.segget~` is not a regular file"))
            #expect(try stage.names() == names)
            #expect(try stage.status(of: "file.segget~").st_ino == before.st_ino)
        }
    }

    static let rewrites: [(text: String, isOurs: Bool)] = [
        ("", true), ("{", true), ("{\"et", true), ("{\"etag\":\"\\\"v1\\\"\",\"gener", true),
        ("{\"generation\":\"0123", true), ("\0\0\0\0", true), ("my notes", false),
        ("{\"name\": 1}", false), ("\n", false),
    ]

    /// segget removes what a crashed rewrite may have left.
    ///
    /// Other files need `--overwrite`.
    @Test(.timeLimit(.minutes(5)), arguments: rewrites)
    func removesOnlyItsUnfinishedRewrite(text: String, isOurs: Bool) throws {
        let stage = try Stage(size: Self.size)
        try stage.write(text.utf8, to: "file.segget~")
        if !isOurs {
            let outcome = try stage.run()
            #expect(outcome.end == .exit(73), "\(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains("`file.segget~` was not made by segget"))
            #expect(try stage.read("file.segget~") == Array(text.utf8))
            #expect(try stage.names() == ["file.segget~"])
        }
        let outcome = try stage.run(isOurs ? [] : ["--overwrite"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }

    /// Runs segget as root without the capabilities that ignore file modes.
    private func runWithoutPower(
        _ stage: Stage, _ arguments: [String] = []
    ) throws -> Run.Outcome {
        try Run(
            "/usr/bin/setpriv",
            ["--bounding-set=-dac_override,-dac_read_search", try Segget.binary()] + arguments,
            in: stage.folder,
            environment: ["HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent"]
        ).wait()
    }

    enum Lack: String, CaseIterable, Sendable {
        case folderNotWritable, folderNotSearchable, partNotWritable, manifestNotReadable
    }

    @Test(.timeLimit(.minutes(5)), arguments: Lack.allCases)
    func reportsMissingPermission(lack: Lack) throws {
        let stage = try Stage(size: Self.size)
        let sub = stage.path("sub")
        #expect(mkdir(sub, 0o700) == 0)
        var expected = "sub/file"
        switch lack {
        case .folderNotWritable: #expect(chmod(sub, 0o500) == 0)
        case .folderNotSearchable: #expect(chmod(sub, 0o600) == 0)
        case .partNotWritable:
            expected = "sub/file.part"
            try stage.write("x".utf8, to: expected)
            #expect(chmod(stage.path(expected), 0o400) == 0)
        case .manifestNotReadable:
            expected = "sub/file.segget"
            try stage.write("x".utf8, to: expected)
            #expect(chmod(stage.path(expected), 0o200) == 0)
        }
        let before = try FileManager.default.contentsOfDirectory(atPath: sub)
        let outcome = try runWithoutPower(stage, ["-d", "sub", stage.origin.url("/file")])
        #expect(outcome.end == .exit(73), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("Permission denied"), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("`\(expected)"), "\(outcome.errorOutput)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: sub) == before)
        #expect(stage.origin.bytesServed <= 1)
    }

    /// The user may give any name that the file system accepts.
    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            " leading", "trailing ", "a\nb", "a\u{1b}[31mb", "-rf", "#", "%2F", "\u{202e}gpj.exe",
            "ü\u{308}", "$(id)", "'\"`", "*", "~",
        ])
    func savesUnderAnyGivenName(name: String) throws {
        let stage = try Stage(size: Self.size)
        let outcome = try stage.run(["--output=./\(name)"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.names() == [name])
        #expect(try stage.isRight(name))
        // segget prints no control characters of the name.
        #expect(!outcome.errorOutput.contains("\u{1b}"))
        #expect(!outcome.errorOutput.contains("a\nb"))
    }
}
