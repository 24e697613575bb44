// Fetch: downloads the bytes of one file, from several servers and over many connections. It has the
// transfers and writers of the file, but not its name, and does not decide what follows its
// outcome. All decisions are made in `Machine/`.

import Assembler

/// Carries out the decisions of a `FetchMachine`, and reports events to it.
///
/// Lives on the loop thread.
final class Fetch: LoopClient, ServerUser {
    /// The setup of a fetch.
    struct Setup: Sendable {
        /// The setup of the machine.
        var machine: FetchMachine.Setup
        var connecting: TransferRequest.Connecting
        /// The probe's response, whose body is paused or already received.
        var firstReply: Probe.FirstReply?
        /// Resolves the original URL again.
        var resolve: @Sendable () async -> Probe.Resolution
    }

    /// Another server that has the file.
    struct Mirror: Sendable {
        var server: FetchMachine.Mirror
        /// Resolves the server's original URL again.
        var resolve: @Sendable () async -> Probe.Resolution
    }

    typealias Outcome = FetchMachine.Outcome

    /// The transfer and the writers of one of the machine's connections.
    struct Line {
        /// The transfer of the present request.
        var transfer: Transfer?
        /// The writer of the response's body, until it is retired.
        var writer: ExtentWriter?
        /// The receiver of a sample's body, until the next request.
        var sampler: ExtentWriter?
    }

    let id: Int
    let setup: Setup
    let output: any Output
    let loop: TransferLoop
    let worker: Worker
    let servers: ServerBook
    let reporter: ProgressReporter
    let notify: @Sendable (DownloadNotice) -> Void
    let completion: (Outcome, MirrorLedger) -> Void

    private var machine: FetchMachine
    /// The transfers and writers, by connection.
    var lines: [Line] = []
    /// The hedges, by connection.
    var hedges: [Int: Transfer] = [:]
    var canary: Transfer?
    /// The number of the probe's paused transfer, until it is adopted or declined.
    var offered: Int?
    /// The tasks that resolve URLs again, by server.
    var resolving: [Int: Task<Void, Never>] = [:]
    /// The functions that resolve URLs again, by the number of the mirror.
    var resolvers: [Int: @Sendable () async -> Probe.Resolution]
    /// The time of the present event.
    private(set) var now = 0.0

    init(
        _ setup: Setup, assembly: any Output, worker: Worker, loop: TransferLoop,
        reporter: ProgressReporter, report: @escaping @Sendable (DownloadNotice) -> Void,
        completion: @escaping (Outcome, MirrorLedger) -> Void
    ) {
        self.setup = setup
        output = assembly
        self.worker = worker
        servers = worker.servers
        self.loop = loop
        notify = report
        self.completion = completion
        self.reporter = reporter
        id = worker.makeID()
        let primary = setup.machine.primary
        resolvers = [primary.number: setup.resolve]
        machine = FetchMachine(
            setup.machine, verifying: assembly.unverified.values.map(\.range),
            done: assembly.recorded.covered, roundTrip: servers.roundTrips[primary.url.origin])
    }

    // MARK: Calls from the worker

    /// Starts the fetch.
    func start(now: Double) {
        worker.add(self, as: id)
        servers.join(self, as: id)
        if let rate = setup.machine.limits.rate { worker.pacing.limit(id, to: rate, now: now) }
        output.onMove { [id, loop] in loop.perform { $0.fetch(id)?.outputMoved() } }
        self.now = now
        machine.start(takeOffer(), self)
    }

    /// Returns the probe's response as an offer to the machine.
    private func takeOffer() -> FetchMachine.Offer? {
        setup.firstReply.map { first in
            offered = first.paused?.take()
            let waiting = offered.flatMap(worker.transfer).flatMap { $0.isBodyPaused ? $0 : nil }
            return FetchMachine.Offer(
                range: first.range, ignored: first.ignored, count: Int64(first.body.count),
                end: first.end, isWaiting: waiting != nil, reply: waiting?.reply,
                route: waiting?.route)
        }
    }

