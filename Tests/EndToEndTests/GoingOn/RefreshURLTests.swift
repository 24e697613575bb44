import Foundation
import Glibc
import TestSupport
import Testing

/// Tests `--refresh-url`, whose command prints a new URL that replaces an expired one.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct RefreshURLTests {
    static let size: Int64 = 6_000_000

    /// An origin whose URLs are valid for some requests, and a command that gets a new URL there.
    final class Signer: Sendable {
        let trial: WireTrial
        private let tally: Tally

        /// Creates an origin whose URLs, numbered from 0, are valid for `uses` requests each.
        ///
        /// After that it replies with status `refusal`.
        init(
            size: Int64 = RefreshURLTests.size, refusal: Int = 401,
            uses: @escaping @Sendable (Int) -> Int,
            answer: @escaping @Sendable (Int, OriginRequest, Content) -> OriginReply = {
                // Short responses, so that a few requests do not download the whole file.
                .file($2, for: $1, etag: "\"a\"", longest: 500_000)
            }
        ) throws {
            let tally = Tally()
            self.tally = tally
            trial = try WireTrial(size: size, sendBuffer: 32 << 10) { request, content in
                if request.path == "/sign" {
                    let port = request.header("Host") ?? ""
                    return .text(200, "http://\(port)/new/\(tally.add("signed")).bin?sig=secret\n")
                }
                let name = request.path.split(separator: "/").last.map(String.init) ?? ""
                let link = Int(name.prefix { $0 != "." }) ?? 0
                guard tally.add("\(link)") <= uses(link) else { return .text(refusal, "expired") }
                return answer(link, request, content)
            }
        }

        /// The number of requested new URLs.
        var signed: Int { tally.count("signed") }
        /// The command that prints a new URL.
        var command: String { "curl -s \(trial.origin.url("/sign"))" }
        /// The number of body bytes in responses other than new URLs.
        var served: Int64 {
            trial.gets.filter { $0.path != "/sign" }.reduce(0) { $0 + $1.bytesServed }
        }

        func run(_ options: String...) async throws -> Run.Outcome {
            let outcome = try await Run(
                [trial.origin.url("/dir/file.bin?sig=secret"), "--json", "-v", "-o", "file.bin"]
                    + options, in: trial.sandbox.path
            ).ended()
            trial.origin.hearOut()
            return outcome
        }
    }

    // MARK: Refreshed URLs

    @Test(arguments: [401, 403, 404, 410])
    func refreshContinuesMidway(status: Int) async throws {
        let signer = try Signer(refusal: status, uses: { $0 == 0 ? 4 : .max })
        let outcome = try await signer.run("-x", "3", "--refresh-url", signer.command)
        try outcome.expectComplete(signer.trial.content)
        let notices = try outcome.notices("link_refreshed")
        #expect(notices.map(\.status) == [status])
        #expect(notices.first?.url?.hasSuffix("/new/1.bin") == true)
        #expect(signer.signed == 1)
        #expect(signer.served <= Self.size + (1 << 20))
        #expect(!(outcome.output + outcome.errorOutput).contains("secret"))
    }

    /// Recorded bytes are not downloaded again if the URL is refused before any byte arrives.
    @Test(arguments: [true, false])
    func refreshContinuesAtStart(resumes: Bool) async throws {
        let signer = try Signer(uses: { $0 == 0 ? (resumes ? 4 : 0) : .max })
        var kept: Int64 = 0
        if resumes {
            let outcome = try await signer.run("-x", "2")
            #expect(outcome.exitCode == 77, "\(outcome.errorOutput)")
            kept = try #require(try outcome.events("error").first?.bytesKept)
            #expect(kept > 0)
        }
        let outcome = try await signer.run("-x", "2", "--refresh-url", signer.command)
        try outcome.expectComplete(signer.trial.content)
        #expect(try outcome.events("finished").first?.bytesResumed == kept)
        #expect(signer.served <= Self.size + (1 << 20))
    }

    /// A part that was begun under a new URL remains when the given URL works again with other
    /// validators.
    @Test func keepsPartWhenGivenURLWorksAgain() async throws {
        let isBack = Guarded(false)
        let content = Content(size: Self.size, seed: 1)
        let trial = try WireTrial(size: Self.size) { request, content in
            if request.path == "/dir/file.bin" {
                return isBack.withLock { $0 }
                    ? .file(content, for: request, etag: "\"a\"") : .text(403)
            }
            return .file(content, for: request, etag: "\"b\"").with {
                // A check of the first byte is answered.
                if request.method == "GET", request.range?.last != 0 { $0.stallAfter = 500_000 }
            }
        }
        let command = "echo \(trial.origin.url("/other/name"))"
        let process = try trial.start(["-x", "2", "-o", "file.bin", "--refresh-url", command])
        #expect(process.waits(for: 1_000_000, name: "file.bin"), "\(process.output)")
        process.signal(SIGKILL)
        _ = try process.wait()
        trial.origin.dropConnections()
        isBack.withLock { $0 = true }
        let refused = try await trial.run(
            "-x", "2", "-o", "file.bin", "--refresh-url", command)
        try refused.expectFailure(code: 76, kind: "not_continued")
        let outcome = try await trial.run(
            "-x", "2", "-o", "file.bin", "--refresh-url", command, "--checksum",
            "sha-256:\(content.sha256Hex)")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.events("finished").first?.bytesResumed ?? 0 >= 1_000_000)
    }

    /// Of several URLs the refused one is refreshed, whatever happened to the others.
    @Test func refreshesRefusedMirror() async throws {
        let signer = try Signer(uses: { $0 == 0 ? 6 : .max })
        let trial = signer.trial
        let dead = try Origin { _ in .text(500) }
        let url = dead.url("/gone.bin")
        dead.refuseConnections()
        let outcome = try await Run(
            [url, "--json", "-v", "-o", "file.bin", "-x", "3", "--mirror"]
                + [trial.origin.url("/dir/file.bin?sig=secret"), "--refresh-url", signer.command],
            in: trial.sandbox.path
        ).ended()
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("link_refreshed").count == 1)
    }

    /// The part keeps its name, whatever name the new URL has.
    @Test func partKeepsNameAfterRefresh() async throws {
        let signer = try Signer(uses: { $0 == 0 ? 4 : .max })
        let (trial, url) = (signer.trial, signer.trial.origin.url("/dir/file.bin?sig=secret"))
        let first = try await Run([url, "-x", "2"], in: trial.sandbox.path).ended()
        #expect(first.exitCode == 77, "\(first.errorOutput)")
        let outcome = try await Run(
            [url, "--json", "-v", "-x", "2", "--refresh-url", signer.command],
            in: trial.sandbox.path
        ).ended()
        try outcome.expectComplete(trial.content)
        #expect(try outcome.events("finished").first?.bytesResumed ?? 0 > 0)
    }

    /// The evidence that the new URL has the same file: validators, a digest or a sample.
    enum Proof: CaseIterable {
        case tag, date, digest, sample, nothing, otherTag, otherBytes

        var holds: Bool { ![.nothing, .otherTag, .otherBytes].contains(self) }
    }

    @Test(arguments: Proof.allCases)
    func keepsBytesOnlyIfFileIsSame(proof: Proof) async throws {
        let other = Content(size: Self.size, seed: 9)
        let signer = try Signer(uses: { $0 == 0 ? 4 : .max }) { link, request, content in
            let isOther = link > 0 && [.otherTag, .otherBytes].contains(proof)
            let date = httpDate(unixTime: 1_600_000_000)
            let tag = proof == .otherTag && isOther ? "\"b\"" : "\"a\""
            return .file(
                isOther ? other : content, for: request,
                etag: [.tag, .otherTag].contains(proof) ? tag : nil,
                lastModified: proof == .date ? date : nil, longest: 500_000)
        }
        var options = ["-x", "3", "--refresh-url", signer.command]
        if proof == .digest {
            options += ["--checksum", "sha-256:\(signer.trial.content.sha256Hex)"]
        }
        if [.sample, .otherBytes].contains(proof) { options.append("--resume-unverified") }
        let trial = signer.trial
        let outcome = try await Run(
            [trial.origin.url("/dir/file.bin"), "--json", "-v", "-o", "file.bin"] + options,
            in: trial.sandbox.path
        ).ended()
        trial.origin.hearOut()
        guard proof.holds else {
            try outcome.expectFailure(code: 76, kind: "not_continued")
            #expect(outcome.errorOutput.contains("it is left unchanged"))
            #expect(try outcome.events("error").first?.bytesKept ?? 0 > 0)
            return
        }
        try outcome.expectComplete(trial.content)
        #expect(signer.served <= Self.size + (256 << 10) + (1 << 20))
        #expect(try outcome.notices("started_over").isEmpty)
    }

    /// URLs expire repeatedly, and segget is killed while it waits for the next refresh.
    @Test func refreshesRepeatedlyAcrossKills() async throws {
        let size: Int64 = 24_000_000
        var random = SplitMix64(seed: 7)
        let lives = (0..<40).map { _ in Int.random(in: 3...9, using: &random) }
        let signer = try Signer(size: size, uses: { $0 < 12 ? lives[$0] : .max }) {
            .file($2, for: $1, etag: "\"a\"", longest: 400_000)
        }
        let (trial, command) = (signer.trial, signer.command)
        var runs = 0
        while runs < 40 {
            runs += 1
            let process = try trial.start(
                ["-x", "4", "-o", "file.bin", "--refresh-url", command])
            let isOver = eventually(timeout: 100) {
                !process.isRunning || Self.isWaiting(process.output)
            }
            #expect(isOver)
            guard process.isRunning else {
                try process.wait().expectComplete(trial.content)
                break
            }
            process.signal(SIGKILL)
            _ = try process.wait()
        }
        #expect(runs > 2)
        trial.origin.hearOut()
        // Responses in flight are received after a URL expires. Only a kill could lose them, and
        // there are none in flight then.
        #expect(signer.served <= size * 102 / 100 + Int64(runs) * (1 << 20))
    }

    /// Whether segget waits for the next refresh, and has recorded all received bytes.
    private static func isWaiting(_ output: String) -> Bool {
        guard let notice = output.range(of: "\"notice\":\"link_refresh_delayed\"") else {
            return false
        }
        return output[notice.upperBound...].split(separator: "\n").contains {
            $0.contains("\"event\":\"progress\"") && $0.contains("\"connections\":0")
        }
    }

    /// The mirrors of a file have expired too.
    @Test(arguments: [0, 6])
    func replacesExpiredMirrors(uses: Int) async throws {
        let signer = try Signer(uses: { $0 == 0 ? uses : .max })
        let outcome = try await signer.run(
            "-x", "3", "--mirror", signer.trial.origin.url("/mirror/file.bin"), "--refresh-url",
            signer.command)
        try outcome.expectComplete(signer.trial.content)
        #expect(try outcome.notices("link_refreshed").count == 1)
    }

    @Test func commandReceivesTaskVariables() async throws {
        let signer = try Signer(refusal: 410, uses: { $0 == 0 ? 4 : .max })
        let trial = signer.trial
        let script = try trial.sandbox.write(
            "../\(trial.sandbox.path.split(separator: "/").last ?? "")-command",
            "env | grep ^SEGGET >&2\n\(signer.command)\n")
        defer { try? FileManager.default.removeItem(atPath: script) }
        let outcome = try await signer.run("-x", "3", "--refresh-url", "sh \(script)")
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        let url = trial.origin.url("/dir/file.bin?sig=secret")
        for line in ["EVENT=refresh", "STATUS=410", "URL=\(url)"] {
            #expect(outcome.errorOutput.contains("SEGGET_TASK_\(line)\n"), "\(outcome.errorOutput)")
        }
    }

    // MARK: Failed commands

    @Test(
        arguments: [
            ("false", "exit code 1", "none"), ("true", "printed nothing", "none"),
            ("printf 'http://a/b http://a/c'", "more than a URL", "none"),
            ("echo not-a-url://x", "is not a URL that can be used", "unusable"),
            ("/nonexistent/command", "cannot be run", "none"),
            ("echo URL", "is the same", "same"),
        ])
    func failsIfCommandPrintsNoUsableURL(command: String, message: String, reason: String)
        async throws
    {
        let signer = try Signer(uses: { _ in 4 })
        let url = signer.trial.origin.url("/dir/file.bin?sig=secret")
        let outcome = try await signer.run(
            "-x", "3", "--refresh-url", command.replacingOccurrences(of: "URL", with: "'\(url)'"))
        #expect(outcome.exitCode == 77, "\(outcome.errorOutput)")
        #expect(try signer.trial.sandbox.names() == ["file.bin.part", "file.bin.segget"])
        #expect(try outcome.notices("link_not_refreshed").first?.reason == reason)
        #expect(outcome.errorOutput.contains(message), "\(outcome.errorOutput)")
        #expect(!(outcome.output + outcome.errorOutput).contains("secret"))
    }

    /// A hanging command has 30 seconds; its child processes end with it.
    @Test func hangingCommandTimesOut() async throws {
        let signer = try Signer(uses: { _ in 4 })
        let mark = "\(40_000 + Int(getpid()))"
        let outcome = try await signer.run(
            "-x", "3", "--refresh-url", "sh -c 'sleep \(mark); true'")
        #expect(outcome.exitCode == 77, "\(outcome.errorOutput)")
        #expect(try outcome.notices("link_not_refreshed").first?.reason == "late")
        #expect(eventually(timeout: 20) { !Self.runs("sleep", mark) })
    }

    /// A signal to segget ends the command too.
    @Test func signalEndsCommand() async throws {
        let signer = try Signer(uses: { _ in 4 })
        let mark = "\(50_000 + Int(getpid()))"
        let process = try signer.trial.start(
            ["-x", "3", "-o", "file.bin", "--refresh-url", "sleep \(mark)"])
        #expect(eventually(timeout: 60) { Self.runs("sleep", mark) })
        process.signal(SIGINT)
        let outcome = try process.wait(timeout: 20)
        #expect(outcome.exitCode == 130, "\(outcome.errorOutput)")
        #expect(eventually(timeout: 20) { !Self.runs("sleep", mark) })
    }

    /// Returns whether a command with an argument is running.
    private static func runs(_ command: String, _ argument: String) -> Bool {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.contains { name in
            guard Int32(name) != nil,
                let data = FileManager.default.contents(atPath: "/proc/\(name)/cmdline")
            else { return false }
            let words = data.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            return words.first == command && words.dropFirst().first == argument
        }
    }

    // MARK: Credentials and permissions

    /// Credentials for the old URL's origin are not sent to another host.
    @Test func credentialsAreNotSentToOtherHost() async throws {
        let content = Content(size: Self.size, seed: 1)
        let other = try Origin(address: "127.0.0.2") {
            .file(content, for: $0, etag: "\"a\"")
        }
        let trial = try WireTrial(size: Self.size) { request, content in
            request.number <= 4
                ? .file(content, for: request, etag: "\"a\"", longest: 500_000) : .text(403)
        }
        let outcome = try await trial.run(
            "-x", "3", "--header", "X-Token: s3cret", "--user", "me:s3cret", "--cookie-text",
            "id=s3cret", "--refresh-url", "echo \(other.url("/file.bin"))")
        try outcome.expectComplete(trial.content)
        #expect(trial.origin.requests.contains { $0.header("X-Token") == "s3cret" })
        #expect(!other.requests.isEmpty)
        for request in other.requests {
            #expect(
                !request.headers.contains {
                    $0.value.contains("s3cret") || $0.name == "Authorization"
                })
        }
    }

    /// A list cannot give a command; the command line and the configuration can, also for a list's
    /// files.
    @Test func listsCannotSetCommand() async throws {
        let signer = try Signer(uses: { $0 == 0 ? 0 : .max })
        let (trial, url) = (signer.trial, signer.trial.origin.url("/dir/file.bin"))
        let list = try trial.sandbox.write("list", "\(url)\n  refresh-url=touch made\n")
        let refused = try await Run(["-i", list], in: trial.sandbox.path).ended()
        #expect(refused.exitCode == 64, "\(refused.errorOutput)")
        #expect(try trial.sandbox.names() == ["list"])
        try trial.sandbox.write("list", "\(url)\n")
        let settings = try trial.sandbox.write("settings", "refresh-url = \(signer.command)\n")
        let outcome = try await Run(
            ["-i", list, "--config", settings], in: trial.sandbox.path
        ).ended()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try trial.content.firstDifference(at: trial.sandbox.path("1.bin")) == nil)
    }
}
