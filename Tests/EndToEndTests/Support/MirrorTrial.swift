import Foundation
import TestSupport
import Testing

/// A file on several origins, whose behaviour a test can change, and a folder for the download.
final class MirrorTrial: Sendable {
    /// The file that one origin offers, and its behaviour.
    struct Offer: Sendable {
        var content: Content
        var etag: String? = "\"v1\""
        var lastModified: String?
        /// The rate of each connection, in bytes per second.
        var pace: Double?
        var bend: @Sendable (OriginRequest, inout OriginReply) -> Void = { _, _ in }
    }

    let content: Content
    let origins: [FaultOrigin]
    let sandbox: Sandbox
    private let offers: Guarded<[Offer]>

    init(_ count: Int, size: Int64 = 8_000_000, change: (Int, inout Offer) -> Void = { _, _ in })
        throws
    {
        let content = Content(size: size, seed: 7)
        self.content = content
        sandbox = try Sandbox()
        var start = (0..<count).map { _ in Offer(content: content) }
        for index in start.indices { change(index, &start[index]) }
        let offers = Guarded(start)
        self.offers = offers
        origins = try (0..<count).map { index in
            try FaultOrigin(sendBuffer: 32 << 10) { request in
                let now = offers.withLock { $0[index] }
                var reply = OriginReply.file(
                    now.content, for: request, etag: now.etag, lastModified: now.lastModified)
                if request.method == "GET" { reply.pace = now.pace }
                now.bend(request, &reply)
                return reply
            }
        }
    }

    /// Changes an origin's offer, from the next request on.
    func change(_ index: Int, _ body: (inout Offer) -> Void) {
        offers.withLock { body(&$0[index]) }
    }

    /// The arguments that name all origins in order, and `--json -v`.
    var arguments: [String] {
        [url(0), "--json", "-v"] + origins.indices.dropFirst().flatMap { ["--mirror", url($0)] }
    }

    var checksum: [String] { ["--checksum", "sha-256:\(content.sha256Hex)"] }

    func url(_ index: Int) -> String { origins[index].url("/dir/file.bin") }

    func run(_ options: [String] = []) async throws -> Run.Outcome {
        try await Run(arguments + options, in: sandbox.path).ended()
    }

    func start(_ options: [String] = []) throws -> Run {
        try Run(arguments + options, in: sandbox.path)
    }

    /// Stops an origin permanently: connections are broken and refused.
    func kill(_ index: Int) {
        origins[index].refuseConnections()
        origins[index].dropConnections()
    }

    /// The number of body bytes that each origin sent.
    var served: [Int64] { origins.map(\.bytesServed) }

    /// Returns the reasons for dropped mirrors, by origin number.
    func dropped(_ outcome: Run.Outcome) throws -> [Int: [String]] {
        var reasons: [Int: [String]] = [:]
        for notice in try outcome.notices("mirror_dropped") {
            let number = origins.indices.first { url($0) == notice.url }
            reasons[try #require(number), default: []].append(notice.reason ?? "")
        }
        return reasons
    }

    /// Returns the origin numbers of the URLs in notices of a kind.
    func numbers(_ kind: String, _ outcome: Run.Outcome) throws -> [Int] {
        try outcome.notices(kind).compactMap { notice in
            origins.indices.first { url($0) == notice.url }
        }
    }
}
