import Assembler

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// The behaviour of a simulated server.
struct SimulatedServer {
    /// A request that the server answers.
    struct Arrival {
        /// The number of requests before it.
        var number: Int
        /// The time at which it is answered, in seconds.
        var now: Double
        /// The requested range; `nil` for the whole file.
        var range: ByteRange?
        var url: WebURL
        var sentIfRange: Bool
        /// The address at which it arrived; `nil` if the client does not know several.
        var address: String?
        /// The number of requests that are being served.
        var served: Int
    }

    /// The server's answer to a request.
    enum Answer {
        /// The requested range.
        case serve
        /// The requested range; the connection is closed after this number of bytes.
        case breakOff(after: Int64)
        /// The requested range; nothing is sent after this number of bytes.
        case fallSilent(after: Int64)
        /// The whole file, whatever range was requested.
        case whole
        /// The bytes of another version.
        case otherVersion
        case status(Int, retryAfter: Double? = nil)
        /// The connection is closed.
        case reset
        /// Nothing is ever sent.
        case silence
    }

    /// Returns the answer at the time at which the request is answered.
    var answer: (Arrival) -> Answer = { _ in .serve }
    /// Returns the seconds until the answer, in addition to the round trip.
    var thinking: (Arrival) -> Double = { _ in 0 }
    /// The origins whose bytes differ from those of the file.
    var liars: Set<String> = []
    /// Returns the result of resolving the URL again.
    var resolution: (WebURL) -> Probe.Resolution = { .same($0) }
}

/// A writer of the body of a response.
final class SimulatedWriter {
    let start: Int64
    /// The position up to which it has written.
    var position: Int64

    init(at start: Int64) { (self.start, position) = (start, start) }
}

/// A request on a connection of a simulated network.
final class SimulatedRequest {
    /// The sender and purpose of the request.
    enum Purpose: Hashable {
        case slot(Int)
        case hedge(Int)
        case canary
    }

    let purpose: Purpose
    let ask: FetchMachine.Ask
    /// The number of requests that were sent before it.
    let number: Int
    /// The number of the connection in the network.
    let link: Int
    let since: Double
    /// The time at which the connection is established.
    var connectedAt = 0.0
    /// The time at which the head of the response arrives.
    var headAt = Double.infinity
    /// The time until which the connection has to be established.
    var connectsUntil = Double.infinity
    /// The seconds without a byte after which the request is given up.
    var stallTimeout = Double.infinity
    var isAnswered = false
    /// Whether it requests bytes that are already on disk, which only a sample may do.
    var asksForOld = false
    /// Whether its body is compared and not written.
    var isSample = false
    /// The position at which the space for its body ends.
    var allowed = Int64.max
    /// The time at which the position of the body was last recorded.
    var syncedAt = -1.0
    /// The writer that writes or keeps its body.
    var writer: SimulatedWriter?
    /// The position at which writing ends at the latest.
    var limit: Int64 = 0
    /// The position at which the response ends.
    var replyEnd: Int64 = 0
    /// The position at which the connection breaks, or stalls.
    var faultAt = Int64.max
    var fallsSilent = false

    /// The clock of the time without a byte, as in a transfer.
    private(set) var stallClock: StallClock

    init(_ purpose: Purpose, _ ask: FetchMachine.Ask, number: Int, link: Int, now: Double) {
        (self.purpose, self.ask, self.number) = (purpose, ask, number)
        (self.link, since) = (link, now)
        stallClock = StallClock(since: now)
        stallClock.before = ask.stalledBefore
    }

    /// The number of bytes of the body that were received.
    var count: Int64 { writer.map { $0.position - $0.start } ?? 0 }

    /// The expected end of the received bytes.
    var goal: Int64 {
        max(writer?.position ?? 0, min(limit, replyEnd, faultAt))
    }

    /// Whether its body waits for space.
    var isPaused: Bool { writer.map { $0.position >= allowed } ?? false }

    /// Records the activity since the last tick.
    func noteActivity(_ now: Double) {
        stallClock.note(
            .init(
                received: count, isAnswered: isAnswered, isConnected: now >= connectedAt,
                isIdle: isPaused),
            now: now, blocked: 0)
    }
}
