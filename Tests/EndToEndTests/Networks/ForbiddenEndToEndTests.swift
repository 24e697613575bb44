import TestSupport
import Testing

/// 403 for files of a list: the server's limit, or a refusal.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ForbiddenEndToEndTests {
    /// The host answers 403 to more than two requests at a time: no file fails because of it.
    @Test func limitAnsweredWith403FailsNoFile() async throws {
        let stage = try BatchStage(size: 600_000)
        let refused = stage.serve(atMost: 2, pace: 600_000, refusal: .text(403))
        defer { stage.origin.behave() }
        let paths = (1...4).map { "/\($0).iso" }
        let outcome = try await Run(
            ["-j", "3", "-x", "4", "-v"] + paths.map(stage.origin.url), in: stage.folder
        ).ended()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(refused.count() > 0)
        for path in paths { #expect(try stage.isRight(String(path.dropFirst()), path)) }
    }

    /// segget tries the first forbidden file a few times, because 403 may be a limit.
    ///
    /// It gives up the next one immediately.
    @Test func forbiddenFileAmongOthersFails() async throws {
        let stage = try BatchStage(size: 600_000)
        let asked = Tally()
        stage.origin.bend { request, reply in
            if ["/3/big.iso", "/5/big.iso"].contains(request.path) {
                asked.add(request.path)
                reply = .text(403)
            } else if request.method == "GET" {
                reply.pace = 1_000_000
            }
        }
        defer { stage.origin.behave() }
        let outcome = try await Run(["-j", "2", "-v"] + stage.urls(6), in: stage.folder).ended()
        #expect(outcome.exitCode == 77, "\(outcome.errorOutput)")
        #expect(asked.count("/3/big.iso") <= 8 && asked.count("/5/big.iso") <= 8)
        #expect(outcome.errorOutput.contains("refused access"))
        #expect(try stage.isRight("big.iso", "/1/big.iso"))
    }

    /// Servers lock accounts after many attempts with a refused password.
    @Test func refusedPasswordIsSentAtMostTwice() async throws {
        let stage = try BatchStage(size: 600_000)
        let asked = Tally()
        stage.origin.bend { request, reply in
            if request.path == "/2/big.iso" {
                asked.add()
                reply = .text(403)
            } else if request.method == "GET" {
                reply.pace = 300_000
            }
        }
        defer { stage.origin.behave() }
        let netrc = try stage.sandbox.write(
            "netrc", "machine 127.0.0.1 login me password secret\n")
        let outcome = try await Run(
            ["-j", "3", "--netrc-file", netrc] + stage.urls(3), in: stage.folder
        ).ended()
        #expect(outcome.exitCode == 77, "\(outcome.errorOutput)")
        #expect(asked.count() <= 2)
    }
}
