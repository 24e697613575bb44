import Foundation
import TestSupport
import Testing

/// Runs `segget serve` under a real systemd of a user.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ServiceManagerTests {
    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../scripts/try-systemd.py").standardized.path

    /// The reason why this machine cannot run the test, or `nil`.
    private static let hindrance: String? = {
        guard let outcome = try? run("--check") else { return "it needs python3" }
        return outcome.end == .exit(0) ? nil : outcome.output + outcome.errorOutput
    }()

    private static func run(_ arguments: String...) throws -> Run.Outcome {
        try Run("/usr/bin/env", ["python3", script] + arguments).wait()
    }

    @Test(.enabled(if: hindrance == nil, "\(hindrance ?? "")"))
    func unitsRunService() throws {
        let outcome = try Self.run("--segget", Segget.binary())
        #expect(outcome.end == .exit(0), "\(outcome.output)\(outcome.errorOutput)")
    }
}
