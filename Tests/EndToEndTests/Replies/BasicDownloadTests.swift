import Foundation
import Testing
import TestSupport

/// Tests the built command with an origin that behaves correctly.
struct BasicDownloadTests {
    @Test(.timeLimit(.minutes(5)), arguments: [0, 1, 100_000, 9_000_001] as [Int64])
    func downloadsFilesOfEverySize(size: Int64) throws {
        let content = Content(size: size, seed: 7)
        let origin = try Origin { .file(content, for: $0, etag: "\"v1\"") }
        let sandbox = try Sandbox()
        let outcome = try Run(
            [origin.url("/a/file.bin"), "-x", "4"], in: sandbox.path
        ).wait()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try content.firstDifference(at: sandbox.path("file.bin")) == nil)
        #expect(try sandbox.names() == ["file.bin"])
    }

    @Test(.timeLimit(.minutes(5))) func downloadsOverTLS() throws {
        let content = Content(size: 20_000_000, seed: 8)
        let root = try Sandbox()
        try content.write(to: root.path("file.bin"))
        let nginx = try Nginx(root: root.path)
        let sandbox = try Sandbox()
        let url = nginx.secureURL("/file.bin")
        let untrusted = try Run([url], in: sandbox.path).wait()
        #expect(untrusted.exitCode == 77)
        let outcome = try Run(
            [
                url, "--ca-certificate", nginx.authority, "--checksum",
                "sha256:\(content.sha256Hex)",
            ],
            in: sandbox.path
        ).wait()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try content.firstDifference(at: sandbox.path("file.bin")) == nil)
    }
}
