import Assembler

/// Requests whose short bodies are kept in memory, so that each small file costs one.
///
/// Lives on the loop thread.
struct Collecting {
    /// A request that waits for room.
    struct Entry {
        let id: Int
        let request: TransferRequest
        let report: (Exchange) -> Void
    }

    /// Longest body that is kept in memory, in bytes.
    static let most = 256 << 10
    /// Seconds after which a body that is not complete is fetched as those of other files are.
    static let patience = 1.0

    fileprivate(set) var waiting: [Entry] = []
    /// The transfers of those that are under way, by the number of the request.
    fileprivate var transfers: [Int: Int] = [:]
    fileprivate(set) var windows: [String: RequestWindow] = [:]
    /// When the next request is due that waits for its time; infinity when none does.
    fileprivate(set) var nextTurn = Double.infinity
    /// How long replies let wait, by origin.
    fileprivate var waits: [String: BatchWidth.Wait] = [:]

    /// Takes how long a reply let wait, in seconds.
    ///
    /// - Returns: How long they do: those before it count for less and less.
    fileprivate mutating func wait(
        of origin: String, after seconds: Double?, isMultiplexed: Bool
    ) -> BatchWidth.Wait? {
        guard let seconds else { return waits[origin] }
        var wait = waits[origin] ?? .init(usual: seconds, least: seconds)
        wait.usual += (seconds - wait.usual) / 8
        wait.least = min(wait.least, seconds)
        wait.isMultiplexed = isMultiplexed
        waits[origin] = wait
        return wait
    }
}

extension Worker {
    /// Makes a request when there is room for it, and tells its outcome exactly once: when a short body
    /// is complete or broken, or when a longer one begins to wait.
    ///
    /// - Returns: The number of the request, for `cancelCollecting`.
    func collect(_ request: TransferRequest, report: @escaping (Exchange) -> Void) -> Int {
        defer { startCollecting() }
        return enqueue(request, report: report)
    }

    /// Makes a request, as `collect`, but not before the next turn of the loop.
    func enqueue(_ request: TransferRequest, report: @escaping (Exchange) -> Void) -> Int {
        let id = makeID()
        collecting.waiting.append(.init(id: id, request: request, report: report))
        return id
    }

    /// Gives up a request of `collect`, or any other transfer.
    func cancelCollecting(_ id: Int) {
        if let index = collecting.waiting.firstIndex(where: { $0.id == id }) {
            collecting.waiting.remove(at: index).report(Exchange(end: .cancelled))
        } else {
            cancel(collecting.transfers[id] ?? id)
        }
    }

    /// Starts what there is room for; never called from within a callback.
    func startCollecting() {
        collecting.nextTurn = .infinity
        guard !collecting.waiting.isEmpty else { return }
        let (now, waiting) = (monotonicSeconds(), collecting.waiting)
        collecting.waiting = []
        var full: Set<String> = []
        for entry in waiting {
            let origin = entry.request.url.origin
            if full.contains(origin) || !mayCollect(origin, now) {
                full.insert(origin)
                collecting.waiting.append(entry)
                if let due = collecting.windows[origin]?.due, due > now {
                    collecting.nextTurn = min(collecting.nextTurn, due)
                }
            } else {
                start(entry, now)
            }
        }
    }

    private func mayCollect(_ origin: String, _ now: Double) -> Bool {
        guard collecting.windows[origin]?.hasRoom(now: now) ?? true else { return false }
        guard let serverLimit = serverLimits[origin], serverLimit.limit != nil else { return true }
        return serverLimit.allows(beside: load(of: origin, now: now), now: now)
    }

