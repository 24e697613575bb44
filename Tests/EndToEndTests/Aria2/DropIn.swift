import Foundation
import Glibc
import TestSupport

/// The program under its names as a drop-in for aria2c, as `make install` installs them.
///
/// A separate folder has it as `aria2c`, for programs that search `PATH`.
final class DropIn: Sendable {
    /// The paths at which it is installed, below the prefix.
    static let names = ["bin/segget-aria2c", "libexec/segget/aria2c"]

    private let prefix: Sandbox

    init() throws {
        prefix = try Sandbox("segget-prefix")
        let links = [
            ("bin/segget", try Segget.binary()), ("bin/segget-aria2c", "segget"),
            ("libexec/segget/aria2c", "../../bin/segget"), ("path/aria2c", "../bin/segget"),
        ]
        let files = FileManager.default
        for (name, target) in links {
            let path = URL(fileURLWithPath: prefix.path(name))
            try files.createDirectory(
                at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
            try files.createSymbolicLink(atPath: path.path, withDestinationPath: target)
        }
    }

    /// Returns the path of one of its ``names``.
    func path(_ name: String) -> String { prefix.path(name) }

    /// A search path in which `aria2c` is the drop-in.
    var searchPath: String { "\(prefix.path("path")):/usr/bin:/bin" }

    /// Returns the running processes that a process has started, with their descendants.
    static func descendants(of pid: Int32) -> [Int32] {
        let path = "/proc/\(pid)/task/\(pid)/children"
        let children = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return children.split(separator: " ").compactMap { Int32($0) }
            .flatMap { [$0] + descendants(of: $0) }
    }

    /// Kills a program and its descendants, as a power cut would, and waits for their ends.
    ///
    /// - Returns: The number of killed processes.
    static func kill(_ process: Run) throws -> Int {
        // A stopped process starts no other.
        process.signal(SIGSTOP)
        let others = descendants(of: process.pid)
        for pid in others + [process.pid] { Glibc.kill(pid, SIGKILL) }
        _ = try process.wait()
        let areGone = eventually(timeout: 60) { others.allSatisfy { !isRunning($0) } }
        guard areGone else { throw Unexpected(text: "\(others) do not die") }
        return others.count + 1
    }

    private static func isRunning(_ pid: Int32) -> Bool {
        guard let line = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else {
            return false
        }
        // The program's name, in brackets, may have any character.
        return !(line.split(separator: ")").last?.hasPrefix(" Z") ?? true)
    }
}
