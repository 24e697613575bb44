import Assembler

/// One connection: whom it works for, what it has asked for, how fast it is, and what it waits for.
///
/// It is known by its place in `Slots`, and knows no other connection and no server.
struct Slot {
    /// The server that it works for.
    var source = 0
    /// Where the connection leads that it has, or had.
    var route: FetchMachine.Route?
    /// The present request, or the last one.
    var request = Request()
    /// What failed before, and what is waited for.
    var backoff = Backoff()
    /// How fast it is.
    var flow = Flow()
    /// What it fetches to compare it with what is there.
    var sample: Sample?
    /// Whether `If-Range` is left out: its server answers it with the whole file.
    var skipsIfRange = false
    /// Whether its next request goes out on a new connection.
    var wantsFreshConnection = false
    /// Seconds without a byte of the connections that this one replaces, which count as its own.
    var stalledBefore = 0.0

    /// Whether a request is under way.
    var isBusy: Bool { request.isUnderWay }
    /// Bytes per second, smoothed; 0 when unknown.
    var rate: Double { flow.smoothedRate.value }
    /// Whether the connection is open, as far as we know: the last reply was read to its end.
    var isMade: Bool { flow.since != nil }
    /// Whether what comes over it goes anywhere.
    var isTaken: Bool { request.body != nil || sample?.isTaken == true }

    /// Whether it has nothing to do, and waits for nothing.
    func isFree(_ now: Double) -> Bool { !isBusy && backoff.until <= now }

    /// Whether it waits to try again what failed without a reply.
    func waitsForNetwork(_ now: Double) -> Bool {
        !isBusy && backoff.failures > 0 && request.refusal == nil && request.retryAfter == nil
            && backoff.until > now && backoff.until < .infinity
    }

    /// Bytes that it has written of the present body, by where its writer is.
    func written(to position: Int64?) -> Int64 {
        guard let start = request.body?.start else { return 0 }
        return (position ?? start) - start
    }

    // MARK: What happens to it

    /// A request goes out.
    mutating func begin(_ ask: FetchMachine.Ask, isHTTP2: Bool, now: Double) {
        request = Request(
            asked: ask.range, since: now, sentIfRange: ask.ifRange != nil, isHTTP2: isHTTP2,
            isUnderWay: true)
    }

    /// It has the reply that the probe has left.
    mutating func take(_ offer: FetchMachine.Offer, now: Double) {
        request = Request(
            asked: offer.range, since: now, isUnderWay: !offer.isOver, hasReply: offer.isBegun)
        flow.since = now
    }

    /// Its request is over.
    mutating func endRequest() {
        request.isUnderWay = false
        flow.positionAtTick = nil
    }

    /// Bytes of the file have come.
    mutating func hasProgressed() {
        backoff.clear()
        skipsIfRange = skipsIfRange && !request.sentIfRange
        wantsFreshConnection = false
    }

    /// Takes the head of a right reply to a sample.
    ///
    /// - Parameters:
    ///   - served: The bytes that it brings.
    ///   - reply: The reply.
    ///   - dates: What its server's dates say: where one is doubted, the reply is to be of that.
    /// - Returns: What is done with the body.
    mutating func takeSample(
        _ served: ByteRange, _ reply: Reply, _ dates: Source.Dates
    ) -> FetchMachine.Verdict {
        let date = reply["last-modified"]
        if let doubted = dates.doubted, date != doubted {
            // It is of the date that is not doubted, and shows nothing.
            request.missedSample = true
            request.refusal = .breach(.otherLastModified(expected: doubted, got: date))
            return .decline
        }
        sample?.isTaken = true
        return .sample(
            FetchMachine.Body(start: served.start, limit: served.end, replyEnd: served.end))
    }

    /// The sample that it fetched is over, if it did.
    ///
    /// - Returns: The sample, when the reply was accepted.
    mutating func endSample() -> Sample? {
        defer { sample = nil }
        return sample?.isTaken == true ? sample : nil
    }

    /// It is to try another way at once.
    mutating func startAnew() {
        flow.forget()
        backoff.until = 0
    }

    // MARK: Speed

