import Foundation
import TestSupport
import Testing

/// The hooks `--on-complete` and `--on-error`.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct HookEndToEndTests {
    /// A hook that writes its variables, input and arguments to files of the folder.
    private static let recorder = """
        #!/bin/sh
        env | grep SEGGET_ | sort > "$1/variables"
        cat > "$1/input"
        grep SigBlk /proc/self/status > "$1/blocked"
        grep SigIgn /proc/self/status > "$1/ignored"
        ls /proc/$$/fd > "$1/descriptors"
        printf '%s|' "$@" > "$1/arguments"
        echo said by the command
        """

    /// Returns a folder with the recorder, and the command that runs it.
    private func makeRecorder() throws -> (Sandbox, String) {
        let sandbox = try Sandbox()
        let path = try sandbox.write("record", Self.recorder)
        chmod(path, 0o755)
        return (sandbox, "\(path) '\(sandbox.path)' 'two words' \"$HOME\" ''")
    }

    private func text(_ sandbox: Sandbox, _ name: String) throws -> String {
        String(decoding: try sandbox.read(name), as: UTF8.self)
    }

    private func variables(_ sandbox: Sandbox) throws -> [String: String] {
        let lines = try text(sandbox, "variables").split(separator: "\n")
        let pairs = lines.map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
        return Dictionary(uniqueKeysWithValues: pairs.map { ($0[0], $0.count > 1 ? $0[1] : "") })
    }

    @Test func onCompleteReceivesResult() throws {
        let (sandbox, command) = try makeRecorder()
        let stage = try Stage(size: 100_000)
        let outcome = try Run(
            [
                stage.origin.url("/file?token=hush"), "--on-complete", command, "--on-error",
                "false", "--json",
            ], in: stage.folder,
            environment: ["SEGGET_HEADER": "X: hush", "SEGGET_CHECKSUM": ""]
        ).wait()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        let facts = try variables(sandbox)
        #expect(facts["SEGGET_TASK_EVENT"] == "complete")
        #expect(facts["SEGGET_TASK_PATH"] == "file")
        #expect(facts["SEGGET_TASK_SIZE"] == "100000")
        #expect(facts["SEGGET_TASK_STATUS"] == "0")
        #expect(facts["SEGGET_TASK_URL"] == stage.origin.url("/file"))
        #expect(facts["SEGGET_TASK_CRC32"]?.count == 8)
        #expect(facts.keys.allSatisfy { $0.hasPrefix("SEGGET_TASK_") }, "\(facts)")
        #expect(!facts.values.contains { $0.contains("hush") })
        let input = try #require(try jsonEvents(try text(sandbox, "input")).first)
        #expect(input["event"] as? String == "finished")
        #expect(input["size"] as? Int == 100_000)
        // The hook inherits no descriptor, and no blocked or ignored signal.
        #expect(try text(sandbox, "blocked").hasSuffix("\t0000000000000000\n"))
        // glibc leaves its internal signals, 32 and 33, ignored in every child that it spawns.
        let ignored = try text(sandbox, "ignored").split(whereSeparator: \.isWhitespace).last ?? ""
        #expect(UInt64(ignored, radix: 16).map { $0 & ~0x1_8000_0000 } == 0, "\(ignored)")
        // The shell uses descriptors from 10 on itself.
        let open = try text(sandbox, "descriptors").split(separator: "\n").compactMap { Int($0) }
        #expect(open.filter { $0 < 10 }.sorted() == [0, 1, 2], "\(open)")
        #expect(try text(sandbox, "arguments") == "\(sandbox.path)|two words|$HOME||")
        // Standard output is for JSON only.
        #expect(outcome.errorOutput.contains("said by the command"))
        #expect(try jsonEvents(outcome.output).last?["event"] as? String == "finished")
    }

    @Test func onErrorReceivesError() throws {
        let (sandbox, command) = try makeRecorder()
        let stage = try Stage(size: 1000)
        stage.origin.bend { _, reply in reply = .text(404) }
        let outcome = try stage.run(["--on-error", command, "--on-complete", "false"])
        #expect(outcome.exitCode == 69)
        let facts = try variables(sandbox)
        #expect(facts["SEGGET_TASK_EVENT"] == "error")
        #expect(facts["SEGGET_TASK_KIND"] == "status")
        #expect(facts["SEGGET_TASK_STATUS"] == "69")
        #expect(facts["SEGGET_TASK_MESSAGE"]?.contains("404") == true)
        let input = try #require(try jsonEvents(try text(sandbox, "input")).first)
        #expect(input["event"] as? String == "error")
        #expect(input["kind"] as? String == "status")
    }

    @Test(arguments: [
        ("false", "ended with exit code 1"), ("/nonexistent/command", "cannot be run"),
        ("sh -c 'kill -9 $$'", "was ended by signal 9"),
        ("sh -c 'exit 3'", "ended with exit code 3"),
    ])
    func reportsFailedHookAndStillSucceeds(command: String, message: String) throws {
        let stage = try Stage(size: 1000)
        let outcome = try stage.run(["-q", "--on-complete", command])
        #expect(outcome.exitCode == 0)
        #expect(outcome.errorOutput.contains("note: the command of `--on-complete` \(message)"))
        #expect(try stage.isRight())
    }

    @Test(arguments: [" ", "'a", "\"a\\\""])
    func refusesInvalidHookCommands(command: String) throws {
        let stage = try Stage(size: 1000)
        for option in ["--on-complete", "--on-error"] {
            let outcome = try stage.run(["\(option)=\(command)"])
            #expect(outcome.exitCode == 64, "\(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains("`\(option)`"))
        }
        #expect(stage.origin.requests.isEmpty)
    }

    @Test func runsNoHookAfterASignal() throws {
        let (sandbox, command) = try makeRecorder()
        let stage = try Stage(size: 8 << 20)
        stage.origin.bendGET { $0.stallAfter = 100_000 }
        let process = try stage.start(["--on-error", command, "--on-complete", command])
        #expect(process.waits(for: 100_000))
        process.signal(SIGINT)
        let end = try process.wait()
        #expect(end.exitCode == 130, "\(end)")
        #expect(try sandbox.names() == ["record"])
    }
}
