import Foundation
import Glibc
import TestSupport
import Testing

/// Redirects from https to http: segget follows them only on request, and sends no secrets.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct DowngradeTests {
    private let content = Content(size: 3_000_000, seed: 3)
    private let plain: Origin
    private let sandbox: Sandbox

    init() throws {
        let content = content
        plain = try Origin { .file(content, for: $0, etag: "\"a\"") }
        sandbox = try Sandbox()
    }

    private var target: String { plain.url("/file.bin?token=hush") }

    private func run(
        _ arguments: [String], _ front: SecureFront, environment: [String: String] = [:]
    ) async throws -> Run.Outcome {
        let child = try Run(
            arguments + ["--ca-certificate", front.authority], in: sandbox.path,
            environment: environment)
        return try await child.ended()
    }

    private func expectRefused(
        _ outcome: Run.Outcome, _ location: SourceLocation = #_sourceLocation
    ) {
        let text = Comment(rawValue: outcome.errorOutput)
        #expect(outcome.exitCode == 77, text, sourceLocation: location)
        #expect(
            outcome.errorOutput.contains("less secure: not followed"), text,
            sourceLocation: location)
        #expect(
            outcome.errorOutput.contains("--allow-downgrade"), text, sourceLocation: location)
        #expect(!outcome.errorOutput.contains("hush"), text, sourceLocation: location)
        #expect(plain.requests.isEmpty, sourceLocation: location)
    }

    /// Every redirect status, as first hop and later, in reply to `HEAD` or only to `GET`.
    @Test func everyDowngradeIsRefused() async throws {
        let target = target
        let front = try SecureFront { request in
            let parts = request.path.split(separator: "/").map(String.init)
            switch parts.first {
            case "hop": return .redirect("/at/" + (parts.last ?? ""))
            case "get" where request.method == "HEAD": return .text(405)
            default: return .redirect(target, parts.last.flatMap { Int($0) } ?? 302)
            }
        }
        for path in ["at/301", "at/302", "hop/303", "get/307", "get/308", "get/302", "at/300"] {
            let outcome = try await run([front.url(path)], front)
            expectRefused(outcome)
            #expect(try sandbox.names() == [], "\(path)")
        }
        expectRefused(try await run(["probe", front.url("at/302")], front))
        expectRefused(try await run(["--dry-run", front.url("get/302")], front))
        for (arguments, environment) in [
            (["--allow-downgrade"], [:]), ([], ["SEGGET_ALLOW_DOWNGRADE": "true"]),
        ] as [([String], [String: String])] {
            let outcome = try await run(
                [front.url("get/307"), "--overwrite", "-x", "4"] + arguments, front,
                environment: environment)
            try outcome.expectComplete(content)
            #expect(outcome.errorOutput.contains("WARNING: a redirect led from https to http"))
            #expect(!outcome.errorOutput.contains("hush"))
        }
        #expect(plain.requests.allSatisfy { $0.target == "/file.bin?token=hush" })
    }

    /// The redirect's first target expires, and the original URL then redirects to http.
    @Test func refusesDowngradeOfRenewedRedirect() async throws {
        let (content, target, expired) = (content, target, Guarded(false))
        let front = try SecureFront { request in
            let isExpired = expired.withLock { $0 }
            if request.path == "/file.bin" { return .redirect(isExpired ? target : "/signed") }
            if isExpired { return .text(403) }
            var reply = OriginReply.file(content, for: request, etag: "\"a\"")
            if request.method == "GET" {
                reply.cutAfter = 100_000
                if request.number > 4 { expired.withLock { $0 = true } }
            }
            return reply
        }
        let outcome = try await run(
            [front.url("/file.bin"), "-o", "file.bin", "-x", "2", "--retries", "3"], front)
        expectRefused(outcome)
        #expect(try sandbox.names() == ["file.bin.part", "file.bin.segget"])
        // The received bytes are kept.
        let again = try await run(
            [front.url("/file.bin"), "-o", "file.bin", "--allow-downgrade"], front)
        try again.expectComplete(content)
        #expect(again.errorOutput.contains("resuming"), "\(again.errorOutput)")
    }

    /// segget refuses only the mirror, or only that file of the list.
    @Test func refusesDowngradesOfMirrorsAndLists() async throws {
        let (content, target) = (content, target)
        let front = try SecureFront { request in
            guard request.path != "/down/file.bin" else { return .redirect(target) }
            // Delays the file, so that segget tries the mirror before the last byte.
            return .file(content, for: request, etag: "\"a\"").with {
                if request.method == "GET" { $0.delayBeforeHeaders = 1 }
            }
        }
        let outcome = try await run(
            [front.url("/file.bin"), "--mirror", front.url("/down/file.bin"), "--json", "-v"], front
        )
        try outcome.expectComplete(content)
        #expect(try outcome.notices("mirror_dropped").first?.reason == "unsafe_redirect")
        #expect(plain.requests.isEmpty)
        let list = try Sandbox()
        let lines = """
            \(front.url("/file.bin"))
              out=one
            \(front.url("/down/file.bin"))
              out=two
            """
        let refused = try await run(["-i", try list.write("list", lines)], front)
        expectRefused(refused)
        #expect(try sandbox.names() == ["file.bin", "one"])
        let allowed = try await run(
            ["-i", try list.write("list", lines + "\n  allow-downgrade=true\n")], front)
        #expect(allowed.exitCode == 0, "\(allowed.errorOutput)")
        #expect(try content.firstDifference(at: sandbox.path("two")) == nil)
    }

    /// segget sends no secrets over http, nor to another origin over https after that.
    ///
    /// This holds with `--header-cross-origin` and for that host's entry in a netrc file. A
    /// redirect back to the URL's origin sends them again.
    @Test(arguments: [[], ["--header-cross-origin"]])
    func downgradeSendsNoSecrets(options: [String]) async throws {
        let content = content
        let second = try SecureFront { .file(content, for: $0, etag: "\"a\"") }
        let place = Guarded("")
        let middle = try Origin { _ in .redirect(place.withLock { $0 }) }
        let hop = middle.url("/hop")
        let first = try SecureFront { request in
            request.path == "/back/file.bin"
                ? .file(content, for: request, etag: "\"a\"") : .redirect(hop)
        }
        let files = try Sandbox()
        let netrc = try files.write("netrc", "machine 127.0.0.1 login me password hush\n")
        let trust = try files.write(
            "trust.pem",
            try [first, second].map {
                try String(contentsOfFile: $0.authority, encoding: .utf8)
            }.joined())
        let own = [
            "-H", "X-Token: hush", "-b", "k=hush", "--referer", "http://r.example/hush",
            "--overwrite", "-o", "file.bin", "--allow-downgrade", "--ca-certificate", trust, "-v",
        ]
        let fields = ["X-Token", "Cookie", "Referer", "Authorization"]
        for access in [["-u", "me:hush"], ["--netrc-file", netrc]] {
            for (end, isBack) in [
                (second.url("/file.bin"), false), (first.url("/back/file.bin"), true),
            ] {
                place.withLock { $0 = end }
                let before = (first.origin.requests.count, second.origin.requests.count)
                let outcome = try await Run(
                    [first.url("/file.bin")] + own + access + options, in: sandbox.path
                ).ended()
                try outcome.expectComplete(content)
                #expect(!outcome.errorOutput.contains("hush"))
                for request in first.origin.requests.dropFirst(before.0) {
                    for field in fields { #expect(request.header(field) != nil, "\(field)") }
                }
                #expect((first.origin.requests.dropFirst(before.0).count > 1) == isBack)
                for request in second.origin.requests.dropFirst(before.1) {
                    for field in fields { #expect(request.header(field) == nil, "\(field)") }
                }
            }
        }
        for request in middle.requests {
            for field in fields { #expect(request.header(field) == nil, "\(field)") }
        }
        #expect(middle.requests.count >= 4)
    }
}