    private func start(_ entry: Collecting.Entry, _ now: Double) {
        final class Progress {
            var exchange = Exchange()
            var isTold = false
            weak var transfer: Transfer?
        }
        let (progress, origin) = (Progress(), entry.request.url.origin)
        let others = collecting.windows[origin, default: .init()].sent(now: now)
        progress.exchange.isBeside = others > 0
        let report: (PausedReply?) -> Void = { [unowned self] paused in
            progress.isTold = true
            progress.exchange.body = progress.transfer?.collected ?? []
            let isMultiplexed = progress.transfer?.isMultiplexed ?? false
            collecting.windows[origin]?.isMultiplexed = isMultiplexed
            progress.exchange.wait = collecting.wait(
                of: origin, after: progress.transfer?.waitedSeconds, isMultiplexed: isMultiplexed)
            collecting.windows[origin]?.spacing = progress.exchange.wait?.spacing ?? 0
            collecting.transfers[entry.id] = nil
            // Here alone: the transfer must not own itself.
            var exchange = progress.exchange
            exchange.paused = paused
            entry.report(exchange)
        }
        var request = entry.request
        // A short body is to be expected.
        request.bufferSize = 32 << 10
        request.mayMultiplex = request.url.isSecure && !request.needsOwnConnection
        let transfer = start(request) { [unowned self] reply in
            progress.exchange.reply = reply
            progress.exchange.isHTTP2 = progress.transfer?.isHTTP2 ?? false
            guard reply.status == 200 || reply.status == 206 else { return .discard }
            if let verdict = collectVerdict(reply) {
                progress.exchange.isKept = true
                return verdict
            }
            // It is asked for again, on connections of its own.
            if progress.transfer?.isMultiplexed ?? false { return .decline }
            progress.exchange.isKept = true
            collecting.windows[origin]?.served(now: monotonicSeconds())
            report(progress.transfer.map { pausedReply($0.id) })
            return .pause
        } onEnd: { [unowned self] end in
            guard !progress.isTold else { return }
            progress.exchange.end = end
            let isLimit = forbidding[origin]?.meaning == .limit
            let failure = progress.exchange.turnedAway(
                end, by: isLimit ? mayBeOverload : isOverload)
            let retryAfter = progress.exchange.reply?.retryAfter
            let ended = monotonicSeconds()
            if let failure, failure.mayTurnAway(hadReply: false) {
                progress.exchange.isOneTooMany =
                    collecting.windows[origin]?.refused(
                        beside: others, sent: now,
                        retryAfter: retryAfter.flatMap { $0 > 60 ? nil : $0 }, now: ended)
                    ?? false
            } else if progress.exchange.isWhole {
                collecting.windows[origin]?.served(now: ended)
            } else {
                collecting.windows[origin]?.left()
            }
            report(nil)
        }
        progress.transfer = transfer
        transfer.onHold = { [unowned self, id = transfer.id] in
            collecting.windows[origin]?.served(now: monotonicSeconds())
            report(pausedReply(id))
        }
        collecting.transfers[entry.id] = transfer.id
    }

    /// How a body is collected; `nil` when it is to wait.
    private func collectVerdict(_ reply: Reply) -> Transfer.Verdict? {
        // A limit of rate is the business of what is written.
        guard pacing.limit.bytesPerSecond == nil, reply.lengthBreach == nil else { return nil }
        func served() -> Int64? {
            guard reply.status == 206 else { return nil }
            return reply["content-range"].flatMap(ContentRange.init)?.range.count
        }
        guard let length = reply.contentLength ?? served() else {
            let isChunked = reply["transfer-encoding"]?.lowercased().contains("chunked") ?? false
            return isChunked ? .collect(length: nil, most: Collecting.most) : nil
        }
        return length <= Int64(Collecting.most)
            ? .collect(length: length, most: Collecting.most) : nil
    }

    /// Cancels what waits.
    func cancelWaiting() {
        let waiting = collecting.waiting
        collecting.waiting = []
        for entry in waiting { entry.report(Exchange(end: .cancelled)) }
    }
}

extension Exchange {
    /// How a server with too much to do turned the request away, which statuses for which
    /// `saysSo` holds tell; `nil` when that is not what happened.
    fileprivate func turnedAway(
        _ end: TransferEnd, by saysSo: (Int) -> Bool
    ) -> TransferFailure? {
        if let status = reply?.status {
            return saysSo(status) ? .status(status) : nil
        }
        if case .failed(let failure) = end { return failure }
        return nil
    }
}
