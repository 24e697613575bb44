import TestSupport

/// A known file, an origin with faults that a test chooses, and a folder for the download.
final class WireTrial: Sendable {
    let content: Content
    let origin: Origin
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
        origin = try Origin(network: network, sendBuffer: sendBuffer) {
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
