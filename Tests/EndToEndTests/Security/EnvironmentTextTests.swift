import Foundation
import Glibc
import TestSupport
import Testing

/// Paths and variables that are not UTF-8, which Swift's strings would change.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct EnvironmentTextTests {
    /// Runs `script` and then segget in a folder whose name is not UTF-8.
    private func run(
        _ arguments: [String], in sandbox: Sandbox, _ script: String = ""
    ) throws -> Run.Outcome {
        let enter = #"d="$(printf 'caf\351')"; mkdir -p "$d"; cd "$d"; "#
        return try Run(
            "/bin/sh",
            ["-c", enter + script + #" exec "$0" "$@""#, try Segget.binary()] + arguments,
            in: sandbox.path,
            environment: [
                "HOME": sandbox.path, "SEGGET_NO_CONFIG": "1", "XDG_STATE_HOME": "/dev/null/x",
            ]
        ).wait(timeout: 120)
    }

    /// The names in the sandbox, as bytes.
    private func names(_ sandbox: Sandbox) throws -> [[UInt8]] {
        let list = try Run("/bin/ls", ["-A", sandbox.path]).wait()
        return list.standardOutput.split(separator: UInt8(ascii: "\n")).map(Array.init).filter {
            $0 != Array("home".utf8)
        }
    }

    private static let folder = Array("caf".utf8) + [0xe9]

    /// segget once created a second folder, with U+FFFD in its name, and reported success.
    @Test(arguments: [[], ["-d", "x"], ["-d", "."], ["-o", "x"]])
    func queueRefusesFolderThatIsNotUTF8(options: [String]) throws {
        let (sandbox, origin) = (try Sandbox(), try Origin { _ in .text(200) })
        let queue = sandbox.path("q.sqlite")
        let outcome = try run(
            ["add", "--queue", queue, origin.url("/f")] + options, in: sandbox)
        #expect(outcome.end == .exit(64), "\(outcome.errorOutput)")
        #expect(
            outcome.errorOutput.contains("current folder is not UTF-8"), "\(outcome.errorOutput)")
        #expect(try names(sandbox) == [Self.folder])
        // With an absolute `--directory`, the current folder does not matter.
        let elsewhere = try run(
            ["add", "--queue", queue, origin.url("/f"), "-d", sandbox.path], in: sandbox)
        #expect(elsewhere.end == .exit(0), "\(elsewhere.errorOutput)")
    }

    @Test func queueRefusesLinkToFolderThatIsNotUTF8() throws {
        let (sandbox, origin) = (try Sandbox(), try Origin { _ in .text(200) })
        let outcome = try run(
            [
                "add", "--queue", sandbox.path("q.sqlite"), origin.url("/f"), "-d",
                sandbox.path("link"),
            ], in: sandbox, #"ln -s "$PWD" ../link;"#)
        #expect(outcome.end == .exit(64), "\(outcome.errorOutput)")
    }

    @Test func getSavesInFolderThatIsNotUTF8() throws {
        let sandbox = try Sandbox()
        let content = Content(size: 300_000, seed: 1)
        let origin = try Origin { .file(content, for: $0, etag: "\"a\"") }
        let outcome = try run(["-d", "x", origin.url("/f")], in: sandbox)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try names(sandbox) == [Self.folder])
    }

    @Test(arguments: [
        "SEGGET_DIRECTORY", "SEGGET_QUEUE", "SEGGET_CONFIG",
    ])
    func refusesVariablesThatAreNotUTF8(variable: String) throws {
        let sandbox = try Sandbox()
        let outcome = try run(
            ["get", "http://127.0.0.1:1/"], in: sandbox, "export \(variable)=\"$PWD/x\";")
        #expect(outcome.end == .exit(64), "\(outcome.errorOutput)")
        #expect(
            outcome.errorOutput.contains("`\(variable)` is not UTF-8"), "\(outcome.errorOutput)")
    }

    @Test func getWorksIfHomeIsNotUTF8() throws {
        let sandbox = try Sandbox()
        let content = Content(size: 300_000, seed: 1)
        let origin = try Origin { .file(content, for: $0, etag: "\"a\"") }
        let script = "unset SEGGET_NO_CONFIG XDG_STATE_HOME; export HOME=\"$PWD\"; cd ..;"
        let get = try run([origin.url("/f")], in: sandbox, script)
        #expect(get.end == .exit(0), "\(get.errorOutput)")
        #expect(get.errorOutput.contains("`HOME` is not UTF-8"), "\(get.errorOutput)")
        let add = try run(["add", origin.url("/g")], in: sandbox, script)
        #expect(add.end == .exit(64), "\(add.errorOutput)")
        #expect(try names(sandbox) == [Self.folder, Array("f".utf8)])
    }
}
