import Foundation
import Glibc
import TestSupport
import Testing

/// Tests `make install` with the existing binary, without a build.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct InstallTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../..").standardized.path

    private func install(into sandbox: Sandbox) throws {
        let binary = try Segget.binary()
        let manager = URL(filePath: binary).deletingLastPathComponent()
            .appending(path: "segget-manager").path
        let outcome = try Run(
            "/usr/bin/make",
            [
                "-C", Self.root, "-o", binary, "-o", manager, "install", "BINARY=\(binary)",
                "DESTDIR=\(sandbox.path("image"))", "PREFIX=/usr",
            ]
        ).wait()
        try #require(outcome.end == .exit(0), "\(outcome.output)\(outcome.errorOutput)")
    }

    /// A package is built in one folder and unpacked in another.
    @Test func linksRemainValidAfterMove() throws {
        let sandbox = try Sandbox()
        try install(into: sandbox)
        let elsewhere = sandbox.path("unpacked")
        try FileManager.default.moveItem(
            atPath: sandbox.path("image"), toPath: elsewhere)
        for name in DropIn.names {
            let path = "\(elsewhere)/usr/\(name)"
            let target = try FileManager.default.destinationOfSymbolicLink(atPath: path)
            #expect(!target.hasPrefix("/"))
            let outcome = try Run(path, ["--version"]).wait()
            #expect(outcome.end == .exit(0))
            #expect(outcome.output.hasPrefix("aria2 version "))
        }
        let outcome = try Run("\(elsewhere)/usr/bin/segget", ["--version"]).wait()
        #expect(!outcome.output.contains("aria2"))
    }

    /// Commands about the queue are in a separate program, which `segget` finds.
    @Test func installsManagerWhereSeggetFindsIt() throws {
        let sandbox = try Sandbox()
        try install(into: sandbox)
        for name in ["bin/segget", "libexec/segget/segget-manager"] {
            let outcome = try Run(sandbox.path("image/usr/\(name)"), ["--version"]).wait()
            #expect(outcome.end == .exit(0))
            #expect(outcome.output.hasPrefix("segget "))
        }
        let moved = sandbox.path("image/usr/libexec/segget/segget-manager")
        let help = { try Run(sandbox.path("image/usr/bin/segget"), ["help", "list"]).wait() }
        #expect(try help().exitCode != 69)
        try FileManager.default.removeItem(atPath: moved)
        #expect(try help().exitCode == 69)
    }

    @Test(
        .enabled(
            if: access("/usr/bin/systemd-analyze", X_OK) == 0, "it needs systemd-analyze"))
    func systemdAcceptsUnits() throws {
        let sandbox = try Sandbox()
        try install(into: sandbox)
        let image = sandbox.path("image/usr")
        let unit = "\(image)/lib/systemd/user/segget.service"
        let text = try String(contentsOfFile: unit, encoding: .utf8)
        #expect(text.contains("ExecStart=/usr/bin/segget serve\n"))
        // `systemd-analyze` requires that the program exists at this path.
        try text.replacing("/usr/bin/segget", with: "\(image)/bin/segget")
            .write(toFile: unit, atomically: false, encoding: .utf8)
        mkdir(sandbox.path("runtime"), 0o700)
        let outcome = try Run(
            "/usr/bin/systemd-analyze",
            ["verify", "--user", "--man=no", unit, "\(image)/lib/systemd/user/segget.socket"],
            environment: ["XDG_RUNTIME_DIR": sandbox.path("runtime")]
        ).wait()
        #expect(outcome.end == .exit(0))
        // `systemd-analyze` prints settings that it does not know.
        #expect(outcome.errorOutput + outcome.output == "")
    }

    /// An installed aria2c is still found.
    @Test func installsNoAria2cInBin() throws {
        let sandbox = try Sandbox()
        try install(into: sandbox)
        // Reinstallation gives the same result.
        try install(into: sandbox)
        let programs = try FileManager.default.contentsOfDirectory(
            atPath: sandbox.path("image/usr/bin"))
        #expect(programs.sorted() == ["segget", "segget-aria2c"])
        let others = try FileManager.default.contentsOfDirectory(
            atPath: sandbox.path("image/usr/libexec/segget"))
        #expect(others.sorted() == ["aria2c", "segget-manager"])
    }
}
