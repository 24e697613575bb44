import Assembler

@testable import Segmenter

/// What a simulated server does with requests.
struct SimulatedServer {
    /// A request that the server answers.
    struct Arrival {
        /// How many came before it.
        var number: Int
        /// When it is answered, in seconds.
        var now: Double
        /// What is asked for; `nil` for the whole file.
        var range: ByteRange?
        var url: WebURL
        var sentIfRange: Bool
        /// The address that it came to; `nil` where nobody knows of several.
        var address: String?
        /// Requests that are being served.
        var served: Int
    }

    /// What comes of a request.
    enum Answer {
        /// What was asked for.
        case serve
        /// What was asked for; the connection is closed after so many bytes.
        case breakOff(after: Int64)
        /// What was asked for; after so many bytes nothing more comes.
        case fallSilent(after: Int64)
        /// The whole file, whatever was asked for.
        case whole
        /// Another version's bytes.
        case otherVersion
        case status(Int, retryAfter: Double? = nil)
        /// The connection is closed.
        case reset
        /// Nothing ever comes.
        case silence
    }

    /// Decides when the request is answered.
    var answer: (Arrival) -> Answer = { _ in .serve }
    /// Seconds that it takes to do so, beside the way.
    var thinking: (Arrival) -> Double = { _ in 0 }
    /// Hosts whose bytes are others than those of the file.
    var liars: Set<String> = []
    /// What the URL leads to when it is resolved again.
    var resolution: (WebURL) -> Probe.Resolution = { .same($0) }
}

/// A writer of the body of a reply.
final class SimulatedWriter {
    let start: Int64
    /// Where it is.
    var position: Int64

    init(at start: Int64) { (self.start, position) = (start, start) }
}

/// A request on a connection of a simulated network.
final class SimulatedRequest {
    /// Whose it is.
    enum Purpose: Hashable {
        case slot(Int)
        case hedge(Int)
        case canary
    }

    let purpose: Purpose
    let ask: FetchMachine.Ask
    /// How many requests went out before it.
    let number: Int
    /// The connection's number in the network.
    let link: Int
    let since: Double
    /// When the connection is made.
    var connectedAt = 0.0
    /// When the head of the reply comes.
    var headAt = Double.infinity
    /// Until when the connection has to be made.
    var connectsUntil = Double.infinity
    /// Seconds without a byte after which it is given up.
    var stallTimeout = Double.infinity
    var isAnswered = false
    /// Whether it asks for what is there: only a comparison may.
    var asksForOld = false
    /// Whether its body is compared, and not written.
    var isSample = false
    /// Where the room ends that there is for its body.
    var allowed = Int64.max
    /// When it was last noted how far the body has come.
    var syncedAt = -1.0
    /// Where its body goes, or is kept.
    var writer: SimulatedWriter?
    /// Where writing ends at the latest.
    var limit: Int64 = 0
    /// Where the reply ends.
    var replyEnd: Int64 = 0
    /// Where the connection breaks, or falls silent.
    var faultAt = Int64.max
    var fallsSilent = false

    /// For how long nothing has come, as a transfer knows it.
    private(set) var stallClock: StallClock

    init(_ purpose: Purpose, _ ask: FetchMachine.Ask, number: Int, link: Int, now: Double) {
        (self.purpose, self.ask, self.number) = (purpose, ask, number)
        (self.link, since) = (link, now)
        stallClock = StallClock(since: now)
        stallClock.before = ask.stalledBefore
    }

    /// Bytes of the body that have come.
    var count: Int64 { writer.map { $0.position - $0.start } ?? 0 }

    /// Where what comes ends, as it looks now.
    var goal: Int64 {
        max(writer?.position ?? 0, min(limit, replyEnd, faultAt))
    }

    /// Whether its body waits for room.
    var isPaused: Bool { writer.map { $0.position >= allowed } ?? false }

    /// Notes what has happened since the last tick.
    func noteActivity(_ now: Double) {
        stallClock.note(
            .init(
                received: count, isAnswered: isAnswered, isConnected: now >= connectedAt,
                isIdle: isPaused),
            now: now, blocked: 0)
    }
}
