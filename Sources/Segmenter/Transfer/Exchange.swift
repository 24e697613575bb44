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
    /// How long replies to such requests let wait.
    var wait: BatchWidth.Wait?
    /// Whether it was turned away because too many were under way: then it is no attempt that counts.
    var isOneTooMany = false
    /// Whether others for small files were under way when it went out.
    var isBeside = false

    /// Whether all of the body has come.
    var isWhole: Bool { isKept && end == .complete }
}

extension TransferLoop {
    /// Makes a request and returns when the head of its response is there.
    ///
    /// - Parameters:
    ///   - request: What to ask.
    ///   - holding: Whether the body of a 200 or 206 is to wait, for its owner to go on with it.
    ///     Bodies of other responses are read away.
    ///   - collecting: Whether a short body is to come with the head, rather than wait.
    /// - Returns: The exchange; its end is `cancelled` when the task was.
    func exchange(
        _ request: TransferRequest, holding: Bool, collecting: Bool = false
    ) async -> Exchange {
        let ticket = Monitor<(id: Int?, isCancelled: Bool)>((nil, false))
        return await withTaskCancellationHandler {
            await Answer.wait { answer in
                let isTaken = perform { worker in
                    guard !ticket.withLock({ $0.isCancelled }) else {
                        answer.resume(returning: Exchange(end: .cancelled))
                        return
                    }
                    guard !collecting else {
                        let id = worker.collect(request) { answer.resume(returning: $0) }
                        ticket.withLock { $0.id = id }
                        return
                    }
                    let transfer = worker.begin(request, holding: holding) {
                        answer.resume(returning: $0)
                    }
                    ticket.withLock { $0.id = transfer }
                }
                if !isTaken { answer.resume(returning: Exchange(end: .cancelled)) }
            }
        } onCancel: {
            ticket.withLock { $0.isCancelled = true }
            perform { worker in
                if let id = ticket.withLock({ $0.id }) { worker.cancelCollecting(id) }
            }
        }
    }

    /// Has a body that is held come, of which nothing is kept but the checksum.
    ///
    /// - Parameters:
    ///   - paused: The reply.
    ///   - served: The bytes of the file that the body is.
    /// - Returns: What came, and how it ended.
    func readAway(
        _ paused: PausedReply, _ served: ByteRange
    ) async -> (taken: Extent?, end: TransferEnd) {
        let id = paused.take()
        return await withTaskCancellationHandler {
            await Answer.wait { answer in
                let isTaken = perform { worker in
                    guard let transfer = id.flatMap(worker.transfer), transfer.isHeld else {
                        let failure = TransferFailure.network(code: 0, message: "no body")
                        answer.resume(returning: (nil, .failed(failure)))
                        return
                    }
                    let sampler = ExtentWriter(samplingAt: served.start)
                    worker.resume(
                        transfer, .write(sampler, limit: served.end, replyEnd: served.end)
                    ) { answer.resume(returning: (sampler.takeUnrecorded(), $0)) }
                }
                if !isTaken { answer.resume(returning: (nil, .cancelled)) }
            }
        } onCancel: {
            perform { worker in id.map(worker.cancel) }
        }
    }
}

extension Worker {
    /// Starts a request and tells its outcome exactly once.
    ///
    /// - Returns: The number of the transfer.
    fileprivate func begin(
        _ request: TransferRequest, holding: Bool, report: @escaping (Exchange) -> Void
    ) -> Int {
        final class Progress {
            var exchange = Exchange()
            var isTold = false
        }
        let progress = Progress()
        let id = nextID
        start(request) { [unowned self] reply in
            progress.exchange.reply = reply
            progress.exchange.isHTTP2 = transfer(id)?.isHTTP2 ?? false
            guard holding, reply.status == 200 || reply.status == 206 else { return .discard }
            progress.isTold = true
            var exchange = progress.exchange
            exchange.isKept = true
            // Here alone: the transfer must not own itself.
            exchange.paused = pausedReply(id)
            report(exchange)
            return .pause
        } onEnd: { end in
            guard !progress.isTold else { return }
            progress.exchange.end = end
            report(progress.exchange)
        }
        return id
    }
}

extension TransferLoop {
    /// How many requests at a time servers serve, by origin: those that this session has learned.
    func learnedLimits() async -> [String: Int] {
        await Answer.wait { answer in
            let isTaken = perform { worker in
                answer.resume(
                    returning: worker.serverLimits.compactMapValues { $0.isNews ? $0.limit : nil })
            }
            if !isTaken { answer.resume(returning: [:]) }
        }
    }
}
