import Assembler

extension FetchMachine {
    /// One connection's worth of work.
    struct Slot {
        /// The server that it works for.
        var source = 0
        /// Where the connection leads that it has, or had.
        var route: Route?
        /// The present request, or the last one.
        var request = Request()
        /// What failed before, and what is waited for.
        var backoff = Backoff()
        /// How fast it is.
        var flow = Flow()
        /// What it fetches to compare it with what is there.
        var sample: Sample?
        var skipsIfRange = false
        var wantsFreshConnection = false
        /// Seconds without a byte of the connections that this one replaces, which count as its own.
        var silentBefore = 0.0

        /// Whether a request is under way.
        var isBusy: Bool { request.isUnderWay }
        /// Bytes per second, smoothed; 0 when unknown.
        var rate: Double { flow.smoothedRate.value }
        /// Whether the connection is open, as far as we know: the last reply was read to its end.
        var isMade: Bool { flow.since != nil }
        /// Whether what comes over it goes anywhere.
        var isTaken: Bool { request.body != nil || sample?.isTaken == true }
    }

    /// Where a connection leads.
    struct Route: Hashable {
        /// The origin that it was made for.
        var origin: String
        /// The address that it was told to go to; `nil` left that to libcurl.
        ///
        /// libcurl reuses a connection only for requests that are told the same.
        var pin: String?
        /// The address that it leads to, as far as it is known.
        var address: String?
    }

    /// A request, and what came of it.
    struct Request {
        /// What it asks for; `nil` for the whole file.
        var asked: ByteRange?
        /// When it went out.
        var since = 0.0
        var sentIfRange = false
        /// Whether it goes out over HTTP/2.
        var isHTTP2 = false
        var isUnderWay = false
        /// Whether the head of a reply has come.
        var hasReply = false
        /// What the head of the reply told, when its body is not the file's.
        var refusal: ResponseCheck.Verdict?
        var retryAfter: Double?
        /// Whether the reply was right, and too long for its digest: shorter ones are asked for.
        var asksAgain = false
        /// Whether the reply to a sample was not of the date that is doubted.
        var missedSample = false
        /// Where its body goes; `nil` as long as none is written, and when that is over.
        var body: Body?
    }

    /// What a connection's failures have it wait for.
    struct Backoff {
        /// Failures in a row on this connection: they lengthen the wait.
        var failures = 0
        /// Failures in a row during which nothing arrived from its server: they are bounded.
        private(set) var barren = 0
        /// Bytes that its server had sent at the last failure.
        private var receivedAtFailure: Int64 = -1
        /// Bytes that all other servers had sent when the first of those failures came.
        private(set) var othersAtFailure: Int64 = 0
        /// Until when it waits; infinity stands for its server's URL, which is being resolved.
        var until = 0.0
        /// Whether it waits because the server may serve no more at a time, and not for a failure.
        var isSpare = false

        /// Something has come.
        mutating func clear() { (failures, barren) = (0, 0) }

        /// A failure that counts.
        ///
        /// - Parameters:
        ///   - received: Bytes that the connection's server has sent.
        ///   - others: Bytes that all others have.
        mutating func note(received: Int64, others: Int64) {
            let hasProgressed = received != receivedAtFailure
            receivedAtFailure = received
            if hasProgressed { othersAtFailure = others }
            barren = hasProgressed ? 1 : barren + 1
        }
    }

    /// How fast a connection is.
    struct Flow {
        private(set) var smoothedRate = ConnectionRate()
        var positionAtTick: Int64?
        /// When the present body began; `nil` when the rate was measured since.
        private(set) var unmeasuredSince: Double?
        /// When the first body began that came on the present connection.
        var since: Double?
        /// Whether the session's limit of rate made it wait when a body was last measured: its rate
        /// tells nothing of its server then.
        var isHeldBack = false

        /// A body begins.
        mutating func begin(_ now: Double) {
            unmeasuredSince = now
            since = since ?? now
        }

        /// Takes a measurement.
        ///
        /// - Parameters:
        ///   - sample: In bytes per second.
        ///   - roundTrip: In seconds; 0 when unknown.
        ///   - now: The time.
        mutating func note(rate sample: Double, roundTrip: Double, now: Double) {
            let age = since.map { now - $0 } ?? 0
            smoothedRate.note(sample, age: age, roundTrip: roundTrip)
            unmeasuredSince = nil
        }

        /// Forgets how fast the connection was: the next one may be of another kind.
        mutating func forget() {
            smoothedRate = ConnectionRate()
            since = nil
        }
    }

    /// Bytes that a server is to send once more.
    struct Sample {
        var range: ByteRange
        /// What they have to be, where what is there cannot be read again.
        var expected: Extent?
        /// Whether the reply was accepted.
        var isTaken = false
    }
}
