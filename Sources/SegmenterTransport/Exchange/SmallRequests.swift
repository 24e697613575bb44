/// Requests whose short bodies are collected in memory, so that a small file costs one request.
///
/// The window and the limit of each server bound the number of active requests. The class lives on
/// the loop thread.
package final class SmallRequests: LoopResident {
    /// A request that waits to be sent; a class, because each turn of the loop passes all of them.
    private final class Entry {
        let id: Int
        let request: TransferRequest
        let report: (Exchange) -> Void

        init(id: Int, request: TransferRequest, report: @escaping (Exchange) -> Void) {
            self.id = id
            self.request = request
            self.report = report
        }
    }

    /// The longest body that is kept in memory, in bytes.
    package static let longestBody = 256 << 10

    private unowned let worker: Worker
    /// Unowned, because the worker owns both objects, and the book refers to this one as a user.
    fileprivate unowned let servers: ServerBook
    private var waiting: [Entry] = []
    /// The ids of active transfers, by the id of the request.
    private var transfers: [Int: Int] = [:]
    /// The number of requests that may be active at a server, by origin.
    fileprivate var windows: [String: RequestWindow] = [:]
    /// The time to first byte of responses, by origin.
    private var waits: [String: BatchWidth.Wait] = [:]
    /// The monotonic time at which the next waiting request may be sent; infinity for none.
    package private(set) var due = Double.infinity

    package init(_ worker: Worker) {
        self.worker = worker
        servers = worker.resident()
        servers.join(self, as: worker.makeID())
    }

    /// Whether no request waits.
    package var isIdle: Bool { waiting.isEmpty }

    /// Queues a request, sends it as soon as possible, and reports its result exactly once.
    ///
    /// The report is made when a short body is complete or has failed, or when a longer body is
    /// paused.
    ///
    /// - Returns: The id of the request, for `cancel`.
    package func collect(_ request: TransferRequest, report: @escaping (Exchange) -> Void) -> Int {
        defer { turn() }
        return enqueue(request, report: report)
    }

    /// Queues a request as `collect` does, but sends it no earlier than in the loop's next turn.
    package func enqueue(_ request: TransferRequest, report: @escaping (Exchange) -> Void) -> Int {
        let id = worker.makeID()
        waiting.append(Entry(id: id, request: request, report: report))
        return id
    }

    /// Cancels a request of `collect`, or any other transfer.
    package func cancel(_ id: Int) {
        if let index = waiting.firstIndex(where: { $0.id == id }) {
            waiting.remove(at: index).report(Exchange(end: .cancelled))
        } else {
            worker.cancel(transfers[id] ?? id)
        }
    }

    /// Cancels all waiting requests.
    package func cancel() {
        let entries = waiting
        waiting = []
        for entry in entries { entry.report(Exchange(end: .cancelled)) }
    }

    // MARK: Capacity

    /// Sends the waiting requests that may be sent; never called from within a callback.
    package func turn() {
        due = .infinity
        guard !waiting.isEmpty else { return }
        let (now, entries) = (monotonicSeconds(), waiting)
        waiting = []
        var full: Set<String> = []
        for entry in entries {
            let origin = entry.request.url.origin
            if entry.request.connecting.endsToRest,
                let rest = servers.longRest(of: origin, now: now)
            {
                entry.report(Exchange(resting: rest))
            } else if full.contains(origin) || !hasRoom(origin, now) {
                full.insert(origin)
                waiting.append(entry)
                if let next = windows[origin]?.due, next > now { due = min(due, next) }
                let delay = politeDelay(origin, now)
                if delay > 0 { due = min(due, now + delay) }
            } else {
                start(entry, now)
            }
        }
    }

    private func hasRoom(_ origin: String, _ now: Double) -> Bool {
        guard windows[origin]?.hasRoom(now: now) ?? true, politeDelay(origin, now) <= 0 else {
            return false
        }
        if let most = servers.mostActive, servers.load(of: origin, now: now).active >= most {
            return false
        }
        guard let limit = servers.limits[origin], limit.limit != nil else { return true }
        return limit.allows(beside: servers.load(of: origin, now: now), now: now)
    }

    private func politeDelay(_ origin: String, _ now: Double) -> Double {
        servers[quotaOf: origin]?.politeDelay(
            now: now, beside: servers.load(of: origin, now: now).active) ?? 0
    }

    private func start(_ entry: Entry, _ now: Double) {
        let origin = entry.request.url.origin
        _ = servers.takeTurn(at: origin, now: now)
        let others = windows[origin, default: .init()].sent(now: now)
        let small = SmallRequest(origin, beside: others, sent: now, of: self) { [self] exchange in
            transfers[entry.id] = nil
            entry.report(exchange)
        }
        var request = entry.request
        // The body is expected to be short.
        request.bufferSize = 32 << 10
        request.mayMultiplex = request.url.isSecure && !request.needsOwnConnection
        let transfer = worker.start(request) { [unowned worker] reply in
            small.judge(reply, on: worker)
        } onEnd: { end in
            small.ended(end)
        }
        small.transfer = transfer
        transfer.onPause = { [unowned worker] in small.pauses(on: worker) }
        transfers[entry.id] = transfer.id
    }

    /// Returns the number of active requests at an origin.
    package func underWay(at origin: String) -> Int { windows[origin]?.underWay ?? 0 }

    /// Records the time to first byte of a response, in seconds.
    ///
    /// - Returns: The smoothed time of all responses; older ones count less and less.
    fileprivate func wait(
        of origin: String, after seconds: Double?, isMultiplexed: Bool
    ) -> BatchWidth.Wait? {
        if let seconds {
            var wait = waits[origin] ?? .init(usual: seconds, least: seconds)
            wait.usual += (seconds - wait.usual) / 8
            wait.least = min(wait.least, seconds)
            wait.isMultiplexed = isMultiplexed
            waits[origin] = wait
        }
        return waits[origin]
    }
}

