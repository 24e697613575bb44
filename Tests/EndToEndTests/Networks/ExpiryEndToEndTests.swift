import TestSupport
import Testing

/// The effective URL expires: segget resolves the original URL again.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ExpiryEndToEndTests {
    /// Redirects to a signed link, and refuses each link after `uses` requests.
    ///
    /// Only the first `limit` links work.
    private static func trial(
        refusal: Int, uses: Int, limit: Int = .max, tally: Tally = Tally()
    ) throws -> WireTrial {
        try WireTrial(size: 6_000_000) { request, content in
            guard request.path == "/signed" else {
                let number = tally.add("links")
                return .text(302, headers: [HeaderField("Location", "/signed?sig=\(number)")])
            }
            let key = String(request.target.drop { $0 != "=" }.dropFirst())
            let isCurrent = key == "\(tally.count("links"))" && tally.count("links") <= limit
            guard isCurrent, tally.add(key) <= uses else { return .text(refusal, "expired") }
            return .file(content, for: request, etag: "\"a\"")
        }
    }

    @Test(arguments: [401, 403, 404, 410])
    func resolvesOriginalURLAgain(status: Int) async throws {
        let trial = try Self.trial(refusal: status, uses: 4)
        let outcome = try await trial.run("-x", "3", "-o", "file.bin")
        try outcome.expectComplete(trial.content)
        let notices = try outcome.notices("resolving_again")
        #expect(!notices.isEmpty)
        #expect(notices.allSatisfy { $0.status == status })
        #expect(outcome.errorOutput.contains("following the original URL again"))
        #expect(trial.origin.requests.count { $0.path == "/dir/file.bin" } >= 2)
        #expect(trial.excess <= 1 << 20)
    }

    @Test(arguments: [(401, 77), (403, 77), (404, 69), (410, 69)] as [(Int, Int32)])
    func failsIfNewLinkIsRefused(status: Int, code: Int32) async throws {
        let trial = try Self.trial(refusal: status, uses: 4, limit: 1)
        let outcome = try await trial.run("-x", "3", "-o", "file.bin")
        try outcome.expectFailure(code: code, kind: code == 77 ? "refused" : "status")
        #expect(trial.origin.requests.count < 40)
        let kept = try #require(try outcome.events("error").first?.bytesKept)
        #expect(kept > 0)
        #expect(kept < 6_000_000)
    }

    /// New links work only for the probe: segget gives up after a limited number of requests.
    @Test func failsIfNewLinksServeOnlyProbe() async throws {
        let tally = Tally()
        let trial = try WireTrial { request, content in
            guard request.path == "/signed" else {
                return .text(302, headers: [HeaderField("Location", "/signed?sig=1")])
            }
            let isSmall = request.method == "HEAD" || request.range?.last == 0
            return isSmall || tally.add() <= 2
                ? .file(content, for: request, etag: "\"a\"") : .text(403)
        }
        let outcome = try await trial.run("-x", "2", "-o", "file.bin")
        try outcome.expectFailure(code: 77, kind: "refused")
        #expect(trial.origin.requests.count < 60)
    }

    @Test(arguments: ["503", "closed"])
    func retriesErrorsWhileResolvingAgain(trouble: String) async throws {
        let tally = Tally()
        let trial = try WireTrial(size: 6_000_000) { request, content in
            guard request.path == "/signed" else {
                let number = tally.add("asked")
                if (2...5).contains(number) {
                    return trouble == "503" ? .text(503) : .closeWithoutReply
                }
                tally.add("links")
                return .text(
                    302,
                    headers: [HeaderField("Location", "/signed?sig=\(tally.count("links"))")])
            }
            let key = String(request.target.drop { $0 != "=" }.dropFirst())
            guard key == "\(tally.count("links"))", tally.add(key) <= 4 else { return .text(403) }
            return .file(content, for: request, etag: "\"a\"")
        }
        let outcome = try await trial.run("-x", "3", "-o", "file.bin")
        try outcome.expectComplete(trial.content)
    }

    @Test func startsOverIfNewLinkHasAnotherVersion() async throws {
        let tally = Tally()
        let new = Content(size: 5_000_000, seed: 77)
        let trial = try WireTrial(size: 6_000_000) { request, content in
            guard request.path == "/signed" else {
                let number = tally.add("links")
                return .text(302, headers: [HeaderField("Location", "/signed?sig=\(number)")])
            }
            if request.target.hasSuffix("sig=1") {
                return tally.add() <= 4 ? .file(content, for: request, etag: "\"a\"") : .text(410)
            }
            return .file(new, for: request, etag: "\"b\"")
        }
        let outcome = try await trial.run("-x", "3", "-o", "file.bin")
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try new.firstDifference(at: trial.sandbox.path("file.bin")) == nil)
        #expect(try trial.sandbox.names() == ["file.bin"])
        #expect(try outcome.notices("started_over").first?.reason == "changed_midway")
    }
}
