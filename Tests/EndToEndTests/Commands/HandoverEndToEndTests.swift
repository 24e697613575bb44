import Foundation
import TestSupport
import Testing

/// Tests that `segget` executes `segget-manager` if that is installed next to it, and only then.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct HandoverEndToEndTests {
    /// A program that prints its process ID, folder, environment and arguments.
    private static let script = """
        #!/bin/sh
        printf '%s\\n' "$$" "$PWD" "$MARK" "$@"
        exit 7

        """

    /// A folder with the program in `usr/bin`, and `other` at the front of `PATH`.
    private struct Stage {
        let sandbox: Sandbox
        let program: String

        init() throws {
            sandbox = try Sandbox()
            for folder in ["usr/bin", "usr/libexec/segget", "other", "work"] {
                try FileManager.default.createDirectory(
                    atPath: sandbox.path(folder), withIntermediateDirectories: true)
            }
            program = sandbox.path("usr/bin/segget")
            try FileManager.default.copyItem(atPath: Segget.binary(), toPath: program)
            // segget does not search `PATH`, which is not trusted.
            try install("other", script: "#!/bin/sh\necho wrong\n")
        }

        func install(_ folder: String, script: String, mode: Int = 0o755) throws {
            let path = try sandbox.write("\(folder)/segget-manager", script)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }

        func run(_ arguments: [String], program: String? = nil) throws -> Run.Outcome {
            try start(arguments, program: program).wait()
        }

        func start(_ arguments: [String], program: String? = nil) throws -> Run {
            let environment = [
                "MARK": "a mark", "PATH": "\(sandbox.path("other")):/usr/bin:/bin",
                "HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent",
            ]
            return try Run(
                program ?? self.program, arguments, in: sandbox.path("work"),
                environment: environment)
        }
    }

    @Test(arguments: ["usr/bin", "usr/libexec/segget"])
    func managerReceivesArgumentsAndEnvironment(folder: String) throws {
        let stage = try Stage()
        try stage.install(folder, script: Self.script)
        let arguments = ["add", "http://127.0.0.1/f", "", "--tag", "a b"]
        let process = try stage.start(arguments)
        let outcome = try process.wait()
        let lines = outcome.output.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(outcome.end == .exit(7), "\(outcome.errorOutput)")
        #expect(
            lines.map(String.init)
                == ["\(process.pid)", stage.sandbox.path("work"), "a mark"] + arguments + [""])
    }

    /// The manager is found relative to the program, not to a link to it.
    @Test func linkToSeggetFindsManager() throws {
        let stage = try Stage()
        try stage.install("usr/libexec/segget", script: Self.script)
        let link = stage.sandbox.path("other/fetch")
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: stage.program)
        let outcome = try stage.run(["--no-config", "list"], program: link)
        #expect(outcome.end == .exit(7), "\(outcome.errorOutput)")
        #expect(outcome.output.hasSuffix("\n--no-config\nlist\n"))
    }

    @Test func queueCommandsReportMissingManager() throws {
        let stage = try Stage()
        for arguments in [["list"], ["-q", "list"], ["help", "list"]] {
            let outcome = try stage.run(arguments)
            #expect(outcome.end == .exit(69))
            #expect(outcome.output.isEmpty)
            let errors = outcome.errorOutput
            #expect(errors.hasPrefix("error: `segget list` needs the program `segget-manager`"))
            #expect(errors.contains(stage.sandbox.path("usr/bin/segget-manager")))
            #expect(errors.contains(stage.sandbox.path("usr/libexec/segget/segget-manager")))
        }
    }

    @Test func helpWorksWithoutManager() throws {
        let stage = try Stage()
        for arguments in [
            ["--help"], ["help"], ["help", "get"], ["help", "network"],
            ["--generate-completion-script", "bash"], ["--experimental-dump-help"],
        ] {
            let outcome = try stage.run(arguments)
            #expect(outcome.end == .exit(0), "\(arguments)")
            #expect(outcome.output.count > 100, "\(arguments)")
        }
        #expect(try stage.run(["--wibble", "list"]).end == .exit(64))
    }

    @Test func reportsManagerThatCannotBeStarted() throws {
        let stage = try Stage()
        try stage.install("usr/libexec/segget", script: Self.script, mode: 0o644)
        let outcome = try stage.run(["list"])
        #expect(outcome.end == .exit(69))
        #expect(outcome.errorOutput.contains("libexec/segget/segget-manager` cannot be started"))
        #expect(outcome.errorOutput.contains("Permission denied"))
    }

    /// Commands without a queue do not start the manager.
    @Test func downloadsDoNotStartManager() throws {
        let stage = try Stage()
        try stage.install("usr/bin", script: Self.script)
        for arguments in [
            ["--version"], ["get", "--help"], ["verify", "list"],
            ["-o", "list", "ftp://127.0.0.1/f"],
        ] {
            #expect(try stage.run(arguments).end != .exit(7))
        }
    }

    /// The manager from the same build has all commands of segget.
    @Test func managerHasAllCommandsOfSegget() throws {
        let own = try Segget.binary()
        let manager = URL(filePath: own).deletingLastPathComponent().appending(
            path: "segget-manager"
        ).path
        let sandbox = try Sandbox()
        for arguments in [["--version"], ["--help"], ["help", "get"]] {
            let (one, other) = (
                try Run(own, arguments, in: sandbox.path).wait(),
                try Run(manager, arguments, in: sandbox.path).wait()
            )
            #expect(one.end == .exit(0) && other.end == .exit(0))
            #expect(one.output == other.output)
        }
        let trial = try WireTrial(size: 1000)
        let outcome = try Run(
            manager, ["get", trial.origin.url("/file.bin"), "--no-config"], in: sandbox.path
        ).wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try sandbox.names() == ["file.bin"])
    }
}
