import CLinux
import Foundation
import Glibc
import TestSupport
import Testing

/// Folders with a default access control list (acl(5)).
///
/// Finished files have the rights that the kernel gives any new file there.
struct DefaultListTests {
    /// The value of `system.posix_acl_default` for the entries below.
    ///
    /// They are `user::rwx, user:12345:rwx, group::rwx, mask::rwx, other::---`.
    private static func list() -> [UInt8] {
        let entries: [(tag: UInt16, permissions: UInt16, id: UInt32)] = [
            (1, 7, .max), (2, 7, 12345), (4, 7, .max), (16, 7, .max), (32, 0, .max),
        ]
        var bytes: [UInt8] = [2, 0, 0, 0]
        for entry in entries {
            for word in [entry.tag, entry.permissions] {
                bytes += [UInt8(word & 255), UInt8(word >> 8)]
            }
            bytes += (0..<4).map { UInt8(truncatingIfNeeded: entry.id >> (8 * $0)) }
        }
        return bytes
    }

    private static func give(_ folder: String) throws {
        let list = list()
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(descriptor) }
        guard
            segget_set_attribute(descriptor, "system.posix_acl_default", list, list.count) == 0
        else { throw SystemCallError("setxattr \(folder)") }
    }

    /// Mode and access control list of a file.
    private static func rights(_ path: String) throws -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw SystemCallError("fstat \(path)") }
        var value = [UInt8](repeating: 0, count: 1024)
        let count = segget_get_attribute(
            descriptor, "system.posix_acl_access", &value, value.count)
        return [
            UInt8(status.st_mode >> 6 & 7), UInt8(status.st_mode >> 3 & 7),
            UInt8(status.st_mode & 7),
        ]
            + value.prefix(max(0, count))
    }

    /// The rights of a new file that a shell creates.
    private static func usual(_ folder: String) throws -> [UInt8] {
        _ = try Run("/bin/sh", ["-c", "umask 077; : > usual"], in: folder).wait()
        defer { unlink("\(folder)/usual") }
        return try rights("\(folder)/usual")
    }

    @Test(.timeLimit(.minutes(5)), arguments: [[], ["openat:folder:1:0:\(EOPNOTSUPP)"]])
    func fileHasDefaultListOfFolder(faults: [String]) throws {
        let stage = try Stage(size: 200_000)
        try Self.give(stage.folder)
        let goesOn = Guarded(false)
        stage.origin.bendGET {
            $0.stallAfter = 50_000
            $0.release = goesOn
        }
        let process = try Run(
            ["-x", "1", stage.origin.url("/file")], in: stage.folder,
            environment: try DiskFaults.environment(faults, in: stage.folder))
        #expect(process.waits(for: 50_000))
        // Until the file is complete, only its owner can read it.
        #expect(try stage.status(of: "file.part").st_mode & 0o777 == 0o600)
        goesOn.withLock { $0 = true }
        let outcome = try process.wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        let usual = try Self.usual(stage.folder)
        #expect(usual.prefix(3) == [6, 6, 0])
        #expect(try Self.rights(stage.path("file")) == usual)
        #expect(try stage.names() == ["file"])
    }

    @Test(.timeLimit(.minutes(5))) func smallFilesHaveDefaultListOfFolder() throws {
        let stage = try BatchStage(size: 2_000)
        try Self.give(stage.folder)
        let usual = try Self.usual(stage.folder)
        let list = stage.urls(3, "f").enumerated().map { "\($1)\n  out=f\($0)\n" }.joined()
        let sandbox = try Sandbox()
        try sandbox.write("list", list)
        let outcome = try Run(["-i", sandbox.path("list")], in: stage.folder).wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        for number in 0..<3 {
            #expect(try Self.rights(stage.sandbox.path("f\(number)")) == usual)
        }
        #expect(try stage.sandbox.names() == ["f0", "f1", "f2"])
    }

    /// Without a default list, mode and umask decide.
    @Test(.timeLimit(.minutes(5))) func umaskDecidesWithoutDefaultList() throws {
        let stage = try Stage(size: 2_000)
        let outcome = try Run(
            "/bin/sh",
            ["-c", "umask 027; exec \"$0\" \"$1\"", Segget.binary(), stage.origin.url("/file")],
            in: stage.folder, environment: ["SEGGET_NO_CONFIG": "1"]
        ).wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.status(of: "file").st_mode & 0o777 == 0o640)
    }
}