extension SmallRequests: ServerUser {
    package func load(of origin: String, now: Double) -> ServerLimit.Load {
        ServerLimit.Load(asking: windows[origin]?.underWay ?? 0)
    }
}

/// An active request for a small file; its transfer owns it.
private final class SmallRequest {
    private let origin: String
    /// The number of other active requests when this one was sent, and the monotonic time of that.
    private let others: Int
    private let sent: Double
    private unowned let all: SmallRequests
    private let report: (Exchange) -> Void
    weak var transfer: Transfer?
    private var exchange = Exchange()
    private var isReported = false

    init(
        _ origin: String, beside others: Int, sent: Double, of all: SmallRequests,
        report: @escaping (Exchange) -> Void
    ) {
        self.origin = origin
        self.others = others
        self.sent = sent
        self.all = all
        self.report = report
        exchange.isBeside = others > 0
        exchange.began = sent
    }

    private var isMultiplexed: Bool { transfer?.isMultiplexed ?? false }

    /// Decides from the response head whether to collect, pause or discard the body.
    func judge(_ reply: Reply, on worker: Worker) -> Transfer.Verdict {
        exchange.reply = reply
        worker.servers.answered(origin, .get, reply.status)
        exchange.isHTTP2 = transfer?.isHTTP2 ?? false
        guard reply.status == 200 || reply.status == 206 else { return .discard }
        if let verdict = Self.collects(reply) {
            exchange.isKept = true
            return verdict
        }
        // The file is requested again, on separate connections.
        if isMultiplexed { return .decline }
        exchange.isKept = true
        pauses(on: worker)
        return .pause
    }

    /// Returns the verdict that collects a body; `nil` if the body has to be paused.
    private static func collects(_ reply: Reply) -> Transfer.Verdict? {
        guard reply.lengthBreach == nil else { return nil }
        func served() -> Int64? {
            guard reply.status == 206 else { return nil }
            return reply["content-range"].flatMap(ContentRange.init)?.range.count
        }
        let most = SmallRequests.longestBody
        guard let length = reply.contentLength ?? served() else {
            let isChunked = reply["transfer-encoding"]?.lowercased().contains("chunked") ?? false
            return isChunked ? .collect(length: nil, most: most) : nil
        }
        return length <= Int64(most) ? .collect(length: length, most: most) : nil
    }

    /// Reports the result when the body, or its rest, is paused.
    func pauses(on worker: Worker) {
        all.windows[origin]?.served(now: monotonicSeconds())
        reportOutcome(transfer.map { worker.pausedReply($0.id) })
    }

    /// Reports the result when the transfer has ended.
    func ended(_ end: TransferEnd) {
        guard !isReported else { return }
        exchange.end = end
        let isLimit = all.servers.forbidding[origin]?.meaning == .limit
        let failure = exchange.turnedAway(end, by: isLimit ? mayBeOverload : isOverload)
        let now = monotonicSeconds()
        if let failure, failure.mayTurnAway(hadReply: false) {
            let retryAfter = exchange.reply?.retryAfter.flatMap { $0 > 60 ? nil : $0 }
            exchange.isOverLimit =
                all.windows[origin]?.refused(
                    beside: others, sent: sent, retryAfter: retryAfter, now: now) ?? false
        } else if exchange.isWhole {
            all.servers.hosts[origin]?.received(Int64(transfer?.collecting.bytes.count ?? 0))
            all.windows[origin]?.served(now: now)
        } else {
            all.windows[origin]?.left()
        }
        reportOutcome(nil)
    }

    private func reportOutcome(_ paused: PausedReply?) {
        isReported = true
        exchange.body = transfer?.collecting.bytes ?? []
        let isMultiplexed = isMultiplexed
        all.windows[origin]?.isMultiplexed = isMultiplexed
        exchange.wait = all.wait(
            of: origin, after: transfer?.waitedSeconds, isMultiplexed: isMultiplexed)
        all.windows[origin]?.spacing = exchange.wait?.spacing ?? 0
        // `exchange` does not contain the owner, because the transfer would then own itself.
        var outcome = exchange
        outcome.paused = paused
        report(outcome)
    }
}

extension Exchange {
    /// Returns how an overloaded server refused the request; `nil` if it did not.
    ///
    /// `saysSo` returns whether a status code means overload.
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
