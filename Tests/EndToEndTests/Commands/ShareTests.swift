import Foundation
import TestSupport
import Testing

/// Tests the man pages and the shell completions in `share/`.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ShareTests {
    private static let share =
        "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") + "/share"

    /// Runs a script with the built segget in `PATH`.
    private func shell(_ program: String, _ script: String) throws -> Run.Outcome {
        let folder = (try Segget.binary() as NSString).deletingLastPathComponent
        let path = "\(folder):\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")"
        return try Run(
            "/usr/bin/env", [program, "-c", script], in: Self.share,
            environment: ["PATH": path, "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"]
        ).wait(timeout: 120)
    }

    @Test(arguments: [
        ("segget -q --verb", "--verbose"),
        ("segget --conne", "--connections --connect-timeout"),
        ("segget get --remote-n", "--remote-name"),
        ("segget probe --connect-t", "--connect-timeout"), ("segget pro", "probe"),
        ("segget --progress pl", "plain"), ("segget http://h/ --connectio", "--connections"),
        ("segget help pau", "pause"), ("segget help exis", "existing-files"),
    ])
    func bashCompletes(line: String, word: String) throws {
        let words = line.split(separator: " ").map(String.init)
        let outcome = try shell(
            "bash",
            """
            source completions/segget.bash
            COMP_WORDS=(\(words.joined(separator: " "))); COMP_CWORD=\(words.count - 1)
            COMP_LINE='\(line)'; COMP_POINT=\(line.utf8.count); COMP_TYPE=9
            function=$(complete -p segget | sed 's/.*-F \\([^ ]*\\).*/\\1/')
            "$function" segget '\(words.last ?? "")' '\(words.dropLast().last ?? "")'
            printf '%s\\n' "${COMPREPLY[@]}"
            """)
        let replies = outcome.output.split(separator: "\n").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        #expect(replies.joined(separator: " ") == word, "\(outcome.output)\(outcome.errorOutput)")
    }

    @Test(arguments: [
        ("segget --conn", "--connect"), ("segget probe --retr", "--retries"),
        ("segget pro", "probe"), ("segget help pau", "pause"), ("segget help exi", "exit-codes"),
    ])
    func fishCompletes(line: String, word: String) throws {
        let outcome = try shell(
            "fish", "source completions/segget.fish; complete --do-complete '\(line)'")
        #expect(outcome.output.contains(word), "\(outcome.output)\(outcome.errorOutput)")
        #expect(outcome.errorOutput.isEmpty, "\(outcome.errorOutput)")
    }

    @Test func zshLoads() throws {
        let outcome = try shell(
            "zsh",
            """
            fpath=($PWD/completions $fpath)
            autoload -U compinit && compinit -u -D && autoload +X _segget
            print -r -- "$_comps[segget] ${functions[_segget]:+loaded}"
            """)
        #expect(outcome.output == "_segget loaded\n", "\(outcome.output)\(outcome.errorOutput)")
        let check = try shell(
            "zsh", "zsh -n completions/_segget && bash -n completions/segget.bash")
        #expect(check.exitCode == 0, "\(check.errorOutput)")
    }

    @Test func manPageIsValidAndListsEveryOption() throws {
        let lint = try shell("sh", "mandoc -Tlint -Wstyle man/*.1")
        #expect(lint.exitCode == 0 && lint.output.isEmpty, "\(lint.output)")
        let page = try shell("sh", "mandoc -Tutf8 -O width=200 man/segget.1 | col -b")
        for heading in [
            "NAME", "SYNOPSIS", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "FILES", "SIGNALS",
            "EXAMPLES", "SEGGET PROBE",
        ] {
            #expect(
                page.output.contains("\n\(heading)\n") || page.output.hasPrefix(heading),
                "\(heading)")
        }
        let help = try Run(["help", "get"], in: "/").wait().output
        let options = help.split(separator: "\n").filter { $0.hasPrefix("  -") }
            .compactMap {
                $0.split(whereSeparator: { " ,".contains($0) }).first { $0.hasPrefix("--") }
            }
        #expect(options.count > 15)
        for option in options { #expect(page.output.contains(option), "\(option)") }
    }

    @Test func shareIsCurrent() throws {
        let script = "python3 ../scripts/docs.py '\(try Segget.binary())' --check"
        let outcome = try shell("sh", script)
        #expect(outcome.exitCode == 0, "\(outcome.output)\(outcome.errorOutput)")
    }
}
