import TestSupport
import Testing

/// Tests that segget delivers one version or none if the remote file changes during the download.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ChangeEndToEndTests {
    /// The validators that distinguish the versions.
    enum Validator: String, Sendable, CaseIterable {
        case etag, date, weak, etagAndDate
    }

    /// A version of the file.
    struct Version: Sendable {
        let content: Content
        let number: Int

        init(_ number: Int, size: Int64) {
            self.number = number
            content = Content(size: size, seed: UInt64(1000 + number))
        }

        func reply(_ request: OriginRequest, _ validator: Validator) -> OriginReply {
            let date = httpDate(unixTime: 1_600_000_000 + number)
            let (tag, isDated) = ("\"v\(number)\"", [.date, .etagAndDate].contains(validator))
            let etag: String? =
                switch validator {
                case .etag, .etagAndDate: tag
                case .weak: "W/" + tag
                case .date: nil
                }
            // Short responses, so that requests follow the change.
            return .file(
                content, for: request, etag: etag, lastModified: isDated ? date : nil,
                longest: 500_000)
        }
    }

    /// Returns an origin that replaces the file after every `count` GETs.
    ///
    /// GETs of a single byte, which only check whether the file is unchanged, do not count.
    private static func trial(
        _ versions: [Version], after count: Int, _ validator: Validator
    ) throws -> WireTrial {
        let tally = Tally()
        return try WireTrial(sendBuffer: 64 << 10) { request, _ in
            let counts = request.method == "GET" && request.range?.last != 0
            let served = counts ? tally.add() - 1 : tally.count()
            return versions[min(served / count, versions.count - 1)].reply(request, validator)
        }
    }

    @Test(arguments: Validator.allCases, [6_000_000, 5_000_000, 7_000_001] as [Int64])
    func oneChangeDeliversNewVersion(validator: Validator, size: Int64) async throws {
        let versions = [Version(1, size: 6_000_000), Version(2, size: size)]
        let trial = try Self.trial(versions, after: 6, validator)
        let outcome = try await trial.run("-x", "3")
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try trial.sandbox.names() == ["file.bin"])
        #expect(
            try versions[1].content.firstDifference(at: trial.sandbox.path("file.bin")) == nil)
        let starts = try outcome.notices("started_over")
        #expect(starts.map(\.reason) == ["changed_midway"])
        #expect(outcome.errorOutput.contains("the remote file changed during the download"))
        #expect(try outcome.events("started").last?.size == size)
    }

    /// A change makes segget start over even with `--retries 0`.
    @Test func oneChangeStartsOverWithoutRetries() async throws {
        let versions = [Version(1, size: 6_000_000), Version(2, size: 6_000_000)]
        let trial = try Self.trial(versions, after: 6, .etag)
        let outcome = try await trial.run("-x", "3", "--retries", "0")
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(
            try versions[1].content.firstDifference(at: trial.sandbox.path("file.bin")) == nil)
    }

    @Test(arguments: [Validator.etag, .date, .weak])
    func secondChangeFails(validator: Validator) async throws {
        // Enough GETs to detect a change, but too few for the whole file.
        let versions = (1...5).map { Version($0, size: 12_000_000) }
        let trial = try Self.trial(versions, after: 12, validator)
        let outcome = try await trial.run("-x", "3")
        try outcome.expectFailure(code: 76, kind: "remote_changed")
        #expect(outcome.errorOutput.contains("and again after starting over"))
        #expect(try outcome.notices("started_over").count == 1)
        #expect(trial.origin.requests.count < 100)
    }

    /// A file that changes after every few requests is never mixed, and the download ends.
    @Test(arguments: [Validator.etag, .date, .weak], [1, 2, 3, 5])
    func repeatedChangesNeverMixVersions(validator: Validator, every: Int) async throws {
        let versions = (1...200).map { Version($0, size: 3_000_000) }
        let trial = try Self.trial(versions, after: every, validator)
        let outcome = try await trial.run("-x", "3", "--retries", "3")
        if outcome.exitCode == 0 {
            try expectOneVersion(trial, versions)
        } else {
            #expect(outcome.exitCode == 76, "\(outcome.errorOutput)")
            #expect(!(try trial.sandbox.names().contains("file.bin")))
        }
        #expect(trial.origin.requests.count < 100)
    }

    private func expectOneVersion(
        _ trial: WireTrial, _ versions: [Version], _ location: SourceLocation = #_sourceLocation
    ) throws {
        let path = trial.sandbox.path("file.bin")
        let matches = try versions.count { try $0.content.firstDifference(at: path) == nil }
        #expect(matches == 1, sourceLocation: location)
        #expect(try trial.sandbox.names() == ["file.bin"], sourceLocation: location)
    }

    /// The rule by which a balancer chooses a backend.
    enum Balancing: String, Sendable, CaseIterable {
        case request, connection, random
    }

    /// Two backends have different versions indefinitely.
    @Test(arguments: Balancing.allCases, [3, 8])
    func disagreeingBackendsNeverMixVersions(balancing: Balancing, connections: Int) async throws {
        let versions = [Version(1, size: 4_000_000), Version(2, size: 4_000_000)]
        let trial = try WireTrial(sendBuffer: 64 << 10) { request, _ in
            let number =
                switch balancing {
                case .request: request.number
                case .connection: request.connection
                case .random: request.number &* 2_654_435_761 >> 7
                }
            return versions[number % 2].reply(request, .etag)
        }
        let outcome = try await trial.run("-x", "\(connections)")
        if outcome.exitCode == 0 {
            try expectOneVersion(trial, versions)
        } else {
            try outcome.expectFailure(code: 76, kind: "remote_changed")
        }
        #expect(trial.origin.requests.count < 300)
    }

    /// One of two backends has the old version for a while.
    @Test func completesAfterLateBackendCatchesUp() async throws {
        let versions = [Version(1, size: 4_000_000), Version(2, size: 4_000_000)]
        let tally = Tally()
        let trial = try WireTrial(sendBuffer: 64 << 10) { request, _ in
            let isLate = request.method == "GET" && request.connection % 2 == 0 && tally.add() < 4
            return versions[isLate ? 0 : 1].reply(request, .etag)
        }
        let outcome = try await trial.run("-x", "4")
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        try expectOneVersion(trial, versions)
    }

    /// The file changes before its single stream is requested again.
    @Test func repeatedStreamDeliversOneVersion() async throws {
        let versions = [Version(1, size: 3_000_000), Version(2, size: 2_000_000)]
        let tally = Tally()
        let trial = try WireTrial { request, _ in
            guard request.method == "GET" else { return .text(405) }
            let isFirst = tally.add() == 1
            let version = versions[isFirst ? 0 : 1]
            return OriginReply(body: .content(version.content, 0..<version.content.size)).with {
                if isFirst { $0.cutAfter = 1_500_000 }
            }
        }
        let outcome = try await trial.run()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(
            try versions[1].content.firstDifference(at: trial.sandbox.path("file.bin")) == nil)
        #expect(try trial.sandbox.names() == ["file.bin"])
    }
}
