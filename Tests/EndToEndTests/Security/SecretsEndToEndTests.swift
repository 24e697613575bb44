import Foundation
import Glibc
import TestSupport
import Testing

/// Credentials, queries and header values appear in requests only.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct SecretsEndToEndTests {
    static let secrets = ["s3cret", "t0ken", "h3ader", "s1gned", "dXNlcjpzM2NyZXQ"]

    /// Expects no secret in a text.
    private func expectNoSecret(
        _ text: String, _ location: SourceLocation = #_sourceLocation
    ) {
        for secret in Self.secrets {
            #expect(!text.contains(secret), "\(text)", sourceLocation: location)
        }
    }

    private func secretURL(_ origin: Origin) -> String {
        "http://user:s3cret@127.0.0.1:\(origin.port)/dir/file.bin?token=t0ken#frag"
    }

    /// The server fails in several ways, and then SIGKILL ends segget.
    @Test(arguments: [
        ["--json", "-v"], ["-v", "--progress", "plain"], ["--progress", "bar"], [],
    ])
    func outputsAndManifestRevealNoSecrets(options: [String]) async throws {
        let trial = try WireTrial(size: 20_000_000) { request, reply in
            guard request.path == "/signed/file.bin" else {
                reply = .text(
                    302, headers: [HeaderField("Location", "/signed/file.bin?sig=s1gned")])
                return
            }
            reply.pace = 3_000_000
            switch request.number % 6 {
            case 3: reply = .text(503)
            case 4: reply.cutAfter = 100_000
            case 5: reply.set("Content-Range", "bytes 5-7/9")
            default: break
            }
        }
        let child = try Run(
            [secretURL(trial.origin), "-H", "X-Key: h3ader", "-x", "3"] + options,
            in: trial.sandbox.path)
        let manifest = trial.sandbox.path("file.bin.segget")
        #expect(
            eventually(timeout: 120) {
                let text = try? String(contentsOfFile: manifest, encoding: .utf8)
                return text?.contains("\"extents\"") == true && trial.gets.count > 8
            })
        child.signal(SIGKILL)
        let outcome = try await child.ended()
        #expect(outcome.end == .signal(SIGKILL))
        expectNoSecret(outcome.output + outcome.errorOutput)
        expectNoSecret(String(decoding: try trial.sandbox.read("file.bin.segget"), as: UTF8.self))
        #expect(try trial.sandbox.names() == ["file.bin.part", "file.bin.segget"])
        #expect(trial.origin.requests.allSatisfy { $0.header("Authorization") != nil })
    }

    /// Every status is a failure, and 0 is a connection reset.
    @Test(arguments: [401, 403, 404, 500, 302, 0])
    func errorsRevealNoSecrets(status: Int) async throws {
        let trial = try WireTrial { request, reply in
            reply = .text(status, headers: [HeaderField("Location", "ftp://u:s1gned@h/?s1gned")])
            if status == 0 { reply = .resetWithoutReply }
        }
        for options in [["--json", "-v"], []] {
            let outcome = try await Run(
                [secretURL(trial.origin), "-H", "X-Key: h3ader", "--retries", "0"] + options,
                in: trial.sandbox.path
            ).ended()
            #expect(
                outcome.exitCode
                    == (status < 400 && status > 0 || status < 404 && status > 400
                        ? 77 : 69))
            expectNoSecret(outcome.output + outcome.errorOutput)
            #expect(outcome.errorOutput.contains("/dir/file.bin"))
        }
    }

    @Test func wrongChecksumRevealsNoSecrets() async throws {
        let trial = try WireTrial(size: 100_000)
        let outcome = try await Run(
            [secretURL(trial.origin), "--json", "-v", "--checksum", "crc32:00000000"],
            in: trial.sandbox.path
        ).ended()
        #expect(outcome.exitCode == 65)
        expectNoSecret(outcome.output + outcome.errorOutput)
        expectNoSecret(String(decoding: try trial.sandbox.read("file.bin.segget"), as: UTF8.self))
    }
}
