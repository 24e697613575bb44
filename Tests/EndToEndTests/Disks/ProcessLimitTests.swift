import Foundation
import Glibc
import TestSupport
import Testing

/// Resources that the system denies a process.
///
/// The download completes, or it fails with a message before it creates a file. It does not hang,
/// and no signal ends it.
@Suite(.enabled(if: geteuid() == 0, "limits of others, and namespaces, need root"))
struct ProcessLimitTests {
    /// A limit that a shell sets before it executes segget.
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// The shell's commands that set the limit; `$folder` is the destination.
        var setup: String
        /// Whether segget runs as a user without other processes.
        var isUnprivileged = false
        /// Whether the download must complete.
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
        + ["/proc", "/dev/shm", "/dev"].map { place in
            Row(
                testDescription: "no \(place)", setup: "mount -t tmpfs none \(place)",
                arrives: true)
        }
        + [
            Row(
                testDescription: "no /tmp",
                setup: "mount --bind $folder /mnt && mount -t tmpfs -o ro none /tmp && folder=/mnt",
                arrives: true),
            Row(
                testDescription: "a root that is read-only",
                setup: "mount --bind $folder /mnt && mount -o remount,bind,ro / && folder=/mnt",
                arrives: true),
            Row(testDescription: "24 descriptors", setup: "ulimit -n 24"),
            Row(testDescription: "files of 1,000 KiB", setup: "ulimit -f 1000", arrives: true),
            Row(testDescription: "files of no bytes", setup: "ulimit -f 0"),
        ]

    @Test(.timeLimit(.minutes(5)), arguments: rows) func completesOrReportsLimit(row: Row) throws {
        try check(row)
    }

    /// Containers' seccomp profiles that do not know newer system calls.
    @Test(.timeLimit(.minutes(5)), arguments: [ENOSYS, EPERM]) func completesWithoutNewerCalls(
        code: Int32
    )
        throws
    {
        // If clone3 fails with EPERM instead of ENOSYS, glibc starts no thread.
        for call in ["clone3", "statx", "openat2", "clone3,statx,openat2"] {
            try check(
                Row(
                    testDescription: "\(call) \(code)", setup: "true",
                    arrives: code == ENOSYS || !call.contains("clone3")),
                within: try Denial.prefix(call.split(separator: ",").map(String.init), errno: code))
        }
    }

    /// A control group that allows few processes or little memory.
    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            ("pids", "4", false), ("pids", "8", false), ("pids", "100", true),
            ("memory", "\(40 << 20)", true),
        ])
    func completesInControlGroup(controller: String, limit: String, arrives: Bool) throws {
        guard let group = ControlGroup(controller, limit: limit) else { return }
        try check(
            Row(
                testDescription: "\(controller) \(limit)",
                setup: "echo $$ > \(group.path)/cgroup.procs", arrives: arrives),
            size: 30_000_000)
    }

    /// Downloads a file within a limit.
    ///
    /// - Parameters:
    ///   - row: The limit.
    ///   - size: Size of the file, in bytes.
    ///   - wrapper: Words of the command before segget's path.
    /// - Throws: Errors of the test's set-up.
    private func check(_ row: Row, size: Int64 = 1000, within wrapper: [String] = []) throws {
        let stage = try BatchStage(size: size)
        chmod(stage.folder, 0o777)
        let shell =
            "folder=\(stage.folder); \(row.setup) && exec "
            + (wrapper + [try Segget.binary()]).joined(separator: " ")
            + " -d $folder \(stage.origin.url("/d/f.bin"))"
        let user = "\(61_000 + getpid() % 1000)"
        let prefix =
            row.isUnprivileged
            ? ["/usr/bin/setpriv", "--reuid", user, "--regid", user, "--clear-groups"]
            : ["/usr/bin/unshare", "-m"]
        // The timeout ends a hang.
        let outcome = try Run(
            prefix[0], Array(prefix.dropFirst()) + ["/bin/bash", "-c", shell], in: stage.folder,
            environment: ["SEGGET_NO_CONFIG": "1", "HOME": "/nonexistent"]
        ).wait(timeout: 60)
        if outcome.end == .exit(0) {
            #expect(try stage.isRight("f.bin", "/d/f.bin"))
        } else {
            #expect(!row.arrives, "\(outcome.end): \(outcome.errorOutput)")
            #expect([.exit(69), .exit(73), .exit(74)].contains(outcome.end), "\(outcome)")
            #expect(outcome.errorOutput.contains("hint: "), "\(outcome.errorOutput)")
            #expect(try stage.sandbox.names().isEmpty)
        }
    }

    @Test(.timeLimit(.minutes(5))) func printsVersionWithoutProc() throws {
        let outcome = try Run(
            "/usr/bin/unshare",
            [
                "-m", "/bin/bash", "-c", "mount -t tmpfs none /proc && exec \"$0\" --version",
                try Segget.binary(),
            ], environment: ["SEGGET_NO_CONFIG": "1"]
        ).wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(outcome.output.hasPrefix("segget "), "\(outcome.output)")
    }
}

/// A control group (cgroups(7)) of either version, which `deinit` removes.
private final class ControlGroup {
    let path: String

    /// Creates the group; `nil` if that is not possible, as in most containers.
    init?(_ controller: String, limit: String) {
        let root = "/sys/fs/cgroup"
        let (parent, file) =
            access("\(root)/\(controller)/cgroup.procs", W_OK) == 0
            ? ("\(root)/\(controller)", controller == "pids" ? "pids.max" : "memory.limit_in_bytes")
            : (root, "\(controller).max")
        path = "\(parent)/segget-test-\(getpid())-\(UInt32.random(in: 0...(.max)))"
        guard mkdir(path, 0o755) == 0 else { return nil }
        guard
            (try? limit.write(toFile: "\(path)/\(file)", atomically: false, encoding: .utf8)) != nil
        else {
            rmdir(path)
            return nil
        }
    }

    deinit { rmdir(path) }
}
