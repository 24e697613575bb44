import TestSupport
import Testing

/// segget sends `HEAD` and the first ranged `GET` at the same time if connecting is slow.
///
/// The name server answers only after both connections have asked for the address.
@Suite(
    .serialized, .timeLimit(.minutes(5)),
    .enabled(if: NetworkPair.unavailable == nil, "\(NetworkPair.unavailable ?? "")"))
struct OverlapEndToEndTests {
    /// The server's replies to `HEAD` and to the first `GET`.
    struct Answers: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// Whether the bytes of the first `GET` are used, so that they are not requested again.
        var usesFirst = true
        /// The number of notices that `HEAD` is not usable.
        var notices = 0
        var head: @Sendable (inout OriginReply) -> Void = { _ in }
        var get: @Sendable (inout OriginReply) -> Void = { _ in }
    }

    private static let late = 30.0

    static let all = [
        Answers(testDescription: "both"),
        Answers(testDescription: "HEAD later", head: { $0.delayBeforeHeaders = 0.05 }),
        Answers(testDescription: "GET later", get: { $0.delayBeforeHeaders = 0.05 }),
        Answers(testDescription: "HEAD never", notices: 1, head: { $0.delayBeforeHeaders = late }),
        Answers(
            testDescription: "GET never", usesFirst: false, get: { $0.delayBeforeHeaders = late }),
        Answers(testDescription: "HEAD 405", notices: 1, head: { $0 = .text(405) }),
        Answers(testDescription: "HEAD reset", notices: 1, head: { $0 = .resetWithoutReply }),
        Answers(
            testDescription: "no ranges stated", notices: 1,
            head: { $0.set("Accept-Ranges", nil) }),
        Answers(
            testDescription: "HEAD of another version", notices: 1,
            head: { $0.set("ETag", "\"x\"") }),
        Answers(
            testDescription: "HEAD of another size", notices: 1, head: { $0.claimedLength = 7 }),
        Answers(testDescription: "GET 503", usesFirst: false, get: { $0 = .text(503) }),
        Answers(testDescription: "GET 403", usesFirst: false, get: { $0 = .text(403) }),
        Answers(testDescription: "GET reset", usesFirst: false, get: { $0 = .resetWithoutReply }),
        Answers(
            testDescription: "GET of another range", usesFirst: false,
            get: { $0.set("Content-Range", "bytes 1-4000000/9000000") }),
        Answers(
            testDescription: "both useless, once", usesFirst: false, notices: 1,
            head: { $0 = .text(503) }, get: { $0 = .text(503) }),
    ]

    @Test(arguments: all)
    func usesHeadOrFirstGet(answers: Answers) async throws {
        // On a busy machine, another connection may take over a stalled range.
        let isAsExpected = try await oneOfThree {
            let (tally, network) = (Tally(), try NetworkPair())
            let trial = try WireTrial(size: 9_000_000, network: network) { request, reply in
                if request.method == "HEAD" {
                    answers.head(&reply)
                } else if tally.add() == 1 {
                    answers.get(&reply)
                }
            }
            // With a checksum, segget does not check the version again at the end.
            let checksum = ["--checksum", "sha-256:\(trial.content.sha256Hex)"]
            let outcome = try await run(trial, checksum)
            try outcome.expectComplete(trial.content)
            let requests = trial.origin.requests
            #expect(Set(requests.prefix(2).map(\.method)) == ["HEAD", "GET"])
            #expect(requests.count { $0.method == "HEAD" } == 1)
            #expect(trial.gets.first?.range?.first == 0)
            let isNoticed = try outcome.notices("head_unusable").count == answers.notices
            let isUsed = trial.gets.count { $0.range?.first == 0 } == 1
            guard answers.usesFirst else { return isNoticed && !isUsed }
            let isProbe = try outcome.events("probed").map(\.probedBy) == ["GET"]
            return isNoticed && isUsed && isProbe && trial.excess <= 1 << 20
        }
        #expect(isAsExpected)
    }

    /// A digest that only `HEAD` states is verified.
    @Test func verifiesDigestFromHeadOnly() async throws {
        let trial = try WireTrial(size: 9_000_000, network: NetworkPair()) { request, reply in
            guard request.method == "HEAD" else { return }
            reply.set("Content-MD5", "XrY7u+Ae7tCTyyK7j1rNww==")
        }
        let outcome = try await run(trial)
        try outcome.expectFailure(code: 65, kind: "checksum_mismatch")
        #expect(trial.gets.count { $0.range?.first == 0 } == 1)
    }

    /// With credentials, which may be wrong, or one connection, `HEAD` is sent first.
    @Test(arguments: [["-u", "me:hush"], ["-x", "1"]])
    func sendsHeadFirstWithCredentials(options: [String]) async throws {
        let trial = try WireTrial(size: 9_000_000, network: NetworkPair())
        let outcome = try await run(trial, options)
        try outcome.expectComplete(trial.content)
        #expect(try outcome.events("probed").map(\.probedBy) == ["HEAD"])
        #expect(trial.gets.first?.number == 2)
    }

    @Test func resumesPart() async throws {
        let trial = try WireTrial(size: 9_000_000, network: NetworkPair()) { request, reply in
            if request.method == "GET", request.number < 20 { reply.cutAfter = 900_000 }
        }
        let first = try await run(trial, ["--retries", "0"])
        #expect(first.exitCode == 69)
        let (before, served) = (trial.origin.requests.count, trial.origin.bytesServed)
        try await run(trial, ["--retries", "30"]).expectComplete(trial.content)
        #expect(trial.origin.requests[before].method == "HEAD")
        #expect(trial.gets.first { $0.number > before }?.range?.first != 0)
        #expect(trial.origin.bytesServed - served < trial.content.size)
    }

    private func run(
        _ trial: WireTrial, _ options: [String] = ["-x", "4"]
    ) async throws -> Run.Outcome {
        guard let network = trial.network else { preconditionFailure("no network") }
        let names = try NameServer(network, .silent, options: "timeout:1 attempts:9")
        defer { names.stop() }
        let child = try trial.start(
            options + ["-4"], url: "http://origin.test:\(trial.origin.port)/dir/file.bin")
        // The questions of both requests and of the search for further addresses. If one of them is
        // repeated, the others were asked before.
        #expect(eventually { names.questions >= 3 })
        names.become(.answers)
        return try await child.ended()
    }
}
