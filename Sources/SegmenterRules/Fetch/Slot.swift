/// The state of one connection: its server, its request, its speed, and the wait after a failure.
///
/// A connection is identified by its index in `Slots`, and has no access to other connections or
/// servers.
package struct Slot {
    /// The index of its server.
    package var source = 0
    /// The origin and address of its present or last connection.
    package var route: FetchMachine.Route?
    /// The present request, or the last one.
    package var request = Request()
    /// The failures so far, and the wait before the next attempt.
    var backoff = Backoff()
    /// The speed of the connection.
    var flow = Flow()
    /// The sample that it downloads, to compare the bytes with those on the disk.
    package var sample: Sample?
    /// Whether `If-Range` is left out, because the server responds to it with the whole file.
    var skipsIfRange = false
    /// Whether its next request uses a new connection.
    package var wantsFreshConnection = false
    /// The time without a byte on the connections that this one replaces, in seconds.
    ///
    /// The time counts towards the stall timeout.
    package var stalledBefore = 0.0

    /// Whether a request is in flight.
    package var isBusy: Bool { request.isUnderWay }
    /// The smoothed rate in bytes per second; 0 when unknown.
    package var rate: Double { flow.smoothedRate.value }
    /// Whether the connection is presumably open: the last response was read to its end.
    package var isMade: Bool { flow.since != nil }
    /// Whether the body of its response is accepted, for the file or as a sample.
    package var isTaken: Bool { request.body != nil || sample?.isTaken == true }

    /// Returns whether it is idle and not waiting to retry.
    package func isFree(_ now: Double) -> Bool { !isBusy && backoff.until <= now }

    /// Returns whether it waits to retry after a failure without a response.
    package func waitsForNetwork(_ now: Double) -> Bool {
        !isBusy && backoff.failures > 0 && request.refusal == nil && request.retryAfter == nil
            && backoff.until > now && backoff.until < .infinity
    }

    /// Returns the number of bytes of the present body that were written.
    ///
    /// - Parameter position: The offset in the file that the writer has reached.
    /// - Returns: The number of bytes.
    package func written(to position: Int64?) -> Int64 {
        guard let start = request.body?.start else { return 0 }
        return (position ?? start) - start
    }

    // MARK: Events

    /// Records that a request is sent.
    package mutating func begin(_ ask: FetchMachine.Ask, isHTTP2: Bool, now: Double) {
        request = Request(
            url: ask.url, asked: ask.range, since: now, sentIfRange: ask.ifRange != nil,
            isHTTP2: isHTTP2, isUnderWay: true)
    }

    /// Adopts the response that the probe has started to receive.
    package mutating func take(_ offer: FetchMachine.Offer, now: Double) {
        request = Request(
            asked: offer.range, since: now, isUnderWay: !offer.isOver, hasReply: offer.isBegun)
        flow.since = now
    }

    /// Records that the request has ended.
    mutating func endRequest() {
        request.isUnderWay = false
        flow.positionAtTick = nil
    }

    /// Records that bytes of the file were received.
    mutating func hasProgressed() {
        backoff.clear()
        skipsIfRange = skipsIfRange && !request.sentIfRange
        wantsFreshConnection = false
    }

    /// Judges the dates of an accepted response to a sample request.
    ///
    /// - Parameters:
    ///   - served: The range of the response.
    ///   - reply: The response.
    ///   - dates: The dates of the server. If one is doubted, the response must have that date.
    /// - Returns: The verdict on the body.
    mutating func takeSample(
        _ served: ByteRange, _ reply: Reply, _ dates: Source.Dates
    ) -> FetchMachine.Verdict {
        let date = reply["last-modified"]
        if let doubted = dates.doubted, date != doubted {
            // The response has another date, and shows nothing about the doubted one.
            request.missedSample = true
            request.refusal = .breach(.otherLastModified(expected: doubted, got: date))
            return .decline
        }
        sample?.isTaken = true
        return .sample(
            FetchMachine.Body(start: served.start, limit: served.end, replyEnd: served.end))
    }

    /// Ends the sample, if there is one.
    ///
    /// - Returns: The sample, if the response was accepted.
    mutating func endSample() -> Sample? {
        defer { sample = nil }
        return sample?.isTaken == true ? sample : nil
    }

    /// Makes the connection retry immediately, at another address.
    mutating func startAnew() {
        flow.forget()
        backoff.until = 0
    }

    // MARK: Speed

    /// Returns the rate to report to the scheduler, in bytes per second; `nil` when unknown.
    ///
    /// A connection counts as slow if it received no byte for far longer than its server has ever
    /// needed to respond. With a shorter limit, its work would circulate among connections that all
    /// wait.
    ///
    /// A connection does not count as slow if the rate limit delays it, or if no connection has
    /// received a byte since its request was sent. In the second case, each new owner of the work
    /// would wait as long, and no stall timeout would ever expire.
    ///
    /// - Parameters:
    ///   - stallLimit: The time without a response after which a connection counts as slow, in
    ///     seconds.
    ///   - arrived: The earliest time at which the last byte on any connection may have arrived.
    ///   - now: The time.
    /// - Returns: The rate; 1 for a slow connection.
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
    /// A request and its result.
    package struct Request {
        /// The URL; `nil` if the probe sent the request.
        package var url: WebURL?
        /// The requested range; `nil` for the whole file.
        package var asked: ByteRange?
        /// The time at which the request was sent.
        package var since = 0.0
        package var sentIfRange = false
        /// Whether it is sent over HTTP/2.
        package var isHTTP2 = false
        var isUnderWay = false
        /// Whether the head of a response has arrived.
        package var hasReply = false
        /// The verdict on the head of a response whose body is not used.
        package var refusal: ResponseCheck.Verdict?
        package var retryAfter: Double?
        /// Whether to repeat the request with a shorter range, because the response was too long
        /// for its digest.
        package var asksAgain = false
        /// Whether the response to a sample request had another date than the doubted one.
        var missedSample = false
        /// The range of the file to which the body is written; `nil` before and after writing.
        package var body: FetchMachine.Body?

        package init(
            url: WebURL? = nil, asked: ByteRange? = nil, since: Double = 0.0,
            sentIfRange: Bool = false, isHTTP2: Bool = false, isUnderWay: Bool = false,
            hasReply: Bool = false, refusal: ResponseCheck.Verdict? = nil,
            retryAfter: Double? = nil, asksAgain: Bool = false, missedSample: Bool = false,
            body: FetchMachine.Body? = nil
        ) {
            self.url = url
            self.asked = asked
            self.since = since
            self.sentIfRange = sentIfRange
            self.isHTTP2 = isHTTP2
            self.isUnderWay = isUnderWay
            self.hasReply = hasReply
            self.refusal = refusal
            self.retryAfter = retryAfter
            self.asksAgain = asksAgain
            self.missedSample = missedSample
            self.body = body
        }

        /// Records the head of a response whose body is not used.
        ///
        /// - Returns: Whether to discard the body or to close the connection.
        package mutating func refuse(
            _ verdict: ResponseCheck.Verdict, _ reply: Reply
        ) -> FetchMachine.Verdict {
            refusal = verdict
            guard case .status = verdict else { return .decline }
            retryAfter = reply.retryAfter
            return .discard
        }

        /// Returns the failure, if the address of the request may be to blame for it.
        package func fault(_ end: TransferEnd) -> TransferFailure? {
            switch end {
            case .failed(.proxy): nil
            case .failed(let failure): failure
            case .untrusted(let text): .network(code: 0, message: text)
            case .denied: .network(code: 0, message: "the address is private")
            case .complete: .network(code: 0, message: "the response had no head")
            case .declined:
                switch refusal {
                // Many servers respond this way to `If-Range`: the next request leaves it out.
                case .breach(.wholeFileForRange) where sentIfRange: nil
                case .breach(let breach): .breach(breach)
                case .status(let status): [401, 407].contains(status) ? nil : .status(status)
                default: nil
                }
            default: nil
            }
        }
    }

    /// Bytes that a server has to send again, for comparison.
    package struct Sample {
        package var range: ByteRange
        /// The expected extent with its checksum, if the bytes on the disk cannot be read back.
        package var expected: Extent?
        /// Whether the response was accepted.
        package var isTaken = false

        package init(range: ByteRange, expected: Extent? = nil, isTaken: Bool = false) {
            self.range = range
            self.expected = expected
            self.isTaken = isTaken
        }
    }

    /// The speed of a connection.
    struct Flow {
        /// The minimum duration of a body, in seconds, to measure it as a whole.
        private static let shortestSample = 0.005

        private(set) var smoothedRate = ConnectionRate()
        /// The writer's offset at the last tick, while a body arrives.
        fileprivate var positionAtTick: Int64?
        /// The time at which the present body began; `nil` once the rate was measured.
        private var unmeasuredSince: Double?
        /// The time at which the first body on the present connection began.
        var since: Double?
        /// Whether the rate limit delayed the body when it was last measured.
        ///
        /// The rate then does not show the server's speed.
        private(set) var isHeldBack = false

        /// Records that a body begins.
        mutating func begin(_ now: Double) {
            unmeasuredSince = now
            since = since ?? now
        }

        /// Measures the bytes received since the last tick.
        ///
        /// - Parameters:
        ///   - position: The writer's offset.
        ///   - isHeldBack: Whether the rate limit has delayed the connection since the last tick.
        ///   - lastTick: The time of the last tick.
        ///   - roundTrip: The round-trip time, in seconds; 0 when unknown.
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

        /// Measures a finished body as a whole, if it was too short to be measured by a tick.
        ///
        /// - Parameters:
        ///   - count: The number of bytes.
        ///   - roundTrip: The round-trip time, in seconds; 0 when unknown.
        ///   - now: The time.
        /// - Returns: Whether it was measured.
        mutating func measure(whole count: Int64, roundTrip: Double, now: Double) -> Bool {
            guard let began = unmeasuredSince, !isHeldBack,
                now - began > Self.shortestSample
            else { return false }
            note(Double(count) / (now - began), roundTrip, now)
            return true
        }

        /// Adds a measurement, in bytes per second.
        private mutating func note(_ sample: Double, _ roundTrip: Double, _ now: Double) {
            let age = since.map { now - $0 } ?? 0
            smoothedRate.note(sample, age: age, roundTrip: roundTrip)
            unmeasuredSince = nil
        }

        /// Forgets the speed, because the next connection may differ.
        mutating func forget() {
            smoothedRate = ConnectionRate()
            since = nil
        }
    }
}
