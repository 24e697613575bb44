import Glibc
import TestSupport
import Testing

/// Digest authentication, where libcurl repeats a request on one handle after the challenge.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct DigestAuthenticationTests {
    /// Makes a trial whose origin requires Digest authentication.
    private func trial(
        _ gate: DigestGate, size: Int64 = 10_000_000, alsoBasic: Bool = false,
        bend: @escaping @Sendable (OriginRequest, inout OriginReply) -> Void = { _, _ in }
    ) throws -> WireTrial {
        try WireTrial(size: size) { request, reply in
            switch gate.verdict(on: request) {
            case .right: bend(request, &reply)
            case .stale: reply = gate.challenge(isStale: true)
            case .wrong, .nothing: reply = gate.challenge(alsoBasic: alsoBasic)
            }
        }
    }

    private func shown(_ scheme: String, to trial: WireTrial) -> Int {
        trial.origin.requests.count { $0.header("Authorization")?.hasPrefix(scheme) == true }
    }

    @Test(arguments: DigestGate.Algorithm.allCases, ["auto", "digest"])
    func authenticatesEightConnections(algorithm: DigestGate.Algorithm, scheme: String) async throws
    {
        let gate = DigestGate(user: "me", password: "s3cret", algorithm: algorithm)
        let trial = try trial(gate)
        let outcome = try await trial.run("-u", "me:s3cret", "-x", "8", "--auth", scheme)
        try outcome.expectComplete(trial.content)
        #expect(trial.gets.filter { $0.status == 206 }.count >= 8)
        // After the first 401, segget never sends the password itself again.
        #expect(shown("Basic", to: trial) == (scheme == "auto" ? 1 : 0))
        #expect(try outcome.notices("retrying").isEmpty)
        #expect(try outcome.notices("resolving_again").isEmpty)
    }

    @Test func readsCredentialsFromURL() async throws {
        let gate = DigestGate(user: "me", password: "s3cret")
        let trial = try trial(gate)
        let outcome = try await trial.run(
            url: "http://me:s3cret@127.0.0.1:\(trial.origin.port)/dir/file.bin?a=b&c=d")
        try outcome.expectComplete(trial.content)
        #expect(!(outcome.output + outcome.errorOutput).contains("s3cret"))
    }

    @Test func killedDownloadResumes() async throws {
        let gate = DigestGate(user: "me", password: "s3cret")
        let trial = try trial(gate, size: 20_000_000) { _, reply in reply.pace = 1_000_000 }
        let arguments = [trial.origin.url("/dir/file.bin"), "-u", "me:s3cret", "--json", "-v"]
        let child = try Run(arguments, in: trial.sandbox.path)
        #expect(eventually(timeout: 120) { trial.origin.bytesServed > 4_000_000 })
        child.signal(SIGKILL)
        _ = try await child.ended()
        let outcome = try await Run(arguments, in: trial.sandbox.path).ended()
        try outcome.expectComplete(trial.content)
        #expect(try #require(try outcome.events("finished").first?.bytesResumed) > 0)
    }

    /// The server changes its nonce during the download.
    @Test func staleNoncesAreRenewed() async throws {
        let gate = DigestGate(user: "me", password: "s3cret")
        let trial = try trial(gate) { request, _ in
            if request.number % 5 == 0 { gate.renew() }
        }
        let outcome = try await trial.run("-u", "me:s3cret", "-x", "4")
        try outcome.expectComplete(trial.content)
    }

    /// The server answers `HEAD` without credentials, so a `GET` receives the first challenge.
    @Test func authenticatesIfOnlyGETRequiresIt() async throws {
        let gate = DigestGate(user: "me", password: "s3cret")
        let trial = try WireTrial(size: 10_000_000) { request, reply in
            if request.method == "GET", gate.verdict(on: request) != .right {
                reply = gate.challenge()
            }
        }
        try await trial.run("-u", "me:s3cret", "-x", "4").expectComplete(trial.content)
    }

    @Test func wrongPasswordIsSentOnce() async throws {
        let gate = DigestGate(user: "me", password: "s3cret")
        for (scheme, basics) in [("auto", 1), ("digest", 0)] {
            let trial = try trial(gate)
            let outcome = try await trial.run("-u", "me:wrong", "--auth", scheme)
            try outcome.expectFailure(code: 77, kind: "refused", keepsPart: false)
            #expect(shown("Digest", to: trial) == 1)
            // The server offers Digest only, so Basic is not an attempt with a password.
            #expect(shown("Basic", to: trial) == basics)
        }
    }

    /// The server offers both schemes, so the refusal of Basic means a wrong password.
    @Test func doesNotTrySecondSchemeWithWrongPassword() async throws {
        let gate = DigestGate(user: "me", password: "s3cret")
        let trial = try trial(gate, alsoBasic: true)
        let outcome = try await trial.run("-u", "me:wrong")
        try outcome.expectFailure(code: 77, kind: "refused", keepsPart: false)
        #expect(trial.origin.requests.count == 1)
    }

    /// Without credentials, segget does not retry after the 401.
    @Test func failsWithoutCredentials() async throws {
        let gate = DigestGate(user: "me", password: "s3cret")
        let trial = try trial(gate)
        let outcome = try await trial.run()
        try outcome.expectFailure(code: 77, kind: "refused", keepsPart: false)
        #expect(trial.origin.requests.count <= 3)
        #expect(outcome.errorOutput.contains("`--user`"))
    }

    /// A challenge that libcurl cannot answer counts as a refusal.
    @Test(arguments: [
        "Digest realm=\"r\"", "Digest nonce=\"x\", algorithm=UNKNOWN", "Digest", "Unknown x=y",
    ])
    func unknownChallengesAreRefusals(challenge: String) async throws {
        let trial = try WireTrial { _, reply in
            reply = .text(401, "no", headers: [HeaderField("WWW-Authenticate", challenge)])
        }
        let outcome = try await trial.run("-u", "me:s3cret", "--auth", "digest", "--retries", "0")
        try outcome.expectFailure(code: 77, kind: "refused", keepsPart: false)
        #expect(trial.origin.requests.count <= 2)
    }

    /// The test's origin plays the proxy: requests have the absolute form (RFC 9112).
    @Test func authenticatesToProxyWithDigest() async throws {
        let gate = DigestGate(user: "me", password: "s3cret", isProxy: true)
        let trial = try trial(gate)
        let proxy = "127.0.0.1:\(trial.origin.port)"
        let url = "http://far.example/file.bin"
        let outcome = try await trial.run("--proxy", "http://me:s3cret@\(proxy)", url: url)
        try outcome.expectComplete(trial.content)
        #expect(trial.origin.requests.allSatisfy { $0.target == url })
        let right = trial.origin.requests.count
        let wrong = try await trial.run(
            "--proxy", "http://me:wrong@\(proxy)", "-o", "other", url: url)
        #expect(wrong.exitCode == 77, "\(wrong.errorOutput)")
        #expect(try wrong.events("error").first?.kind == "proxy_refused")
        let later = trial.origin.requests.dropFirst(right)
        #expect(
            later.count { $0.header("Proxy-Authorization")?.hasPrefix("Digest") == true } == 1)
        #expect(later.count <= 4)
    }
}
