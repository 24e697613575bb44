import Foundation
import Glibc
import TestSupport
import Testing

/// What the system denies a process.
///
/// The file arrives, or an error in words comes before anything is touched; no hang, no signal.
@Suite(.enabled(if: geteuid() == 0, "limits of others, and namespaces, need root"))
struct ProcessLimitTests {
    /// A limit that a shell sets before it becomes segget.
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// What the shell does first.
        var setup: String
        /// Whether it runs as a user who has no other process.
        var isUnprivileged = false
        /// Whether the file has to arrive.
        var arrives = false
    }

    static let rows: [Row] =
        ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 24, 200].map {
            Row(
                testDescription: "\($0) processes", setup: "ulimit -u \($0)", isUnprivileged: true,
                arrives: $0 >= 200)
        })
        + [200_000, 300_000, 500_000, 800_000, 4_000_000].map {
            Row(
                testDescription: "\($0) KiB of addresses", setup: "ulimit -v \($0)",
                arrives: $0 >= 4_000_000)
        }
        + ["/proc", "/dev/shm", "/tmp", "/dev"].map { place in
            Row(
                testDescription: "no \(place)",
                setup: place == "/tmp" ? "true" : "mount -t tmpfs none \(place)", arrives: true)
        }
        + [Row(testDescription: "24 descriptors", setup: "ulimit -n 24")]

    @Test(.timeLimit(.minutes(5)), arguments: rows) func arrivesOrSaysWhyNot(row: Row) throws {
        let stage = try BatchStage(size: 1000)
        chmod(stage.folder, 0o777)
        let shell =
            "\(row.setup) && exec \(try Segget.binary()) -d \(stage.folder) "
            + stage.origin.url("/d/f.bin")
        let user = "\(61_000 + getpid() % 1000)"
        let prefix =
            row.isUnprivileged
            ? ["/usr/bin/setpriv", "--reuid", user, "--regid", user, "--clear-groups"]
            : ["/usr/bin/unshare", "-m"]
        // A hang is what this ends.
        let outcome = try ChildProcess.run(
            prefix[0], Array(prefix.dropFirst()) + ["/bin/bash", "-c", shell], in: stage.folder,
            environment: ["SEGGET_NO_CONFIG": "1", "HOME": "/nonexistent"], timeout: 60)
        if outcome.end == .exit(0) {
            #expect(try stage.isRight("f.bin", "/d/f.bin"))
        } else {
            #expect(!row.arrives, "\(outcome.end): \(outcome.errorOutput)")
            #expect([.exit(69), .exit(73), .exit(74)].contains(outcome.end), "\(outcome)")
            #expect(outcome.errorOutput.contains("hint: "), "\(outcome.errorOutput)")
            #expect(try stage.sandbox.names().isEmpty)
        }
    }

    @Test(.timeLimit(.minutes(5))) func saysItsVersionWithoutProc() throws {
        let outcome = try ChildProcess.run(
            "/usr/bin/unshare",
            [
                "-m", "/bin/bash", "-c", "mount -t tmpfs none /proc && exec \"$0\" --version",
                try Segget.binary(),
            ], environment: ["SEGGET_NO_CONFIG": "1"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(outcome.output.hasPrefix("segget "), "\(outcome.output)")
    }
}
