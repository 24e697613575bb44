import TestSupport
import Testing

/// The password prompt, on a real terminal.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct PasswordPromptTests {
    /// A terminal of tmux in which segget runs.
    private final class Terminal: Sendable {
        private let sandbox: Sandbox
        private let folder: String

        init(_ command: String, in folder: String) throws {
            sandbox = try Sandbox("segget-tmux")
            self.folder = folder
            // The shell survives Ctrl-C, prints segget's exit code, and shows whether echo is on
            // again.
            let script =
                "trap : INT; \(command); echo code $?; stty -a | grep -o ' echo '; exec sleep 600"
            try tmux([
                "-f", "/dev/null", "new-session", "-d", "-x", "200", "-y", "24", "-c", folder,
                script,
            ])
        }

        deinit { _ = try? tmux(["kill-server"]) }

        func type(_ keys: String...) throws { try tmux(["send-keys"] + keys) }

        func text() throws -> String { try tmux(["capture-pane", "-p", "-J"]) }

        @discardableResult
        private func tmux(_ arguments: [String]) throws -> String {
            let outcome = try Run(
                "/usr/bin/tmux", ["-S", sandbox.path("socket")] + arguments, in: folder,
                environment: ["TERM": "xterm-256color", "LC_ALL": "C.UTF-8"]
            ).wait(timeout: 60)
            guard outcome.end == .exit(0) else { throw Unexpected(text: outcome.errorOutput) }
            return outcome.output
        }
    }

    private func terminal(_ trial: WireTrial) throws -> Terminal {
        let terminal = try Terminal(
            "'\(Segget.binary())' \(trial.origin.url("/dir/file.bin")) -u me",
            in: trial.sandbox.path)
        #expect(
            try eventually(timeout: 120) { try terminal.text().contains("Password for me:") })
        return terminal
    }

    @Test func typedPasswordIsSentAndNotShown() throws {
        let trial = try WireTrial { request, reply in
            if request.header("Authorization") != "Basic bWU6aHVzaA==" { reply = .text(401) }
        }
        let terminal = try terminal(trial)
        #expect(trial.origin.requests.isEmpty)
        try terminal.type("hush", "Enter")
        #expect(try eventually(timeout: 120) { try terminal.text().contains(" echo ") })
        let text = try terminal.text()
        #expect(text.contains("code 0"), "\(text)")
        #expect(!text.contains("hush"), "\(text)")
        #expect(try trial.content.firstDifference(at: trial.sandbox.path("file.bin")) == nil)
    }

    /// Ctrl-C stops segget, and the terminal echoes input again.
    @Test func interruptRestoresTerminal() throws {
        let trial = try WireTrial()
        let terminal = try terminal(trial)
        try terminal.type("hush", "C-c")
        #expect(try eventually(timeout: 120) { try terminal.text().contains(" echo ") })
        let text = try terminal.text()
        #expect(text.contains("code 130"), "\(text)")
        #expect(!text.contains("hush"), "\(text)")
        #expect(trial.origin.requests.isEmpty)
    }
}
