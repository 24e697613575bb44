import Foundation
import Glibc
import TestSupport

/// A terminal of a given size, made by tmux, in which one command runs.
final class Screen: Sendable {
    private let sandbox: Sandbox
    private let folder: String

    /// Runs a command; `environment` is put in front of it, as a shell takes it.
    init(
        _ command: [String], in folder: String, width: Int, height: Int = 24,
        environment: String = "LC_ALL=C.UTF-8"
    ) throws {
        sandbox = try Sandbox("segget-tmux")
        self.folder = folder
        // The shell says how the command ended, and keeps the screen.
        let quoted = command.map { "'\($0)'" }.joined(separator: " ")
        try tmux([
            "-f", "/dev/null", "new-session", "-d", "-x", "\(width)", "-y", "\(height)", "-c",
            folder, "\(environment) \(quoted); echo code $?; exec sleep 600",
        ])
    }

    deinit { _ = try? tmux(["kill-server"]) }

    @discardableResult
    private func tmux(_ arguments: [String]) throws -> String {
        let outcome = try ChildProcess.run(
            "/usr/bin/tmux", ["-S", sandbox.path("socket")] + arguments, in: folder,
            environment: ["TERM": "xterm-256color", "LC_ALL": "C.UTF-8"], timeout: 60)
        guard outcome.end == .exit(0) else { throw Unexpected(text: outcome.errorOutput) }
        return outcome.output
    }

    /// The lines on the screen that are not empty.
    func lines() throws -> [String] {
        try tmux(["capture-pane", "-p"]).split(separator: "\n").map(String.init)
            .filter { !$0.allSatisfy { $0 == " " } }
    }

    /// All of the screen, with lines that the terminal broke put together.
    func text() throws -> String { try tmux(["capture-pane", "-p", "-J"]) }

    /// The screen and all that has scrolled out of it, with colours as escape sequences.
    func history() throws -> String { try tmux(["capture-pane", "-p", "-J", "-e", "-S", "-"]) }

    /// The same, for comments.
    var shown: String { (try? history()) ?? "" }

    func resize(width: Int, height: Int = 24) throws {
        try tmux(["resize-window", "-x", "\(width)", "-y", "\(height)"])
    }

    /// Presses a key, as tmux names it.
    func press(_ key: String) throws { try tmux(["send-keys", key]) }
}
