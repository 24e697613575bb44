import Foundation
import Glibc
import TestSupport

/// A mounted file system that lacks features, as some real ones do.
///
/// `Tests/Shims/lacking.py` serves a folder of a sandbox by FUSE, and lists its options. Mounting
/// needs root and `/dev/fuse`.
final class LackingDisk: Sendable {
    /// Whether such a file system can be mounted here.
    static let isPossible = geteuid() == 0 && access("/dev/fuse", R_OK | W_OK) == 0

    /// Absolute path of the mount point.
    let path: String
    private let sandbox: Sandbox
    private let process: Run

    /// Mounts an empty file system.
    init(_ options: [String]) throws {
        sandbox = try Sandbox("segget-lacking")
        path = sandbox.path("mount")
        for name in ["mount", "root"] { mkdir(sandbox.path(name), 0o700) }
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Shims/lacking.py").standardizedFileURL.path
        process = try Run(
            "/usr/bin/python3", [script, sandbox.path("root"), path] + options)
        let (process, path, here) = (process, path, Self.device(sandbox.path))
        guard process.waits(until: { Self.device(path) != here }) else {
            throw Unexpected(text: "no FUSE mount: \(process.errorOutput)")
        }
    }

    deinit {
        _ = umount2(path, Int32(MNT_DETACH))
        process.signal(SIGTERM)
        _ = try? process.wait()
    }

    private static func device(_ path: String) -> dev_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_dev : nil
    }
}

/// Runs a program in a sandbox that denies system calls: `Tests/Shims/deny.c`, built once.
enum Denial {
    private static let sandbox = Result { try Sandbox("segget-deny") }
    private static let program = Result { try build() }

    /// The words of the command before the program's path.
    static func prefix(_ calls: [String], errno code: Int32) throws -> [String] {
        [try program.get(), "\(code)", calls.joined(separator: ",")]
    }

    private static func build() throws -> String {
        let program = try sandbox.get().path("deny")
        // All tests share this folder, so it is removed at the end of the process.
        atexit { try? Denial.sandbox.get().close() }
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Shims/deny.c").standardizedFileURL.path
        let outcome = try Run(
            "/bin/sh",
            [
                "-c",
                "exec \"$(command -v clang || command -v cc)\" -Wall -Werror -O1 -o \"$0\" \"$1\"",
                program, source,
            ]
        ).wait()
        guard outcome.end == .exit(0) else { throw Unexpected(text: outcome.errorOutput) }
        return program
    }
}
