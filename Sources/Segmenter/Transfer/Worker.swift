import Assembler
import CCurl

/// libcurl's multi handle.
typealias CURLM = UnsafeMutableRawPointer

/// What the loop thread runs: libcurl's multi handle, the transfers on it, and those whom it calls.
///
/// Never leaves its thread; others reach it through `TransferLoop.perform`.
final class Worker {
    /// Seconds between two ticks.
    static let tickInterval = 0.1

    private let multi: CURLM
    private let mailbox: Mailbox
    private(set) var transfers: [Int: Transfer] = [:]
    /// What transfers share.
    private let share = CURLShare()
    /// Who is called, by number.
    private(set) var clients: [Int: any LoopClient] = [:]
    /// What lives here as long as the loop does, by type.
    private var residents: [ObjectIdentifier: any LoopResident] = [:]
    /// Transfers that broke while they were resumed, to be ended at the next turn.
    private var broken: [(id: Int, code: CURLcode)] = []
    /// The number that the next transfer or client gets; none is given twice.
    private(set) var nextID = 1
    private var nextTick = 0.0
    /// Turns in a row in which there was nothing to do.
    private var idleTurns = 0
    private var isStopping = false
    /// The limit of rate of all transfers together.
    var pacing = Pacing()
    /// What the kernel says of the connections.
    let sockets = SocketWatch()
    /// How busy the loop thread was, of late.
    private(set) var load = ThreadLoad()

    /// Has residents move in, in the given order.
    init(multi: CURLM, mailbox: Mailbox, residents: [any LoopResident.Type]) {
        self.multi = multi
        self.mailbox = mailbox
        for resident in residents {
            self.residents[ObjectIdentifier(resident)] = resident.init(self)
        }
    }

    /// The resident of a type, which must have moved in.
    func resident<Resident: LoopResident>(_ type: Resident.Type = Resident.self) -> Resident {
        guard let resident = residents[ObjectIdentifier(type)] as? Resident else {
            preconditionFailure("no \(type) lives on this loop")
        }
        return resident
    }

    /// Takes a number for a transfer or a client.
    func makeID() -> Int {
        defer { nextID += 1 }
        return nextID
    }

    // MARK: Transfers

    /// Starts a request.
    ///
    /// `onEnd` is called once, from the loop, unless the transfer is dropped.
    @discardableResult
    func start(
        _ request: TransferRequest, onReply: @escaping (Reply) -> Transfer.Verdict,
        onEnd: @escaping (TransferEnd) -> Void
    ) -> Transfer {
        let transfer = Transfer(
            request, id: makeID(), now: monotonicSeconds(),
            share: share, sockets: sockets, onReply: onReply, onEnd: onEnd)
        transfers[transfer.id] = transfer
        if pacing.limit.bytesPerSecond != nil { transfer.pace.start() }
        transfer.add(to: multi)
        return transfer
    }

    /// The transfer with a number, if it is not over.
    func transfer(_ id: Int) -> Transfer? { transfers[id] }

    /// An owner of a transfer whose body waits.
    func pausedReply(_ id: Int) -> PausedReply {
        PausedReply(id) { [mailbox] id in mailbox.send { $0.drop(id) } }
    }

    /// Whether a connection is being made for such a request; `nil` when there is no such request.
    func isConnecting(_ method: RequestMethod, to url: WebURL) -> Bool? {
        let such = transfers.values.filter {
            $0.request.method == method && $0.request.url.text == url.text
        }
        return such.isEmpty ? nil : such.contains(where: \.isConnecting)
    }

    /// Whether any request to an origin is under way, but for those of one owner.
    func serves(_ origin: String, but owner: Int? = nil) -> Bool {
        transfers.values.contains { $0.request.url.origin == origin && $0.owner != owner }
    }

    /// Ends a transfer without calling anybody; its connection is closed.
    func drop(_ id: Int) { transfers[id].map(takeOff) }

    private func end(_ transfer: Transfer, _ end: TransferEnd) {
        takeOff(transfer)
        transfer.onEnd(end)
    }

    private func takeOff(_ transfer: Transfer) {
        for resident in residents.values { resident.left(transfer) }
        transfers[transfer.id] = nil
        pacing.retire(transfer)
        transfer.remove(from: multi)
    }

    /// Ends a transfer for its owner's sake.
    func cancel(_ id: Int) {
        if let transfer = transfers[id] { end(transfer, .cancelled) }
    }

    /// Ends a transfer that has written all that is its own: no need to wait for the rest.
    func endIfSatisfied(_ id: Int) {
        if let transfer = transfers[id], transfer.isSatisfied { end(transfer, .complete) }
    }

    /// Lets a paused body go on, with a new owner.
    func resume(
        _ transfer: Transfer, _ verdict: Transfer.Verdict, onEnd: @escaping (TransferEnd) -> Void
    ) {
        note(transfer.resume(verdict, onEnd: onEnd), of: transfer)
    }

    /// Lets a transfer go on that waited.
    func goOn(_ transfer: Transfer) { note(transfer.goOn(), of: transfer) }

    /// When what had waited could not be written, libcurl says so here, and nowhere else.
    private func note(_ code: CURLcode, of transfer: Transfer) {
        if code != CURLE_OK { broken.append((transfer.id, code)) }
    }

    /// Lets the body of a transfer be written up to an offset.
    func allow(_ id: Int, upTo offset: Int64) {
        if let transfer = transfers[id] { note(transfer.allow(upTo: offset), of: transfer) }
    }

    // MARK: Clients

    /// Has a client ticked and turned until `remove` is called with its number.
    func add(_ client: any LoopClient, as id: Int) {
        clients[id] = client
        nextTick = 0
    }

    /// Calls a client no more.
    func remove(_ id: Int) { clients[id] = nil }

    // MARK: The loop

    /// Ends `run` after the present turn.
    func stop() { isStopping = true }

    /// Runs until `stop` is called.
    func run() {
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
                // Time in which the loop did not run (a slow disk, SIGSTOP) is no peer's stall.
                tick(now, blocked: nextTick == 0 ? 0 : max(0, now - expected))
                nextTick = now + Self.tickInterval
                expected = nextTick + Self.tickInterval
            }
            guard messages.isEmpty, !isStopping else { continue }
            let isIdle = transfers.isEmpty && clients.isEmpty && areResidentsIdle
            let due = residents.values.reduce(min(nextTick, pacing.nextTurn)) { min($0, $1.due) }
            // Whoever sends a message wakes it. Should that ever fail, it is not for long; nor does a
            // download that waits for hours cost a laptop a wake a second.
            idleTurns = isIdle ? min(6, idleTurns + 1) : 0
            let patience = isIdle ? Double(1 << (idleTurns - 1)) : max(0, due - monotonicSeconds())
            curl_multi_poll(multi, nil, 0, Int32((patience * 1000).rounded(.up)), nil)
            if isIdle { nextTick = 0 }
        }
    }

    /// Cancels whatever is left when `run` has returned.
    func close() {
        for client in Array(clients.values) { client.cancel() }
        // What ends may let others go out.
        repeat {
            for resident in residents.values { resident.cancel() }
            while let id = transfers.keys.first { cancel(id) }
        } while !areResidentsIdle
    }

    private var areResidentsIdle: Bool { residents.values.allSatisfy(\.isIdle) }

    private func reap() {
        // What ends may resume others, which break in their turn.
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
        // What one of them ends may take others along.
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