    /// Bytes per second that are reported to the scheduler of a connection that works; `nil` when
    /// unknown.
    ///
    /// One that has stalled for long since its request went out is known to be slow: far longer
    /// than its server has ever taken to answer, or its work would go round among connections that
    /// all wait. One that the session's limit of rate holds back is not known to be slow, nor one
    /// since whose request no other has brought anything: whoever took its work would wait as long,
    /// and then the next one, and no stall timeout would ever end it.
    ///
    /// - Parameters:
    ///   - stallLimit: How much longer than ever before its server's reply may take, in seconds.
    ///   - arrived: When something came last over any connection, at the earliest.
    ///   - now: The time.
    /// - Returns: The rate; 1 stands for one that is known to be slow.
    func knownRate(stallLimit: Double, arrived: Double, now: Double) -> Double? {
        let isStalled =
            isBusy && sample == nil && request.since < arrived
            && (request.body == nil || rate == 0)
        let isWaiting = request.body != nil && flow.isHeldBack
        if isStalled, !isWaiting, now - request.since > stallLimit { return 1 }
        return flow.isHeldBack ? nil : rate
    }
}

extension Slot {
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
        /// What the head of the reply stated, when its body is not the file's.
        var refusal: ResponseCheck.Verdict?
        var retryAfter: Double?
        /// Whether the reply was right, and too long for its digest: shorter ones are asked for.
        var asksAgain = false
        /// Whether the reply to a sample was not of the date that is doubted.
        var missedSample = false
        /// Where its body goes; `nil` as long as none is written, and when that is over.
        var body: FetchMachine.Body?

        /// Takes the head of a reply whose body is not the file's.
        ///
        /// - Returns: What is done with the body.
        mutating func refuse(
            _ verdict: ResponseCheck.Verdict, _ reply: Reply
        ) -> FetchMachine.Verdict {
            refusal = verdict
            guard case .status = verdict else { return .decline }
            retryAfter = reply.retryAfter
            return .discard
        }

        /// What went wrong when it ended, where the address that it went to may be to blame for it.
        func fault(_ end: TransferEnd) -> TransferFailure? {
            switch end {
            case .failed(.proxy): nil
            case .failed(let failure): failure
            case .untrusted(let text): .network(code: 0, message: text)
            case .denied: .network(code: 0, message: "the address is private")
            case .complete: .network(code: 0, message: "the response had no head")
            case .declined:
                switch refusal {
                // Many answer so to `If-Range`: it is left out next time.
                case .breach(.wholeFileForRange) where sentIfRange: nil
                case .breach(let breach): .breach(breach)
                case .status(let status): [401, 407].contains(status) ? nil : .status(status)
                default: nil
                }
            default: nil
            }
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

    /// How fast a connection is.
    struct Flow {
        /// Seconds that a body has to flow for to be measured as a whole.
        private static let shortestSample = 0.005

        private(set) var smoothedRate = ConnectionRate()
        /// Where its writer was at the last tick, while a body comes.
        fileprivate var positionAtTick: Int64?
        /// When the present body began; `nil` when the rate was measured since.
        private var unmeasuredSince: Double?
        /// When the first body began that came on the present connection.
        var since: Double?
        /// Whether the session's limit of rate made it wait when a body was last measured: its rate
        /// says nothing of its server then.
        private(set) var isHeldBack = false

        /// A body begins.
        mutating func begin(_ now: Double) {
            unmeasuredSince = now
            since = since ?? now
        }

        /// Measures what has come since the last tick.
        ///
        /// - Parameters:
        ///   - position: Where the writer is.
        ///   - isHeldBack: Whether the session's limit of rate has made it wait meanwhile.
        ///   - lastTick: When that was.
        ///   - roundTrip: In seconds; 0 when unknown.
        ///   - now: The time.
        mutating func measure(
            at position: Int64, isHeldBack: Bool, since lastTick: Double, roundTrip: Double,
            now: Double
        ) {
            if let before = positionAtTick, now > lastTick {
                self.isHeldBack = isHeldBack
                note(Double(position - before) / (now - lastTick), roundTrip, now)
            }
            positionAtTick = position
        }

        /// Measures a body that is over as a whole, if it was too short to be measured in a tick.
        ///
        /// - Parameters:
        ///   - count: Its bytes.
        ///   - roundTrip: In seconds; 0 when unknown.
        ///   - now: The time.
        /// - Returns: Whether it was measured.
        mutating func measure(whole count: Int64, roundTrip: Double, now: Double) -> Bool {
            guard let began = unmeasuredSince, !isHeldBack,
                now - began > Self.shortestSample
            else { return false }
            note(Double(count) / (now - began), roundTrip, now)
            return true
        }

        /// Takes a measurement, in bytes per second.
        private mutating func note(_ sample: Double, _ roundTrip: Double, _ now: Double) {
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
}
