import TestSupport
import Testing

/// Options for connections: address families, `--interface` and `--resolve`.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct AddressOptionsTests {
    private func run(_ arguments: [String], in sandbox: Sandbox) async throws
        -> Run.Outcome
    {
        try await Run(
            arguments + ["--overwrite", "-x", "2", "--retries", "0"], in: sandbox.path
        ).ended()
    }

    /// One port listens on IPv6 only, the other on IPv4 only.
    @Test func addressFamilyOptionsSelectServers() async throws {
        let root = try Sandbox()
        let content = Content(size: 2_000_000, seed: 7)
        try content.write(to: root.path("file.bin"))
        let six = try Nginx.freePort()
        let nginx = try Nginx(root: root.path, directives: "listen [::1]:\(six);")
        let sandbox = try Sandbox()
        let url = "http://localhost:\(six)/file.bin"
        for options in [["-6"], ["--ipv6"], []] {
            let outcome = try await run([url] + options, in: sandbox)
            #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
            #expect(try content.firstDifference(at: sandbox.path("file.bin")) == nil)
        }
        #expect(eventually { (try? nginx.accessLog().contains { $0.client == "::1" }) ?? false })
        #expect(try await run([url, "-4"], in: sandbox).exitCode == 69)
        let four = "http://localhost:\(nginx.port)/file.bin"
        #expect(try await run([four, "-4"], in: sandbox).exitCode == 0)
        #expect(try await run([four, "--ipv6"], in: sandbox).exitCode == 69)
        let literal = try await run(["http://[::1]:\(six)/file.bin"], in: sandbox)
        #expect(literal.exitCode == 0, "\(literal.errorOutput)")
    }

    @Test(arguments: [("127.0.0.2", "127.0.0.2"), ("lo", "127.0.0.1"), ("if!lo", "127.0.0.1")])
    func bindsToGivenInterface(name: String, client: String) async throws {
        let root = try Sandbox()
        try Content(size: 2_000_000, seed: 7).write(to: root.path("file.bin"))
        let nginx = try Nginx(root: root.path)
        let sandbox = try Sandbox()
        let outcome = try await run([nginx.url("/file.bin"), "--interface", name], in: sandbox)
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(eventually { (try? nginx.accessLog().count) ?? 0 >= 3 })
        #expect(try nginx.accessLog().allSatisfy { $0.client == client })
    }

    @Test(arguments: ["nosuch0", "192.0.2.1"])
    func failsIfInterfaceDoesNotExist(name: String) async throws {
        let trial = try WireTrial(size: 1000)
        // segget fails without a retry.
        let outcome = try await trial.run("--interface", name)
        try outcome.expectFailure(code: 64, kind: "invalid_access", keepsPart: false)
        #expect(outcome.errorOutput.contains("`--interface`"))
        #expect(trial.origin.acceptedConnections == 0)
    }

    @Test func resolveOptionSetsAddressesOfNames() async throws {
        let trial = try WireTrial()
        let port = trial.origin.port
        let url = "http://made-up.invalid:\(port)/dir/file.bin"
        let outcome = try await trial.run(
            "--resolve", "other.invalid:\(port):127.0.0.3", "--resolve",
            "made-up.invalid:\(port):127.0.0.1", url: url)
        try outcome.expectComplete(trial.content)
        #expect(
            trial.origin.requests.allSatisfy { $0.header("Host") == "made-up.invalid:\(port)" })
        // Of several addresses, segget uses the first that answers.
        let several = try await trial.run(
            "--overwrite", "--resolve", "made-up.invalid:\(port):[::1],127.0.0.1", url: url)
        try several.expectComplete(trial.content)
        let without = try await trial.run("--retries", "0", "-o", "other", url: url)
        #expect(without.exitCode == 69)
        let otherPort = try await trial.run(
            "--retries", "0", "-o", "other", "--resolve", "made-up.invalid:1:127.0.0.1", url: url)
        #expect(otherPort.exitCode == 69)
    }
}
