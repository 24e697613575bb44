// Exchange: requests whose head or short body is wanted, and how many small ones go out at a time.
// It knows requests and replies; it never knows a file on the disk, nor what an answer means for
// it.

import Assembler

/// The outcome of one request whose head was wanted.
struct Exchange: Sendable {
    /// The head of the final response, if one came.
    var reply: Reply?
    /// Whether its body is kept: what has come of it is in `body`, and the rest waits.
    var isKept = false
    /// What was collected of its body.
    var body: [UInt8] = []
    /// The owner of the rest of its body, which waits on the wire.
    var paused: PausedReply?
    /// How it ended, when it has.
    var end: TransferEnd?
    /// Whether the reply came over HTTP/2.
    var isHTTP2 = false
    /// The time to first byte of replies to such requests.
    var wait: BatchWidth.Wait?
    /// Whether it was turned away as over the server's limit: then it is no attempt that counts.
    var isOverLimit = false
    /// When the request went out, on the monotonic clock.
    var began = 0.0
    /// Whether others for small files were under way when it went out.
    var isBeside = false
    /// Seconds until it may go out, where the server counts requests: it was not made.
    var isDueIn = 0.0

    /// Whether all of the body has come.
    var isWhole: Bool { isKept && end == .complete }
}

extension Exchange {
    /// Starts a request and reports its outcome exactly once, from the loop: when the head is there
    /// and the body is paused, or else at the end.
    ///
    /// - Parameters:
    ///   - request: What to ask.
    ///   - pausing: Whether the body of a 200 or 206 is paused.
    ///   - worker: The loop.
    ///   - report: Takes the outcome.
    /// - Returns: The number of the transfer.
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
            // Here alone: the transfer must not own itself.
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
    /// Makes a request and returns when the head of its response is there.
    ///
    /// A server that counts requests is asked when one may go out.
    ///
    /// - Parameters:
    ///   - request: What to ask.
    ///   - pausing: Whether the body of a 200 or 206 is paused, for its owner to go on with it.
    ///     Bodies of other responses are read away.
    ///   - collecting: Whether a short body is to come with the head, rather than wait.
    /// - Returns: The exchange; its end is `cancelled` when the task was.
    func exchange(
        _ request: TransferRequest, pausing: Bool, collecting: Bool = false
    ) async -> Exchange {
        while true {
            let exchange = await attempt(request, pausing: pausing, collecting: collecting)
            guard exchange.isDueIn > 0 else { return exchange }
            do {
                try await Task.sleep(for: .seconds(exchange.isDueIn))
            } catch {
                return Exchange(end: .cancelled)
            }
        }
    }

    /// Makes a request, unless its server is not to be asked yet.
    private func attempt(
        _ request: TransferRequest, pausing: Bool, collecting: Bool
    ) async -> Exchange {
        await wait(otherwise: Exchange(end: .cancelled)) { worker, answer in
            let (origin, now) = (request.url.origin, monotonicSeconds())
            if request.connecting.endsToRest, let quota = worker.servers.quotas[origin],
                quota.isResting(now: now)
            {
                let rest = Duration(seconds: quota.delay(now: now))
                answer.resume(returning: Exchange(end: .failed(.resting(for: rest))))
                return nil
            }
            if collecting {
                return worker.smallRequests.collect(request) { answer.resume(returning: $0) }
            }
            let delay = worker.servers.takeTurn(at: origin, now: now)
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

    /// Has a body that is paused come, of which nothing is kept but the checksum.
    ///
    /// - Parameters:
    ///   - paused: The reply.
    ///   - served: The bytes of the file that the body is.
    /// - Returns: What came, and how it ended.
    func readAway(
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
    /// Learns from an exchange with an origin who wants digest authentication.
    ///
    /// Where basic was offered too, it was refused because the password is wrong: another try would
    /// only help to lock the account.
    ///
    /// - Returns: Whether something new was learned, so that the same request is worth another try.
    func learn(from exchange: Exchange, origin: String) -> Bool {
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
