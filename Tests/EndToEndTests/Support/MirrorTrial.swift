import Foundation
import TestSupport
import Testing

/// A file on several origins, whose behaviour a test can change, and a folder for the download.
final class MirrorTrial: Sendable {
    let content: Content
    let origins: [Origin]
    let sandbox: Sandbox

    init(
        _ count: Int, size: Int64 = 8_000_000,
        change: (Int, inout Origin.Offer) -> Void = { _, _ in }
    ) throws {
        let content = Content(size: size, seed: 7)
        self.content = content
        sandbox = try Sandbox()
        origins = try (0..<count).map { index in
            var offer = Origin.Offer(content)
            change(index, &offer)
            return try Origin(offer, sendBuffer: 32 << 10)
        }
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
