import Dispatch
import Foundation
import TestSupport
import Testing

/// A known file, an origin with faults that a test chooses, and a folder for the download.
final class WireTrial: Sendable {
    let content: Content
    let origin: FaultOrigin
    let sandbox: Sandbox
    /// The network of the origin and segget; `nil` for loopback.
    let network: NetworkPair?

    /// Starts an origin; the handler makes every reply.
    init(
        size: Int64 = 3_000_000, seed: UInt64 = 1, sendBuffer: Int32? = nil,
        network: NetworkPair? = nil,
        answer: @escaping @Sendable (OriginRequest, Content) -> OriginReply
    ) throws {
        let content = Content(size: size, seed: seed)
        self.content = content
        self.network = network
        origin = try FaultOrigin(network: network, sendBuffer: sendBuffer) {
            answer($0, content)
        }
        sandbox = try Sandbox()
    }

    /// Starts an origin; the handler changes its correct replies.
    convenience init(
        size: Int64 = 3_000_000, seed: UInt64 = 1, etag: String? = "\"a\"",
        sendBuffer: Int32? = nil, network: NetworkPair? = nil,
        bend: @escaping @Sendable (OriginRequest, inout OriginReply) -> Void = { _, _ in }
    ) throws {
        try self.init(size: size, seed: seed, sendBuffer: sendBuffer, network: network) {
            request, content in
            OriginReply.file(content, for: request, etag: etag).with { bend(request, &$0) }
        }
    }

    /// Downloads `path` of the origin into the sandbox, with JSON events.
    func run(
        _ options: String..., path: String = "/dir/file.bin", url: String? = nil
    ) async throws -> Run.Outcome {
        let outcome = try await Run(
            [url ?? origin.url(path), "--json", "-v"] + options, in: sandbox.path
        ).ended()
        origin.hearOut()
        return outcome
    }

    /// Starts a download of the origin's file into the sandbox, with JSON events.
    func start(_ options: [String] = [], url: String? = nil) throws -> Run {
        try Run(
            [url ?? origin.url("/dir/file.bin"), "--json", "-v"] + options, in: sandbox.path,
            network: network)
    }

    /// Expects that the published file is correct and that no other file remains.
    func expectComplete(
        _ outcome: Run.Outcome, name: String = "file.bin",
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let report = Comment(rawValue: outcome.errorOutput)
        #expect(outcome.exitCode == 0, report, sourceLocation: location)
        #expect(try sandbox.names() == [name], report, sourceLocation: location)
        guard outcome.exitCode == 0 else { return }
        #expect(
            try content.firstDifference(at: sandbox.path(name)) == nil, report,
            sourceLocation: location)
        try expectSameNotices(outcome, location)
        let finished = try outcome.events("finished")
        #expect(finished.count == 1, sourceLocation: location)
        #expect(finished.first?.size == content.size, sourceLocation: location)
    }

    /// Expects that `-v` reports each decision in one line, and `--json` the same as an event.
    private func expectSameNotices(
        _ outcome: Run.Outcome, _ location: SourceLocation
    ) throws {
        let notes = outcome.errorOutput.split(separator: "\n").filter { $0.hasPrefix("note: ") }
        let events = try outcome.notices().map { "note: \($0.message ?? "")" }
        // The notes may contain more lines, such as the plan, which `--json` reports in `started`.
        #expect(notes.map(String.init).filter(events.contains) == events, sourceLocation: location)
    }

    /// Expects that no file was published, that the error is the last event, and which files
    /// remain.
    func expectFailure(
        _ outcome: Run.Outcome, code: Int32, kind: String, keepsPart: Bool = true,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let report = Comment(rawValue: outcome.errorOutput)
        #expect(outcome.exitCode == code, report, sourceLocation: location)
        #expect(
            try sandbox.names() == (keepsPart ? ["file.bin.part", "file.bin.segget"] : []),
            report, sourceLocation: location)
        try expectSameNotices(outcome, location)
        let last = try outcome.events().last
        #expect(last?.event == "error", sourceLocation: location)
        #expect(last?.kind == kind, report, sourceLocation: location)
        #expect(last?.code == code, sourceLocation: location)
        #expect(outcome.errorOutput.contains("error: "), sourceLocation: location)
        #expect(outcome.errorOutput.contains("hint: "), sourceLocation: location)
    }

    /// The `GET` requests, in the order of their numbers.
    var gets: [OriginRequest] { origin.requests.filter { $0.method == "GET" } }

    /// The number of body bytes sent in excess of the file's size.
    var excess: Int64 { origin.bytesServed - content.size }
}

/// Returns whether one of at most three attempts succeeds.
///
/// Only for results that a busy machine alone can change, such as rates and shares.
func oneOfThree(
    isolation: isolated (any Actor)? = #isolation, _ attempt: () async throws -> Bool
) async throws -> Bool {
    for _ in 0..<3 where try await attempt() { return true }
    return false
}

/// One line of `--json`, with the keys that these tests read.
struct WireEvent: Decodable {
    var event: String?
    var notice: String?
    var message: String?
    var reason: String?
    var kind: String?
    var code: Int32?
    var status: Int?
    var delay: Double?
    var time: Double?
    var size: Int64?
    var transfer: String?
    var identity: String?
    var url: String?
    var mirrors: Mirrors?
    var finalUrl: String?
    var redirects: Int?
    var etag: String?
    var name: String?
    var acceptsRanges: Bool?
    var probedBy: String?
    var headProblem: String?
    var digests: [String]?
    var verified: [String]?
    var bytesKept: Int64?
    var bytesResumed: Int64?
    var bytesReceived: Int64?
    var connections: Int?
    var seconds: Double?
    var address: String?
    var bytes: Int64?
    var sampled: Bool?
    var phase: String?

    /// The failed mirrors, or the number of mirrors.
    enum Mirrors: Decodable {
        case count(Int)
        case failed([Failed])

        struct Failed: Decodable {
            var url: String
            var reason: String
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            self =
                if let count = try? container.decode(Int.self) {
                    .count(count)
                } else {
                    .failed(try container.decode([Failed].self))
                }
        }

        var count: Int? { if case .count(let count) = self { count } else { nil } }
        var failed: [Failed]? { if case .failed(let failed) = self { failed } else { nil } }
    }
}

extension Run.Outcome {
    /// Returns the events on standard output; with `name`, those with that name.
    func events(_ name: String? = nil) throws -> [WireEvent] {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let all = try output.split(separator: "\n").map {
            try decoder.decode(WireEvent.self, from: Data($0.utf8))
        }
        return name.map { name in all.filter { $0.event == name } } ?? all
    }

    /// Returns the notices of a kind, or all of them.
    func notices(_ kind: String? = nil) throws -> [WireEvent] {
        try events("notice").filter { kind == nil || $0.notice == kind }
    }
}

/// Counts events of an origin from many threads.
final class Tally: Sendable {
    private let counts = Guarded<[String: Int]>([:])

    /// Adds one to the count of `key`, and returns the count.
    @discardableResult
    func add(_ key: String = "") -> Int {
        counts.withLock { counts in
            counts[key, default: 0] += 1
            return counts[key, default: 0]
        }
    }

    /// Returns the count of `key`.
    func count(_ key: String = "") -> Int { counts.withLock { $0[key] ?? 0 } }
}
