import Foundation
import TestSupport

/// The `curl` command, as a reference client.
enum Curl {
    /// The result of curl.
    struct Reply {
        let exitCode: Int32?
        /// The header section of the last reply, unchanged.
        let head: String
        let body: [UInt8]
        let seconds: Double
        /// Connections that curl opened.
        let connections: Int
        let status: Int

        func header(_ name: String) -> String? {
            head.components(separatedBy: "\r\n").first {
                $0.lowercased().hasPrefix(name.lowercased() + ": ")
            }.map { String($0.dropFirst(name.count + 2)) }
        }
    }

    /// Runs curl; the test checks its exit code.
    static func get(_ arguments: String..., timeout: Double = 120) throws -> Reply {
        let sandbox = try Sandbox("segget-curl")
        let outcome = try Run(
            "/usr/bin/curl",
            ["-q", "-sS", "-D", "head", "-w", "%{stderr}facts: %{http_code} %{num_connects}\n"]
                + arguments, in: sandbox.path
        ).wait(timeout: timeout)
        let head = (try? sandbox.read("head")).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let facts = outcome.errorOutput.split(separator: "\n").filter { $0.hasPrefix("facts:") }
            .map { $0.split(separator: " ").compactMap { Int($0) } }
        return Reply(
            exitCode: outcome.exitCode, head: head, body: outcome.standardOutput,
            seconds: outcome.wallSeconds, connections: facts.reduce(0) { $0 + $1[1] },
            status: facts.last?[0] ?? 0)
    }
}
