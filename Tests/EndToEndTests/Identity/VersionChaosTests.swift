import Foundation
import TestSupport
import Testing

/// Tests that segget publishes one whole version or none of a file that changes while segget is
/// repeatedly killed and restarted.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct VersionChaosTests {
    private static let rounds = 20

    /// The validators that distinguish the versions.
    private enum Validator: CaseIterable { case etag, date, weak, etagAndDate, weakAndDate, none }

    /// The rule that selects a request's version.
    private enum Change: CaseIterable {
        case never, once, everyFew, thereAndBack, byConnection, byRequest
    }

    /// Server behaviour that does not change the file.
    private enum Manner: CaseIterable {
        case plain
        /// Replies to range requests have status 200.
        case partsBy200
        /// The file is a stored archive with a content coding, which some replies omit.
        case coded, codedAtTimes
        /// The servers state different dates, but the same ETag.
        case dates
        /// Each reply sets a cookie.
        case cookies
    }

    /// A file in several versions, and the rule by which the origin changes them.
    private struct Plan: Sendable {
        var versions: [Content]
        var validator: Validator
        var change: Change
        var after: Int
        /// The version that changes only between runs, because no validator distinguishes the
        /// versions.
        var fixed: Int?
        /// The other behaviour of the server.
        var manner: Manner

        init(_ random: inout SplitMix64) {
            let sizes: [Int64] =
                Bool.random(using: &random)
                ? [2_000_000, 2_000_000, 2_000_000] : [2_000_000, 1_500_000, 2_000_001]
            let seed = UInt64.random(in: 0...1 << 40, using: &random)
            versions = sizes.enumerated().map { Content(size: $1, seed: seed + UInt64($0)) }
            validator = Validator.allCases.randomElement(using: &random) ?? .etag
            change = Change.allCases.randomElement(using: &random) ?? .once
            after = Int.random(in: 1...8, using: &random)
            manner = Manner.allCases.randomElement(using: &random) ?? .plain
            if validator == .none { fixed = 0 }
        }

        func version(_ request: OriginRequest, _ served: Int) -> Int {
            if let fixed { return fixed }
            let number =
                switch change {
                case .never: 0
                case .once: served < after ? 0 : 1
                case .everyFew: served / after
                case .thereAndBack: (after..<(after + 3)).contains(served) ? 1 : 0
                case .byConnection: request.connection
                case .byRequest: request.number &* 2_654_435_761 >> 7
                }
            return number % versions.count
        }

        func reply(_ request: OriginRequest, _ served: Int) -> OriginReply {
            let number = version(request, served)
            let date = httpDate(unixTime: 1_600_000_000 + 60 * number)
            let etag: String? =
                switch validator {
                case .etag, .etagAndDate: "\"v\(number)\""
                case .weak, .weakAndDate: "W/\"v\(number)\""
                case .date, .none: nil
                }
            let hasDate = [.date, .etagAndDate, .weakAndDate].contains(validator)
            return OriginReply.file(
                versions[number], for: request, etag: etag, lastModified: hasDate ? date : nil
            ).with {
                $0.pace = 2_000_000
                bend(&$0, request)
            }
        }

        private func bend(_ reply: inout OriginReply, _ request: OriginRequest) {
            switch manner {
            case .plain: break
            case .partsBy200: if reply.status == 206 { reply.status = 200 }
            case .coded: reply.set("Content-Encoding", "gzip")
            case .codedAtTimes:
                if request.number % 5 != 0 { reply.set("Content-Encoding", "gzip") }
            case .dates:
                guard validator == .etag || validator == .etagAndDate else { return }
                reply.set(
                    "Last-Modified",
                    httpDate(unixTime: 1_500_000_000 + 60 * (request.connection % 2)))
            case .cookies: reply.set("Set-Cookie", "turn=\(request.number); Path=/")
            }
        }
    }

    @Test(arguments: [UInt64.random(in: 0...UInt64.max)])
    func publishesOnlyOneVersion(seed: UInt64) async throws {
        print("version chaos: seed \(seed)")
        var random = SplitMix64(seed: seed)
        for round in 0..<Self.rounds {
            let plan = Guarded(Plan(&random))
            let tally = Tally()
            let origin = try Origin(sendBuffer: 32 << 10) { request in
                let counts = request.method == "GET" && request.range?.last != 0
                let served = counts ? tally.add() - 1 : tally.count()
                return plan.withLock { $0 }.reply(request, served)
            }
            let sandbox = try Sandbox()
            var outcome: Run.Outcome?
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                outcome = try killed(after: &random, origin, sandbox)
                if outcome?.exitCode == 0 || isPublished(sandbox) { break }
                // Without validators, the version changes only between runs.
                plan.withLock {
                    if $0.fixed != nil { $0.fixed = Int.random(in: 0...2, using: &random) }
                }
            }
            if outcome?.exitCode != 0, !isPublished(sandbox) {
                outcome = try await Run(arguments(&random, origin), in: sandbox.path).ended()
            }
            let report = Comment(
                rawValue: "seed \(seed), round \(round), \(plan.withLock { $0 }): "
                    + (outcome?.errorOutput ?? ""))
            try expectOneVersion(outcome, plan.withLock { $0.versions }, sandbox, report)
            guard !isPublished(sandbox) else { continue }
            // Once the file no longer changes, the same command downloads it.
            plan.withLock {
                ($0.change, $0.fixed) = (.never, 0)
                if $0.manner == .codedAtTimes { $0.manner = .coded }
            }
            let last = try await Run(arguments(&random, origin), in: sandbox.path).ended()
            #expect(last.exitCode == 0, "\(last.errorOutput)")
            let first = plan.withLock { $0.versions[0] }
            #expect(try first.firstDifference(at: sandbox.path("file")) == nil, report)
        }
    }

    private func arguments(_ random: inout SplitMix64, _ origin: Origin) -> [String] {
        let isUnverified = Bool.random(using: &random)
        return [
            origin.url("/file.gz"), "-o", "file", "--json", "-v", "--retries", "3", "-x",
            "\(Int.random(in: 1...6, using: &random))",
        ] + (isUnverified ? ["--resume-unverified"] : [])
    }

    /// Runs segget and kills it after some requests, unless it has ended before.
    private func killed(
        after random: inout SplitMix64, _ origin: Origin, _ sandbox: Sandbox
    ) throws -> Run.Outcome {
        let before = origin.requests.count
        let child = try Run(arguments(&random, origin), in: sandbox.path)
        let count = Int.random(in: 1...12, using: &random)
        let bytes = origin.bytesServed + Int64.random(in: 0...1_500_000, using: &random)
        _ = eventually(timeout: 60) {
            !child.isRunning
                || origin.requests.count >= before + count && origin.bytesServed >= bytes
        }
        child.signal(SIGKILL)
        return try child.wait()
    }

    /// Whether the file is finished, also if the process was killed right before its exit.
    private func isPublished(_ sandbox: Sandbox) -> Bool { (try? sandbox.names()) == ["file"] }

    private func expectOneVersion(
        _ outcome: Run.Outcome?, _ versions: [Content], _ sandbox: Sandbox,
        _ report: Comment
    ) throws {
        let outcome = try #require(outcome)
        guard outcome.exitCode == 0 || outcome.exitCode == nil && isPublished(sandbox) else {
            #expect(try !sandbox.names().contains("file"), report)
            #expect(outcome.exitCode == 76, report)
            return
        }
        let path = sandbox.path("file")
        let matches = try versions.count { try $0.firstDifference(at: path) == nil }
        #expect(matches == 1, report)
        #expect(try sandbox.names() == ["file"], report)
    }
}
