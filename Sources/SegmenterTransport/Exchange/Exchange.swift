// Exchange: requests for response heads and short bodies, and the number of small requests at a
// time. This folder knows requests and responses; it does not know files on disk, nor the meaning
// of a response for a file.

/// The result of a request that was made for the response head.
package struct Exchange: Sendable {
    /// The head of the final response, if one arrived.
    package var reply: Reply?
    /// Whether the body is used: the start is in `body`, and the rest is paused.
    package var isKept = false
    /// The collected bytes of the body.
    package var body: [UInt8] = []
    /// The owner of the paused rest of the body.
    package var paused: PausedReply?
    /// The result of the transfer, if it has ended.
    package var end: TransferEnd?
    /// Whether the response arrived over HTTP/2.
    package var isHTTP2 = false
    /// The time to first byte of responses from this server.
    package var wait: BatchWidth.Wait?
    /// Whether the server's limit was exceeded; the attempt then does not count.
    package var isOverLimit = false
    /// When the request was sent, in seconds on the monotonic clock.
    package var began = 0.0
    /// Whether other requests for small files were in flight when this one was sent.
    package var isBeside = false
    /// Seconds until the request may be sent; if above 0, it was not sent.
    ///
    /// Only for servers that count requests.
    var isDueIn = 0.0

    package init(
        reply: Reply? = nil, isKept: Bool = false, body: [UInt8] = [], paused: PausedReply? = nil,
        end: TransferEnd? = nil, isHTTP2: Bool = false, wait: BatchWidth.Wait? = nil,
        isOverLimit: Bool = false, began: Double = 0.0, isBeside: Bool = false,
        isDueIn: Double = 0.0
    ) {
        self.reply = reply
        self.isKept = isKept
        self.body = body
        self.paused = paused
        self.end = end
        self.isHTTP2 = isHTTP2
        self.wait = wait
        self.isOverLimit = isOverLimit
        self.began = began
        self.isBeside = isBeside
        self.isDueIn = isDueIn
    }

    /// The result of a request that was not sent, because its server demands this pause in seconds.
    init(resting seconds: Double) {
        self.init(end: .failed(.resting(for: Duration(seconds: seconds))))
    }

    /// Whether the body is complete.
    package var isWhole: Bool { isKept && end == .complete }
}

extension Exchange {
    /// Starts a request and reports its result exactly once, on the loop thread.
    ///
    /// The report is made when the head has arrived and the body is paused, or else when the
    /// transfer ends.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - pausing: Whether to pause the body of a 200 or 206.
    ///   - worker: The loop's worker.
    ///   - report: Receives the result.
    /// - Returns: The id of the transfer.
    fileprivate static func begin(
        _ request: TransferRequest, pausing: Bool, on worker: Worker,
        report: @escaping (Exchange) -> Void
    ) -> Int {
        final class Progress {
            var exchange = Exchange()
            var isReported = false
        }
        let progress = Progress()
        progress.exchange.began = monotonicSeconds()
        let id = worker.nextID
        worker.start(request) { [unowned worker] reply in
            progress.exchange.reply = reply
            progress.exchange.isHTTP2 = worker.transfer(id)?.isHTTP2 ?? false
            worker.servers.answered(request.url.origin, request.method, reply.status)
            guard pausing, reply.status == 200 || reply.status == 206 else { return .discard }
            progress.isReported = true
            var exchange = progress.exchange
            exchange.isKept = true
            // `progress.exchange` does not contain the owner, because the transfer would then own
            // itself.
            exchange.paused = worker.pausedReply(id)
            report(exchange)
            return .pause
        } onEnd: { end in
            guard !progress.isReported else { return }
            progress.exchange.end = end
            report(progress.exchange)
        }
        return id
    }
}

extension TransferLoop {
    /// Sends a request and returns when the head of its response has arrived.
    ///
    /// If the server counts requests, the method waits until the next request may be sent.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - pausing: Whether to pause the body of a 200 or 206, so that its owner can continue it.
    ///     The bodies of other responses are discarded.
    ///   - collecting: Whether to collect a short body instead of pausing it.
    ///   - turn: Receives the monotonic time in seconds until which the request waits.
    /// - Returns: The exchange; its end is `cancelled` if the task was cancelled.
    package func exchange(
        _ request: TransferRequest, pausing: Bool, collecting: Bool = false,
        turn: Monitor<Double>? = nil
    ) async -> Exchange {
        while true {
            let exchange = await attempt(request, pausing: pausing, collecting: collecting)
            guard exchange.isDueIn > 0 else { return exchange }
            turn?.withLock { $0 = monotonicSeconds() + exchange.isDueIn }
            do {
                try await Task.sleep(for: .seconds(exchange.isDueIn))
            } catch {
                return Exchange(end: .cancelled)
            }
        }
    }

