import Foundation
import Glibc
import TestSupport

/// A terminal of a given size in tmux, in which one command runs.
final class Screen: Sendable {
    private let sandbox: Sandbox
    private let folder: String

    /// Runs a command; `environment` precedes it, in the shell's syntax.
    init(
        _ command: [String], in folder: String, width: Int, height: Int = 24,
        environment: String = "LC_ALL=C.UTF-8"
    ) throws {
        sandbox = try Sandbox("segget-tmux")
        self.folder = folder
        // The shell prints the exit code, and keeps the screen open.
        let quoted = command.map { "'\($0)'" }.joined(separator: " ")
        try tmux([
            "-f", "/dev/null", "new-session", "-d", "-x", "\(width)", "-y", "\(height)", "-c",
            folder, "\(environment) \(quoted); echo code $?; exec sleep 600",
        ])
    }

    deinit { _ = try? tmux(["kill-server"]) }

    @discardableResult
    private func tmux(_ arguments: [String]) throws -> String {
        let outcome = try Run(
            "/usr/bin/tmux", ["-S", sandbox.path("socket")] + arguments, in: folder,
            environment: ["TERM": "xterm-256color", "LC_ALL": "C.UTF-8"]
        ).wait(timeout: 60)
        guard outcome.end == .exit(0) else { throw Unexpected(text: outcome.errorOutput) }
        return outcome.output
    }

    /// Returns the non-empty lines on the screen.
    func lines() throws -> [String] {
        try tmux(["capture-pane", "-p"]).split(separator: "\n").map(String.init)
            .filter { !$0.allSatisfy { $0 == " " } }
    }

    /// Returns the screen's text; lines that the terminal wrapped are joined.
    func text() throws -> String { try tmux(["capture-pane", "-p", "-J"]) }

    /// Returns the screen and the lines that scrolled out of it, with colours as escape sequences.
    func history() throws -> String { try tmux(["capture-pane", "-p", "-J", "-e", "-S", "-"]) }

    /// The same as `history`, for the comments of expectations.
    var shown: String { (try? history()) ?? "" }

    func resize(width: Int, height: Int = 24) throws {
        try tmux(["resize-window", "-x", "\(width)", "-y", "\(height)"])
    }

    /// Presses a key; `key` is its name in tmux.
    func press(_ key: String) throws { try tmux(["send-keys", key]) }
}
