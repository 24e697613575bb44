import TestSupport
import Testing

/// The number of connections, their reuse, and work stealing between them.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ConnectionEndToEndTests {
    @Test(arguments: [1, 2, 16, 64])
    func neverExceedsRequestedConnections(connections: Int) async throws {
        let trial = try WireTrial(size: 20_000_000, sendBuffer: 64 << 10)
        let outcome = try await trial.run("-x", "\(connections)", "--retries", "0")
        try outcome.expectComplete(trial.content)
        // The origin may notice late that segget closed a connection whose work was stolen.
        let most = connections + 1 + (try outcome.notices("stole").count)
        #expect(trial.origin.peakConnections <= most)
        #expect(trial.origin.requests.map(\.openConnections).max() ?? 0 <= most)
        if connections == 1 { #expect(trial.origin.acceptedConnections == 1) }
        #expect(trial.origin.requests.allSatisfy { $0.header("Connection") == nil })
    }

    /// The requested number of connections is active at the same time.
    @Test(arguments: [4, 16])
    func usesAllRequestedConnections(connections: Int) async throws {
        let trial = try WireTrial(size: 16_000_000, sendBuffer: 64 << 10) { request, reply in
            if request.method == "GET" { reply.pace = 16_000_000 / Double(connections) }
        }
        let outcome = try await trial.run("-x", "\(connections)")
        try outcome.expectComplete(trial.content)
        #expect(trial.origin.peakConnections >= connections)
        #expect(try outcome.events("progress").contains { $0.connections == connections })
    }

    /// A connection serves several segments; only work stealing closes one.
    @Test func connectionsAreReused() async throws {
        let trial = try WireTrial(size: 20_000_000, sendBuffer: 64 << 10)
        let outcome = try await trial.run("-x", "4")
        try outcome.expectComplete(trial.content)
        let stolen = try outcome.notices("stole").count
        #expect(trial.origin.acceptedConnections <= 4 + 1 + stolen)
        #expect(trial.gets.count > 4)
    }

    /// A server that closes after each response only costs connections.
    @Test func completesWithoutKeepAlive() async throws {
        let trial = try WireTrial(size: 6_000_000) { _, reply in reply.closeAfter = true }
        let outcome = try await trial.run("-x", "3", "--retries", "0")
        try outcome.expectComplete(trial.content)
        #expect(trial.excess <= 1 << 20)
        #expect(trial.origin.acceptedConnections == trial.origin.requests.count)
    }

    /// Idle connections that the server closed do not fail the download.
    @Test func completesIfServerClosesIdleConnections() async throws {
        let trial = try WireTrial(size: 6_000_000) { request, reply in
            if request.numberOnConnection > 2 { reply = .closeWithoutReply }
        }
        let outcome = try await trial.run("-x", "3", "--retries", "2")
        try outcome.expectComplete(trial.content)
    }

    /// One connection is very slow: the others take over its work.
    @Test(arguments: [2, 3])
    func slowConnectionLosesItsWork(slow: Int) async throws {
        let trial = try WireTrial(size: 20_000_000, sendBuffer: 16 << 10) { request, reply in
            guard request.method == "GET" else { return }
            // At this rate its first segment would take a minute. Request 1 is the `HEAD`.
            reply.pace = request.number == slow + 1 ? 20_000 : 20_000_000
        }
        let outcome = try await trial.run("-x", "4")
        try outcome.expectComplete(trial.content)
        let segment = try #require(trial.gets.first { $0.number == slow + 1 }?.range)
        let alone = Double((segment.last ?? 0) - segment.first) / 20_000
        #expect(alone > 50)
        #expect(outcome.wallSeconds < alone / 2)
        // On a busy machine, segget may reopen the connection before another one can take its work.
        #expect(
            try outcome.notices().contains { ["stole", "outpaced"].contains($0.notice) },
            "\(outcome.errorOutput)")
        #expect(trial.excess <= 2 << 20)
    }

    @Test(
        arguments: [
            0, 1, 2, 131_071, 131_072, 131_073, 262_143, 262_144, 262_145, 524_287, 524_288,
            524_289, 4_194_303, 4_194_304, 4_194_305,
        ] as [Int64], [true, false])
    func completesSizesAroundBoundaries(size: Int64, isHeadUseful: Bool) async throws {
        let trial = try WireTrial(size: size) { request, reply in
            if request.method == "HEAD", !isHeadUseful { reply = .text(405) }
        }
        let outcome = try await trial.run("-x", "4", "--retries", "0")
        try outcome.expectComplete(trial.content)
        #expect(try outcome.notices("retrying").isEmpty)
        #expect(try outcome.notices("response_refused").isEmpty)
    }

    @Test func completesFileBeyondLongestSegment() async throws {
        let trial = try WireTrial(size: (64 << 20) + 1)
        let outcome = try await trial.run("-x", "2", "--retries", "0")
        try outcome.expectComplete(trial.content)
        #expect(trial.gets.allSatisfy { ($0.range?.last ?? 0) < (64 << 20) + 1 })
    }

    /// The server answers the probe's `GET` of an empty file with 200, 206 or 416.
    @Test(arguments: [200, 206, 416])
    func completesEmptyFileWithoutHead(status: Int) async throws {
        let trial = try WireTrial(size: 0) { request, reply in
            if request.method == "HEAD" { reply = .text(405) }
            guard request.range != nil else { return }
            reply = .text(status, headers: [HeaderField("Content-Range", "bytes */0")])
        }
        let outcome = try await trial.run()
        try outcome.expectComplete(trial.content)
    }
}
