import Foundation
import Glibc
import TestSupport
import Testing

/// Sources of credentials, and how often segget sends wrong ones.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct CredentialsEndToEndTests {
    private static let right = "Basic bWU6czpAL2M="  // me:s:@/c
    private static let password = "s:@/c"

    /// An origin that accepts the user `me` with Basic authentication.
    private func guarded(
        size: Int64 = 3_000_000,
        bend: @escaping @Sendable (OriginRequest, inout OriginReply) -> Void = { _, _ in }
    ) throws -> WireTrial {
        try WireTrial(size: size) { request, reply in
            guard request.header("Authorization") == Self.right else {
                reply = .text(
                    401, "no", headers: [HeaderField("WWW-Authenticate", "Basic realm=\"r\"")])
                return
            }
            bend(request, &reply)
        }
    }

    /// Runs segget with `text` readable on descriptor 3.
    private func run(
        _ arguments: [String], descriptor text: String, in sandbox: Sandbox
    ) async throws -> Run.Outcome {
        let secrets = try Sandbox()
        let file = try secrets.write("secret", text)
        let child = try Run(
            "/bin/sh", ["-c", "exec \"$@\" 3<\(file)", "sh", try Segget.binary()] + arguments,
            in: sandbox.path)
        return try await child.ended()
    }

    @Test func sendsUserOptionWithEveryRequest() async throws {
        let trial = try guarded()
        let outcome = try await trial.run("-u", "me:\(Self.password)", "-x", "4")
        try outcome.expectComplete(trial.content)
        // Every request has the credentials, including the first.
        #expect(trial.origin.requests.allSatisfy { $0.status != 401 })
        #expect(trial.gets.count > 3)
    }

    @Test func userOptionOverridesURL() async throws {
        let trial = try guarded()
        let place = "127.0.0.1:\(trial.origin.port)/dir/file.bin"
        var outcome = try await trial.run(url: "http://me:s%3A%40%2Fc@\(place)")
        try outcome.expectComplete(trial.content)
        // The option takes precedence over the URL.
        outcome = try await trial.run(
            "-u", "me:\(Self.password)", "--overwrite", url: "http://you:wrong@\(place)")
        try outcome.expectComplete(trial.content)
        #expect(trial.origin.requests.allSatisfy { $0.status != 401 })
    }

    @Test(arguments: ["s:@/c", "s:@/c\n", "s:@/c\r\n"])
    func readsPasswordFromDescriptor(text: String) async throws {
        let trial = try guarded()
        let outcome = try await run(
            [trial.origin.url("/dir/file.bin"), "--json", "-u", "me", "--password-fd", "3"],
            descriptor: text, in: trial.sandbox)
        try outcome.expectComplete(trial.content)
    }

    @Test func readsPasswordFromNetrcFile() async throws {
        let trial = try guarded()
        let home = try Sandbox()
        let text =
            "machine other login me password no\n"
            + "machine 127.0.0.1 login me password \(Self.password)\n"
        let file = try home.write(".netrc", text)
        try await trial.run("--netrc-file", file).expectComplete(trial.content)
        let child = try Run(
            [trial.origin.url("/dir/file.bin"), "--netrc", "--json", "--overwrite"],
            in: trial.sandbox.path, environment: ["HOME": home.path])
        try await child.ended().expectComplete(trial.content)
        // `--user` names the user, and the netrc file has the password.
        try await trial.run("--netrc-file", file, "-u", "me", "--overwrite").expectComplete(
            trial.content)
        #expect(trial.origin.requests.allSatisfy { $0.status != 401 })
    }

    @Test func sendsBearerToken() async throws {
        let trial = try WireTrial { request, reply in
            if request.header("Authorization") != "Bearer a.b-c/d==" { reply = .text(401) }
        }
        let outcome = try await run(
            [trial.origin.url("/dir/file.bin"), "--json", "--bearer-fd", "3"],
            descriptor: "a.b-c/d==\n", in: trial.sandbox)
        try outcome.expectComplete(trial.content)
        #expect(trial.origin.requests.allSatisfy { $0.status != 401 })
    }

    @Test func authenticatesWithNginx() async throws {
        let root = try Sandbox()
        let content = Content(size: 3_000_000, seed: 4)
        try content.write(to: root.path("file.bin"))
        let users = try root.write("users", "me:{PLAIN}s3/@cret\n")
        let nginx = try Nginx(
            root: root.path, directives: "auth_basic \"r\"; auth_basic_user_file \(users);")
        let sandbox = try Sandbox()
        let url = nginx.url("/file.bin")
        let wrong = try await Run([url, "-u", "me:wrong"], in: sandbox.path).ended()
        #expect(wrong.exitCode == 77, "\(wrong.errorOutput)")
        #expect(eventually { (try? nginx.accessLog().count) == 1 })
        let right = try await Run([url, "-u", "me:s3/@cret"], in: sandbox.path).ended()
        #expect(right.exitCode == 0, "\(right.errorOutput)")
        #expect(try content.firstDifference(at: sandbox.path("file.bin")) == nil)
    }

    /// A server may lock an account after a few wrong passwords.
    @Test(arguments: [["-u", "me:wrong"], ["--netrc-file", "netrc"]])
    func wrongPasswordIsSentOnce(options: [String]) async throws {
        let trial = try guarded()
        try trial.sandbox.write("netrc", "default login me password wrong\n")
        let outcome = try await Run(
            [trial.origin.url("/dir/file.bin")] + options, in: trial.sandbox.path
        ).ended()
        #expect(outcome.exitCode == 77, "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("401 (Unauthorized)"))
        #expect(trial.origin.requests.count == 1)
        #expect(trial.origin.requests.allSatisfy { $0.header("Authorization") != nil })
    }

    /// The first run has the user in its URL, and the second in `--user`.
    @Test func resumesIfUserIsGivenInAnotherWay() async throws {
        let trial = try guarded(size: 8_000_000) { request, reply in
            if request.range?.first ?? 0 > 0, request.number < 40 { reply.cutAfter = 300_000 }
        }
        let place = "127.0.0.1:\(trial.origin.port)/dir/file.bin"
        let first = try await trial.run(
            "--retries", "0", "-x", "2", url: "http://me:s%3A%40%2Fc@\(place)")
        #expect(first.exitCode == 69, "\(first.errorOutput)")
        let kept = try #require(try first.events("error").first?.bytesKept)
        #expect(kept > 0)
        let second = try await trial.run(
            "-u", "me:\(Self.password)", "--retries", "100", url: "http://\(place)")
        try second.expectComplete(trial.content)
        #expect(try second.events("finished").first?.bytesResumed == kept)
    }

    /// segget overwrites secrets in its arguments, which other users can read in /proc.
    @Test func hidesSecretsInItsArguments() async throws {
        let trial = try WireTrial { _, reply in reply.delayBeforeHeaders = .infinity }
        let child = try Run(
            [
                "http://me:hush1@127.0.0.1:\(trial.origin.port)/f?key=hush6", "-u", "me:hush2",
                "-H", "X-Key: hush3", "--cookie-text=k=hush4", "--proxy", "http://u:hush5@h:1",
                "--no-proxy", "*",
            ], in: trial.sandbox.path)
        #expect(eventually(timeout: 120) { !trial.origin.requests.isEmpty })
        let line = try String(contentsOfFile: "/proc/\(child.pid)/cmdline", encoding: .utf8)
        #expect(!line.contains("hush"), "\(line)")
        #expect(line.contains("-u") && line.contains("*********") && line.contains("/f?"))
        let request = try #require(trial.origin.requests.first)
        #expect(request.header("X-Key") == "hush3")
        #expect(request.header("Cookie") == "k=hush4")
        child.signal(SIGKILL)
        _ = try await child.ended()
    }
}