    /// Sends a request, unless the request quota of its server requires a wait.
    private func attempt(
        _ request: TransferRequest, pausing: Bool, collecting: Bool
    ) async -> Exchange {
        await wait(otherwise: Exchange(end: .cancelled)) { worker, answer in
            let (origin, now) = (request.url.origin, monotonicSeconds())
            if request.connecting.endsToRest,
                let rest = worker.servers.longRest(of: origin, now: now)
            {
                answer.resume(returning: Exchange(resting: rest))
                return nil
            }
            if collecting {
                return worker.smallRequests.collect(request) { answer.resume(returning: $0) }
            }
            // A connection on which nothing is sent is not a request.
            let delay =
                request.connectsOnly ? 0 : worker.servers.takeTurn(at: origin, now: now)
            guard delay <= 0 else {
                answer.resume(returning: Exchange(isDueIn: delay))
                return nil
            }
            return Exchange.begin(request, pausing: pausing, on: worker) {
                answer.resume(returning: $0)
            }
        } cancel: { worker, number in
            worker.smallRequests.cancel(number)
        }
    }

    /// Receives a paused body into memory.
    ///
    /// - Parameters:
    ///   - paused: The paused response.
    ///   - most: The length in bytes above which the transfer ends with `bodyTooLong`.
    /// - Returns: The bytes, and the result of the transfer.
    package func read(
        _ paused: PausedReply, most: Int
    ) async -> (bytes: [UInt8], end: TransferEnd) {
        await wait(otherwise: ([], .cancelled)) { worker, answer in
            guard let transfer = paused.take().flatMap(worker.transfer), transfer.isBodyPaused
            else {
                let failure = TransferFailure.network(code: 0, message: "no body")
                answer.resume(returning: ([], .failed(failure)))
                return nil
            }
            var isTooLong = false
            transfer.collecting.patience = .infinity
            transfer.onPause = { [unowned transfer, weak self] in
                isTooLong = true
                let id = transfer.id
                self?.perform { $0.cancel(id) }
            }
            worker.resume(transfer, .collect(length: nil, most: most)) { [unowned transfer] end in
                let end = isTooLong ? .failed(.breach(.bodyTooLong)) : end
                answer.resume(returning: (transfer.collecting.bytes, end))
            }
            return transfer.id
        } cancel: { worker, number in
            worker.cancel(number)
        }
    }

    /// Receives a paused body and keeps only its checksum.
    ///
    /// - Parameters:
    ///   - paused: The paused response.
    ///   - served: The bytes of the file that the body contains.
    /// - Returns: The received extent, and the result of the transfer.
    package func readAway(
        _ paused: PausedReply, _ served: ByteRange
    ) async -> (taken: Extent?, end: TransferEnd) {
        await wait(otherwise: (nil, .cancelled)) { worker, answer in
            guard let transfer = paused.take().flatMap(worker.transfer), transfer.isBodyPaused
            else {
                let failure = TransferFailure.network(code: 0, message: "no body")
                answer.resume(returning: (nil, .failed(failure)))
                return nil
            }
            let sampler = ExtentWriter(samplingAt: served.start)
            worker.resume(
                transfer, .write(sampler, limit: served.end, replyEnd: served.end)
            ) { answer.resume(returning: (sampler.takeUnrecorded(), $0)) }
            return transfer.id
        } cancel: { worker, number in
            worker.cancel(number)
        }
    }
}

extension DigestMemory {
    /// Notes that an origin requires digest authentication, if an exchange shows that.
    ///
    /// If the server also offered basic authentication, the password was wrong. A retry would only
    /// help to lock the account.
    ///
    /// - Returns: Whether this is new, so that the same request should be retried.
    package func learn(from exchange: Exchange, origin: String) -> Bool {
        guard let reply = exchange.reply else {
            return exchange.end == .proxyRefused(status: 407, asksForDigest: true) && noteProxy()
        }
        guard reply.asksForDigest else { return false }
        switch reply.status {
        case 401: return note(origin)
        case 407: return noteProxy()
        default: return false
        }
    }
}
