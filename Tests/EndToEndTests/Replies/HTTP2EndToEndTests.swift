import Foundation
import Glibc
import TestSupport
import Testing

/// Tests real servers that support HTTP/2 only.
///
/// They refuse HTTP/1.1 in the TLS handshake, close the connection, or answer in frames.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct HTTP2EndToEndTests {
    private let content = Content(size: 12_000_000, seed: 2)
    private let root: Sandbox
    private let sandbox: Sandbox

    init() throws {
        root = try Sandbox()
        sandbox = try Sandbox()
        try content.write(to: root.path("file.bin"))
    }

    private func run(_ arguments: [String]) async throws -> Run.Outcome {
        try await Run(arguments + ["--json", "-v"], in: sandbox.path).ended()
    }

    /// Expects the complete file, and that the first attempt found HTTP/2 and reported it once.
    private func expectHTTP2(
        _ outcome: Run.Outcome, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let report = Comment(rawValue: outcome.errorOutput)
        try outcome.expectComplete(content, location)
        guard outcome.exitCode == 0 else { return }
        #expect(try outcome.notices("needs_http2").count == 1, report, sourceLocation: location)
        #expect(try outcome.notices("retrying").isEmpty, report, sourceLocation: location)
        #expect(
            outcome.errorOutput.contains("does not support HTTP/1.1"), report,
            sourceLocation: location)
    }

    /// nghttpd serves no ranges: segget uses one stream, into a file or a slowly read pipe.
    @Test(arguments: [false, true])
    func nghttpdServesAFile(isSecure: Bool) async throws {
        let server = try Nghttpd(root: root.path, isSecure: isSecure)
        let trust = server.authority.map { ["--ca-certificate", $0] } ?? []
        for options in [[], ["-x", "4", "--overwrite"], ["--limit-rate", "8M", "--overwrite"]] {
            try expectHTTP2(try await run([server.url("file.bin")] + options + trust))
        }
        let piped = try PipedSegget(
            [server.url("file.bin"), "-o", "-", "--window", "4M"] + trust, in: sandbox.path)
        let first = try piped.read(100_000)
        let bytes = try first + piped.readToEnd()
        #expect(Int64(bytes.count) == content.size)
        #expect(content.matches(bytes, in: 0..<content.size))
        // nghttpd's 404 to `HEAD` has a body, which is an error in HTTP/2. `GET` returns the
        // status.
        let missing = try await run([server.url("none")] + trust)
        #expect(missing.exitCode == 69, "\(missing.errorOutput)")
        #expect(missing.errorOutput.contains("404"))
        #expect(try missing.notices("retrying").isEmpty)
    }

    /// With ranges, each segment has a separate connection.
    @Test(arguments: [false, true])
    func eachSegmentHasSeparateConnection(isSecure: Bool) async throws {
        let server = try HTTP2Nginx(root: root.path, limitRate: "3m")
        let trust = ["--ca-certificate", server.authority]
        let url = server.url("file.bin", isSecure: isSecure)
        for options in [
            ["-x", "4"], ["--overwrite"], ["-x", "4", "--limit-rate", "8M", "--overwrite"],
        ] {
            try expectHTTP2(try await run([url] + options + trust))
        }
        let log = try server.accessLog().filter { $0[2] == "206" }
        #expect(log.count >= 6, "\(log)")
        #expect(log.allSatisfy { $0[0] == "HTTP/2.0" })
        #expect(Set(log.map { $0[3] }).count == log.count)
        let piped = try PipedSegget(
            [url, "-o", "-", "-x", "4", "--window", "4M"] + trust, in: sandbox.path)
        let bytes = try piped.readToEnd()
        #expect(Int64(bytes.count) == content.size)
        #expect(content.matches(bytes, in: 0..<content.size))
    }

    /// A killed download also resumes over HTTP/2.
    @Test(arguments: [false, true])
    func resumesKilledDownload(isSecure: Bool) async throws {
        let server = try HTTP2Nginx(root: root.path, limitRate: "500k")
        let arguments = [
            server.url("file.bin", isSecure: isSecure), "-x", "4", "--ca-certificate",
            server.authority,
        ]
        let child = try Run(arguments, in: sandbox.path)
        #expect(child.waits(for: 1_000_001, name: "file.bin"))
        child.signal(SIGKILL)
        #expect(try child.wait().end == .signal(SIGKILL))
        let outcome = try await run(arguments)
        try expectHTTP2(outcome)
        #expect(try outcome.events("finished").first?.bytesResumed ?? 0 > 1_000_000)
    }

    /// Small files share a connection if TLS negotiated HTTP/2; a large file has a separate one.
    @Test(arguments: [false, true])
    func downloadsListOverHTTP2(isSecure: Bool) async throws {
        let small = try (1...20).map { number in
            let file = Content(size: 20_000, seed: UInt64(number))
            try file.write(to: root.path("s\(number)"))
            return file
        }
        let lists = try Sandbox()
        func check(_ url: (String) -> String, _ authority: String?) async throws {
            let names = ["file.bin"] + (1...20).map { "s\($0)" }
            let lines = names.map { url($0) + "\n" }.joined()
            let outcome = try await run(
                ["-i", lists.write("list", lines), "--overwrite"]
                    + (authority.map { ["--ca-certificate", $0] } ?? []))
            #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
            #expect(try sandbox.names() == names.sorted())
            #expect(try content.firstDifference(at: sandbox.path("file.bin")) == nil)
            for (index, file) in small.enumerated() {
                #expect(try file.firstDifference(at: sandbox.path("s\(index + 1)")) == nil)
            }
        }
        let plain = try Nghttpd(root: root.path, isSecure: isSecure)
        try await check(plain.url, plain.authority)
        let server = try HTTP2Nginx(root: root.path)
        try await check({ server.url($0, isSecure: isSecure) }, server.authority)
    }

    // MARK: Failures that do not indicate HTTP/2

    /// A server that closes every connection gets the usual retries, and the run fails as usual.
    @Test(arguments: [
        OriginReply.closeWithoutReply, .resetWithoutReply, .raw("too many of you\r\n"),
    ])
    func failsIfServerClosesEveryConnection(reply: OriginReply) async throws {
        let trial = try WireTrial { _, now in now = reply }
        let outcome = try await trial.run("--retries", "2", "-x", "1")
        try outcome.expectFailure(code: 69, kind: "network", keepsPart: false)
        #expect(try outcome.notices("needs_http2").isEmpty)
        #expect(try outcome.notices("retrying").count == 2)
        #expect(trial.gets.count == 3)
        // One `HEAD` and one `GET` tried HTTP/2.
        #expect(trial.origin.acceptedConnections <= trial.origin.requests.count + 2)
    }

    /// A server that sometimes closes the connection is still used over HTTP/1.1.
    @Test func keepsHTTP1AfterSomeBrokenReplies() async throws {
        let trial = try WireTrial { request, reply in
            if request.method == "GET", request.number % 3 == 0 { reply = .closeWithoutReply }
        }
        let outcome = try await trial.run("-x", "4")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("needs_http2").isEmpty)
    }

    /// Also over TLS, with a server name that offers HTTP/2 too.
    @Test func failsIfTLSServerClosesEveryConnection() async throws {
        let server = try Nginx(root: root.path, directives: "return 444;")
        let outcome = try await run([
            server.secureURL("/file.bin"), "--ca-certificate", server.authority, "--retries", "2",
            "-x", "1",
        ])
        #expect(outcome.exitCode == 69, "\(outcome.errorOutput)")
        #expect(try outcome.notices("needs_http2").isEmpty)
        #expect(try outcome.notices("retrying").count == 2)
        #expect(try server.accessLog().count { $0.request.hasPrefix("GET") } <= 4)
        #expect(try sandbox.names() == [])
    }

    /// A proxy that closes connections is not tried with HTTP/2.
    @Test func doesNotTryHTTP2WithClosingProxy() async throws {
        let proxy = try Origin { _ in .closeWithoutReply }
        let outcome = try await run([
            "http://a.test/file.bin", "--proxy", "http://127.0.0.1:\(proxy.port)", "--retries", "1",
            "-x", "1",
        ])
        proxy.hearOut()
        #expect(outcome.exitCode == 69, "\(outcome.errorOutput)")
        #expect(proxy.acceptedConnections == proxy.requests.count)
    }
}
