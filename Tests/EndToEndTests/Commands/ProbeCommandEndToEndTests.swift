import Foundation
import TestSupport
import Testing

/// Tests `segget probe` with servers of several kinds.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ProbeCommandEndToEndTests {
    /// A server, and the expected report.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var transfer = "segments"
        var probedBy = "GET"
        var identity = "etag"
        var size: Int64? = 2_000_000
        var lines: [String] = []
        var bend: @Sendable (OriginRequest, inout OriginReply) -> Void = { _, _ in }
    }

    static let cases = [
        Case(
            testDescription: "honest", probedBy: "HEAD",
            lines: ["ranges:        served", "etag:          \"a\" (strong)", "2000000 bytes"]),
        Case(testDescription: "HEAD refused", lines: ["`HEAD` was not usable: was answered 403"]) {
            if $0.method == "HEAD" { $1 = .text(403) }
        },
        Case(
            testDescription: "no ranges", transfer: "one_stream_no_ranges",
            lines: ["ranges:        not served", "in one stream", "a stopped download starts over"]
        ) { _, reply in
            reply = OriginReply(
                headers: [HeaderField("ETag", "\"a\""), HeaderField("Accept-Ranges", "none")],
                body: .content(Content(size: 2_000_000, seed: 1), 0..<2_000_000))
        },
        Case(
            testDescription: "chunked", transfer: "one_stream_unknown_size", size: nil,
            lines: ["size:          not stated", "because the server does not state the size"]
        ) { _, reply in
            reply = OriginReply(
                headers: [HeaderField("ETag", "\"a\"")],
                body: .content(Content(size: 2_000_000, seed: 1), 0..<2_000_000))
            reply.framing = .chunked
        },
        Case(
            testDescription: "weak tag", probedBy: "HEAD", identity: "none",
            lines: ["W/\"a\" (weak)", "identity: none"]
        ) { $1.set("ETag", "W/\"a\"") },
        Case(
            testDescription: "date only", probedBy: "HEAD", identity: "last-modified",
            lines: ["identity: last-modified"]
        ) { _, reply in
            reply.set("ETag", nil)
            reply.set("Last-Modified", httpDate(unixTime: 1_600_000_000))
        },
        Case(
            testDescription: "date of this second", probedBy: "HEAD", identity: "none"
        ) { _, reply in
            reply.set("ETag", nil)
            reply.set("Last-Modified", reply.header("Date"))
        },
        Case(
            testDescription: "controls in fields", probedBy: "HEAD",
            lines: ["type:          a\\u{1b}[31mb"]
        ) { $1.set("Content-Type", "a\u{1B}[31mb") },
    ]

    @Test(arguments: cases)
    func reportsServer(server: Case) async throws {
        let trial = try WireTrial(size: 2_000_000) { server.bend($0, &$1) }
        let url = trial.origin.url("/dir/file.bin?token=hush")
        let text = try await Run(["probe", url], in: trial.sandbox.path).ended()
        #expect(text.exitCode == 0, "\(text.errorOutput)")
        for line in server.lines { #expect(text.output.contains(line), "\(text.output)") }
        #expect(!text.output.contains("hush"))
        #expect(!text.output.contains("\u{1B}"))
        let json = try await Run(["probe", url, "--json"], in: trial.sandbox.path).ended()
        #expect(json.exitCode == 0)
        #expect(!json.output.contains("hush"))
        let report = try #require(try json.events().first)
        #expect(report.transfer == server.transfer)
        #expect(report.probedBy == server.probedBy)
        #expect(report.identity == server.identity)
        #expect(report.size == server.size)
        #expect(report.name == "file.bin")
        #expect(report.finalUrl == trial.origin.url("/dir/file.bin"))
        // A probe saves nothing, and closes the connection of a body that it does not need.
        #expect(try trial.sandbox.names() == [])
        #expect(eventually { trial.origin.openConnections == 0 })
    }

    @Test(
        arguments: [(401, 77, "refused"), (403, 77, "refused"), (404, 69, "status")]
            as [(Int, Int32, String)])
    func failsWithCodeOfStatus(status: Int, code: Int32, kind: String) async throws {
        let trial = try WireTrial { _, reply in reply = .text(status) }
        let outcome = try await Run(
            ["probe", trial.origin.url("/f?token=hush"), "--json"], in: trial.sandbox.path
        ).ended()
        #expect(outcome.exitCode == code)
        #expect(try outcome.events().first?.kind == kind)
        #expect(outcome.errorOutput.contains("error: "))
        #expect(!(outcome.output + outcome.errorOutput).contains("hush"))
    }

    @Test func format1HasItsFieldNames() async throws {
        let trial = try WireTrial(size: 2_000_000)
        let url = trial.origin.url("/f")
        for (arguments, environment) in [
            (["--json=1"], [:]), ([], ["SEGGET_JSON": "1"]), (["--json=1"], ["SEGGET_JSON": "2"]),
        ] {
            let probe = try Run(
                ["probe", url] + arguments, in: trial.sandbox.path, environment: environment
            ).wait()
            #expect(probe.output.contains(#""plan":"segments""#), "\(probe.output)")
            let get = try Run(
                ["get", url, "--overwrite"] + arguments, in: trial.sandbox.path,
                environment: environment
            ).wait()
            #expect(get.output.contains(#""format":1,"#) && get.output.contains(#""plan":"#))
            #expect(!get.output.contains(#""transfer":"#))
        }
        for arguments in [["--json"], ["--json=2"], ["--json=true"]] {
            let probe = try Run(["probe", url] + arguments, in: trial.sandbox.path).wait()
            #expect(probe.output.contains(#""transfer":"segments""#), "\(probe.output)")
        }
        let wrong = try Run(["probe", url, "--json=3"], in: trial.sandbox.path).wait()
        #expect(wrong.end == .exit(64) && wrong.errorOutput.contains("--json"))
    }

    @Test func unknownCodingIsRefused() async throws {
        let trial = try WireTrial { _, reply in reply.set("Content-Encoding", "x-unknown") }
        let outcome = try await Run(
            ["probe", trial.origin.url("/f"), "--json"], in: trial.sandbox.path
        ).ended()
        #expect(outcome.exitCode == 76)
        #expect(try outcome.events().first?.kind == "contract_broken")
    }

    @Test func reportsDigestsAndRedirects() async throws {
        let trial = try WireTrial { request, reply in
            guard request.path == "/to/real.iso" else {
                reply = .text(302, headers: [HeaderField("Location", "/to/real.iso?secret=hush")])
                return
            }
            reply.set("Content-MD5", "XrY7u+Ae7tCTyyK7j1rNww==")
            reply.set("Content-Disposition", "attachment; filename=\"../../named.iso\"")
        }
        let outcome = try await Run(
            ["probe", trial.origin.url("/start"), "--json"], in: trial.sandbox.path
        ).ended()
        let report = try #require(try outcome.events().first)
        #expect(report.redirects == 1)
        #expect(report.finalUrl == trial.origin.url("/to/real.iso"))
        #expect(report.digests == ["md5:5eb63bbbe01eeed093cb22bb8f5acdc3"])
        #expect(report.name == "named.iso")
        #expect(!outcome.output.contains("hush"))
    }
}
