import CCurl

/// libcurl's multi handle.
typealias CURLM = UnsafeMutableRawPointer

/// The event loop of the loop thread, with libcurl's multi handle, its transfers and clients.
///
/// Used on the loop thread only; other threads use `TransferLoop.perform`.
package final class Worker {
    /// The time between two ticks, in seconds.
    static let tickInterval = 0.1

    private let multi: CURLM
    private let mailbox: Mailbox
    private(set) var transfers: [Int: Transfer] = [:]
    private let share = CURLShare()
    /// The clients that the loop calls, by number.
    package private(set) var clients: [Int: any LoopClient] = [:]
    /// The residents, by type.
    private var residents: [ObjectIdentifier: any LoopResident] = [:]
    /// The transfers that failed when they were resumed; the next turn ends them.
    private var broken: [(id: Int, code: CURLcode)] = []
    /// The number of the next transfer or client; no number is used twice.
    package private(set) var nextID = 1
    private var nextTick = 0.0
    /// The number of successive idle turns, up to 6.
    private var idleTurns = 0
    private var isStopping = false
    /// The rate limits of the session and of its downloads.
    package var pacing = Pacing()
    package let sockets = SocketWatch()
    /// The recent processor usage of the loop thread.
    package private(set) var load = ThreadLoad()

    /// Creates the worker and its residents, in the given order.
    init(multi: CURLM, mailbox: Mailbox, residents: [any LoopResident.Type]) {
        self.multi = multi
        self.mailbox = mailbox
        for resident in residents {
            self.residents[ObjectIdentifier(resident)] = resident.init(self)
        }
    }

    /// Returns the resident of a type, which must exist.
    func resident<Resident: LoopResident>(_ type: Resident.Type = Resident.self) -> Resident {
        guard let resident = residents[ObjectIdentifier(type)] as? Resident else {
            preconditionFailure("no \(type) lives on this loop")
        }
        return resident
    }

    /// Returns an unused number for a transfer or a client.
    package func makeID() -> Int {
        defer { nextID += 1 }
        return nextID
    }

    // MARK: Transfers

    /// Starts a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - onReply: Decides on the body; called once, when the final head is received.
    ///   - onEnd: Called once with the result, on the loop thread, unless the transfer is dropped.
    /// - Returns: The transfer.
    @discardableResult
    package func start(
        _ request: TransferRequest, onReply: @escaping (Reply) -> Transfer.Verdict,
        onEnd: @escaping (TransferEnd) -> Void
    ) -> Transfer {
        let transfer = Transfer(
            request, id: makeID(), now: monotonicSeconds(),
            share: share, sockets: sockets,
            onReply: { [unowned self] reply in
                for resident in residents.values {
                    resident.replied(reply, from: request.url.origin, on: self)
                }
                return onReply(reply)
            }, onEnd: onEnd)
        transfers[transfer.id] = transfer
        if pacing.limit.bytesPerSecond != nil { transfer.pace.start() }
        transfer.add(to: multi)
        return transfer
    }

    /// Returns the active transfer with a number; `nil` if it has ended.
    package func transfer(_ id: Int) -> Transfer? { transfers[id] }

    /// Returns an owner for a transfer whose body is paused.
    func pausedReply(_ id: Int) -> PausedReply {
        PausedReply(id) { [mailbox] id in mailbox.send { $0.drop(id) } }
    }

    /// Returns whether a request with this method and URL is still connecting.
    ///
    /// - Returns: `nil` if there is no such request.
    package func isConnecting(_ method: RequestMethod, to url: WebURL) -> Bool? {
        let such = transfers.values.filter {
            $0.request.method == method && $0.request.url.text == url.text
        }
        return such.isEmpty ? nil : such.contains(where: \.isConnecting)
    }

    /// Returns whether a request to an origin is active; requests of `owner` do not count.
    package func serves(_ origin: String, but owner: Int? = nil) -> Bool {
        transfers.values.contains { $0.request.url.origin == origin && $0.owner != owner }
    }

    /// Returns the number of requests to an origin that have no response yet.
    package func unanswered(by origin: String) -> Int {
        transfers.values.count { $0.reply == nil && $0.request.url.origin == origin }
    }

    /// Returns the number of requests to an origin whose bodies are being received.
    package func served(by origin: String) -> Int {
        transfers.values.count { $0.hasServed && $0.request.url.origin == origin }
    }

    /// Ends a transfer without calling `onEnd`; its connection is closed.
    package func drop(_ id: Int) { transfers[id].map(takeOff) }

    private func end(_ transfer: Transfer, _ end: TransferEnd) {
        takeOff(transfer)
        transfer.onEnd(end)
    }

    private func takeOff(_ transfer: Transfer) {
        for resident in residents.values { resident.left(transfer, on: self) }
        transfers[transfer.id] = nil
        pacing.retire(transfer)
        transfer.remove(from: multi)
    }

    /// Ends a transfer with the result `cancelled`.
    package func cancel(_ id: Int) {
        if let transfer = transfers[id] { end(transfer, .cancelled) }
    }

    /// Ends a transfer if it has written its last byte, even if more of the response would follow.
    func endIfSatisfied(_ id: Int) {
        if let transfer = transfers[id], transfer.isSatisfied { end(transfer, .complete) }
    }

    /// Resumes a paused body, with a new handler of the result.
    package func resume(
        _ transfer: Transfer, _ verdict: Transfer.Verdict, onEnd: @escaping (TransferEnd) -> Void
    ) {
        note(transfer.resume(verdict, onEnd: onEnd), of: transfer)
    }

    /// Resumes a transfer that was paused by the window or by a rate limit.
    package func goOn(_ transfer: Transfer) { note(transfer.goOn(), of: transfer) }

    /// Records the failure of a resumed transfer.
    ///
    /// libcurl does not report it again in the multi handle's messages.
    private func note(_ code: CURLcode, of transfer: Transfer) {
        if code != CURLE_OK { broken.append((transfer.id, code)) }
    }

    /// Moves the end of a transfer's window to an offset.
    package func allow(_ id: Int, upTo offset: Int64) {
        if let transfer = transfers[id] { note(transfer.allow(upTo: offset), of: transfer) }
    }

    // MARK: Clients

    /// Adds a client; the loop calls it until `remove` is called with its number.
    package func add(_ client: any LoopClient, as id: Int) {
        clients[id] = client
        nextTick = 0
    }

    package func remove(_ id: Int) { clients[id] = nil }

    // MARK: The loop

    /// Makes `run` return after the current turn.
    package func stop() { isStopping = true }

    /// Runs until `stop` is called.
    package func run() {
        var expected = monotonicSeconds()
        while !isStopping {
            var running: Int32 = 0
            curl_multi_perform(multi, &running)
            reap()
            for resident in residents.values { resident.turn() }
            for client in clients.values { client.turn() }
            let messages = mailbox.take()
            for message in messages { message(self) }
            let now = monotonicSeconds()
            pace(now)
            if now >= nextTick {
                // Time in which the loop did not run (slow disk, SIGSTOP) is not a server's stall.
                tick(now, blocked: nextTick == 0 ? 0 : max(0, now - expected))
                nextTick = now + Self.tickInterval
                expected = nextTick + Self.tickInterval
            }
            guard messages.isEmpty, !isStopping else { continue }
            let isIdle = transfers.isEmpty && clients.isEmpty && areResidentsIdle
            let due = residents.values.reduce(min(nextTick, pacing.nextTurn)) { min($0, $1.due) }
            // A message wakes the loop. If that ever fails, the idle loop wakes after 32 s at most.
            // The growing interval saves energy while a download waits for hours.
            idleTurns = isIdle ? min(6, idleTurns + 1) : 0
            let patience = isIdle ? Double(1 << (idleTurns - 1)) : max(0, due - monotonicSeconds())
            curl_multi_poll(multi, nil, 0, Int32((patience * 1000).rounded(.up)), nil)
            if isIdle { nextTick = 0 }
        }
    }

    /// Cancels all clients and transfers after `run` has returned.
    package func close() {
        for client in Array(clients.values) { client.cancel() }
        // The end of one transfer may let a resident start another.
        repeat {
            for resident in residents.values { resident.cancel() }
            while let id = transfers.keys.first { cancel(id) }
        } while !areResidentsIdle
    }

    private var areResidentsIdle: Bool { residents.values.allSatisfy(\.isIdle) }

    private func reap() {
        // The end of a transfer may resume others, whose failures are then added to `broken`.
        let due = broken
        broken = []
        for (id, code) in due {
            if let transfer = transfers[id] { end(transfer, transfer.end(for: code)) }
        }
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE,
                let transfer = Transfer.owner(of: message.pointee.easy_handle)
            else { continue }
            end(transfer, transfer.end(for: segget_curl_message_result(message)))
        }
    }

    private func tick(_ now: Double, blocked: Double) {
        // The end of one transfer may also end others.
        for transfer in transfers.values where transfers[transfer.id] != nil {
            transfer.noteActivity(now: now, blocked: blocked)
            transfer.endCollecting(now)
            let limit = transfer.request.connecting.stallTimeout
            if transfer.stallClock.ofBody(now) > limit {
                end(transfer, transfer.end(stalledFor: limit))
            }
        }
        load.measure(now: now)
        pacing.measure(transfers.values, now: now)
        if clients.values.contains(where: \.watchesConnections) { sockets.look() }
        for client in clients.values { client.tick(now) }
    }
}