    /// Runs after each turn of the loop.
    ///
    /// Sends more requests if a response has just allowed them, and records received bytes once
    /// there are enough.
    func turn() {
        if machine.isEager {
            now = monotonicSeconds()
            machine.pump(self)
        }
        guard !machine.isOver, output.unrecorded >= output.recordThreshold else { return }
        machine.record(self)
    }

    /// Runs about every 100 ms.
    func tick(_ now: Double) {
        self.now = now
        machine.tick(self)
    }

    /// Stops in an orderly way: all received bytes are recorded.
    func cancel() {
        now = monotonicSeconds()
        machine.cancel(self)
    }

    /// Whether the number of connections follows the goodput, which needs TCP statistics from the
    /// kernel.
    var watchesConnections: Bool { machine.width.isFound }

    /// Returns the requests of this fetch at an origin.
    ///
    /// Only other fetches call this.
    func load(of origin: String, now: Double) -> ServerLimit.Load {
        self.now = now
        return machine.load(at: origin, self)
    }

    // MARK: Calls from other threads, on the loop thread

    /// Returns the present state of all servers and connections.
    func traffic() -> DownloadTraffic {
        now = monotonicSeconds()
        return machine.traffic(self)
    }

    /// Adds another server that has the file.
    func join(_ mirror: Mirror) {
        now = monotonicSeconds()
        resolvers[mirror.server.number] = resolvers[mirror.server.number] ?? mirror.resolve
        machine.join(mirror.server, self)
    }

    /// Reports whether an extent of an earlier run is intact.
    func verified(_ range: ByteRange, isIntact: Bool) {
        now = monotonicSeconds()
        output.confirm(range, isIntact: isIntact)
        machine.verified(range, isIntact: isIntact, self)
    }

    /// Reports that the output has freed memory, or has failed.
    private func outputMoved() {
        now = monotonicSeconds()
        machine.outputMoved(self)
    }

    /// Reports the result of resolving a server's URL again.
    func resolved(_ source: Int, _ resolution: Probe.Resolution) {
        now = monotonicSeconds()
        resolving[source] = nil
        machine.resolved(source, resolution, self)
    }

    // MARK: Calls from transfers

    /// Judges the head of a connection's response.
    func judge(_ slot: Int, _ reply: Reply, _ check: ResponseCheck) -> Transfer.Verdict {
        now = monotonicSeconds()
        let transfer = lines[slot].transfer
        let head = FetchMachine.Head(
            reply: reply, check: check, route: transfer?.route,
            connecting: transfer?.connectingSeconds ?? 0)
        switch machine.judge(slot, head, self) {
        case .accept(let body):
            return .write(
                makeWriter(slot, body), limit: body.limit, replyEnd: body.replyEnd)
        case .sample(let body):
            let sampler = ExtentWriter(samplingAt: body.start)
            lines[slot].sampler = sampler
            return .write(sampler, limit: body.limit, replyEnd: body.replyEnd)
        case .discard: return .discard
        case .decline: return .decline
        }
    }

    /// Handles the end of a connection's request.
    func ended(_ slot: Int, _ end: TransferEnd) {
        now = monotonicSeconds()
        lines[slot].transfer = nil
        machine.ended(slot, end, self)
    }

    func judgeHedge(_ slot: Int, _ reply: Reply, _ check: ResponseCheck) -> Transfer.Verdict {
        machine.judgeHedge(slot, .init(reply: reply, check: check)).map {
            .collect(length: $0, most: Int($0))
        } ?? .decline
    }

    func hedgeEnded(_ slot: Int, _ end: TransferEnd) {
        now = monotonicSeconds()
        machine.hedgeEnded(slot, end, self)
        hedges[slot] = nil
    }

    func judgeCanary(_ reply: Reply, _ check: ResponseCheck) -> Transfer.Verdict {
        machine.judgeCanary(.init(reply: reply, check: check))
        // Declining closes the connection. A server may allow no more connections than the download
        // uses.
        return .decline
    }

    func canaryEnded(_ end: TransferEnd) {
        now = monotonicSeconds()
        canary = nil
        machine.canaryEnded(end, self)
    }
}

extension Transfer {
    /// The origin and address of the connection.
    fileprivate var route: FetchMachine.Route {
        .init(origin: request.url.origin, pin: request.address, address: address)
    }
}
