import Glibc
import TestSupport
import Testing

/// `HEAD` is a hint: only a failing `GET` fails the download, and the fields of both replies are
/// used.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct HeadEndToEndTests {
    @Test(arguments: ["redirects to itself", "leads elsewhere", "hangs"])
    func usesGetIfHeadFails(fault: String) async throws {
        let trial = try WireTrial { request, reply in
            guard request.method == "HEAD" else { return }
            switch fault {
            case "redirects to itself":
                reply = .text(302, headers: [HeaderField("Location", request.target)])
            case "leads elsewhere":
                reply = .text(302, headers: [HeaderField("Location", "ftp://127.0.0.1/x")])
            default: reply.delayBeforeHeaders = .infinity
            }
        }
        let outcome = try await trial.run("-x", "2")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("head_unusable").count == 1)
    }

    /// Only `GET` states the name, as with signed S3 URLs with `response-content-disposition`.
    @Test(arguments: ["1", "4"])
    func usesFilenameFromGetOnly(connections: String) async throws {
        let path = "/dir/key?response-content-disposition=x&sig=1"
        let trial = try WireTrial { request, reply in
            if request.method == "GET" {
                reply.set("Content-Disposition", "attachment; filename=\"report.bin\"")
            }
        }
        let first = try await trial.run("-x", connections, path: path)
        try first.expectComplete(trial.content, name: "report.bin")
    }

    /// The next run finds the part under the name from `GET`.
    @Test func resumesPartUnderFilenameFromGetOnly() throws {
        let stage = try Stage(size: 3_000_000)
        let disposition = "attachment; filename=\"report.bin\""
        stage.origin.bend { request, reply in
            if request.method == "GET" { reply.set("Content-Disposition", disposition) }
        }
        let process = try stage.start(["-x", "2", "--limit-rate", "1M"], path: "/get?filename=x")
        #expect(process.waits(for: 300_000, name: "report.bin"))
        process.signal(SIGKILL)
        _ = try process.wait()
        let outcome = try stage.run(path: "/get?filename=x")
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("resuming"), "\(outcome.errorOutput)")
        #expect(try stage.names() == ["report.bin"])
        #expect(try stage.isRight("report.bin"))
    }

    /// An `ETag` and a `Last-Modified` that only `HEAD` states resume the part and set the file's
    /// time.
    @Test(arguments: [true, false])
    func resumesWithValidatorsFromHeadOnly(isSame: Bool) throws {
        let stage = try Stage(size: 3_000_000)
        stage.origin.change { offer in
            offer.lastModified = httpDate(unixTime: 1_700_000_000)
            offer.bend = { request, reply in
                if request.method == "GET" {
                    reply.set("ETag", nil)
                    reply.set("Last-Modified", nil)
                }
            }
        }
        let process = try stage.start(["-x", "2", "--limit-rate", "1M"])
        #expect(process.waits(for: 300_000))
        process.signal(SIGKILL)
        _ = try process.wait()
        if !isSame {
            stage.origin.change {
                $0.etag = "\"v2\""
                $0.content = Content(size: 3_000_000, seed: 2)
            }
        }
        let outcome = try stage.run()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains(isSame ? "resuming" : "starting over"))
        #expect(try stage.isRight())
        var status = stat()
        #expect(stat(stage.path("file"), &status) == 0)
        #expect(status.st_mtim.tv_sec == 1_700_000_000)
    }

    /// The file changes during the download, and only `HEAD` states the new `ETag`.
    @Test func noticesChangeStatedByHeadOnly() async throws {
        let gets = Tally()
        let trial = try WireTrial(size: 3_000_000) { request, content in
            let number = request.method == "GET" ? gets.add() : gets.count()
            let isNew = number > 4
            let now = isNew ? Content(size: 3_000_000, seed: 2) : content
            let reply = OriginReply.file(
                now, for: request, etag: isNew ? "\"b\"" : "\"a\"", longest: 300_000)
            return reply.with { if request.method == "GET" { $0.set("ETag", nil) } }
        }
        let outcome = try await trial.run("-x", "2")
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        let new = Content(size: 3_000_000, seed: 2)
        #expect(try new.firstDifference(at: trial.sandbox.path("file.bin")) == nil)
    }

    /// After an error reply to a range request, segget sends one request without a range.
    @Test(arguments: [400, 403, 404, 405, 500, 501], ["one", "list"])
    func retriesRefusedRangeWithoutRange(status: Int, mode: String) async throws {
        let trial = try WireTrial(size: 100_000) { request, reply in
            if request.range != nil { reply = .text(status, "no ranges") }
            if request.method == "HEAD" { reply = .text(406) }
        }
        try trial.sandbox.write("list", trial.origin.url("/dir/file.bin") + "\n")
        let url = trial.origin.url("/dir/file.bin")
        let outcome = try await Run(
            mode == "one" ? [url, "-x", "2"] : ["-i", "list"], in: trial.sandbox.path
        ).ended()
        trial.origin.hearOut()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        let path = trial.sandbox.path("file.bin")
        #expect(try trial.content.firstDifference(at: path) == nil)
        #expect(trial.gets.count == 2)
    }

    /// `HEAD` offered ranges.
    @Test(arguments: [400, 403, 404, 405, 416, 500, 501], ["1", "4"])
    func retriesWithoutRangeAfterUsableHead(status: Int, connections: String) async throws {
        let trial = try WireTrial(size: 100_000) { request, reply in
            if request.range != nil { reply = .text(status, "no ranges") }
        }
        let outcome = try await trial.run("-x", connections)
        try outcome.expectComplete(trial.content)
        #expect(trial.gets.count < 12)
    }

    /// If the request without a range fails too, its status is reported without a retry.
    @Test(arguments: [400, 403, 404, 405, 501])
    func reportsStatusIfRequestWithoutRangeFails(status: Int) async throws {
        let trial = try WireTrial { request, reply in
            reply = request.method == "HEAD" ? .text(200) : .text(status, "no")
        }
        let outcome = try await trial.run()
        #expect(outcome.exitCode == (status == 403 ? 77 : 69), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("\(status)"))
        // A 403 is retried once: a server that counts requests may have counted `HEAD`.
        #expect(trial.gets.count == (status == 403 ? 3 : 2))
    }
}
