// Fetch: the bytes of one file, from several servers and over many connections. It knows the
// transfers and writers of one file; it never knows the file's name, nor what follows when the
// fetch has ended. What is decided, `Machine/` decides.

import Assembler

/// Carries out what a `FetchMachine` decides on, and reports to it what happens.
///
/// It knows the transfers and writers of the machine's connections; it decides nothing. Lives on the
/// loop thread.
final class Fetch: LoopClient, ServerUser {
    /// What a fetch works with.
    struct Setup: Sendable {
        /// What is fetched, and how.
        var machine: FetchMachine.Setup
        var connecting: TransferRequest.Connecting
        /// A reply whose body waits to be kept.
        var firstReply: Probe.FirstReply?
        /// Resolves the original URL again.
        var resolve: @Sendable () async -> Probe.Resolution
    }

    /// Another server that has the file.
    struct Mirror: Sendable {
        var server: FetchMachine.Mirror
        /// Resolves the URL that was given again.
        var resolve: @Sendable () async -> Probe.Resolution
    }

    typealias Outcome = FetchMachine.Outcome

    /// What serves one of the machine's connections.
    struct Line {
        /// The request under way.
        var transfer: Transfer?
        /// Writes the body of its reply; there until it is retired.
        var writer: ExtentWriter?
        /// Takes the body of a sample; there until the next request.
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
    /// By connection.
    var lines: [Line] = []
    /// Second requests, by connection.
    var hedges: [Int: Transfer] = [:]
    var canary: Transfer?
    /// Number of the transfer whose body waits since the probe, until it is adopted or declined.
    var offered: Int?
    /// URLs that are being resolved again, by server.
    var resolving: [Int: Task<Void, Never>] = [:]
    /// How that is done, by the number of the mirror.
    var resolvers: [Int: @Sendable () async -> Probe.Resolution]
    /// When the present event came.
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

    // MARK: From the worker

    /// Begins.
    func start(now: Double) {
        worker.add(self, as: id)
        servers.join(self, as: id)
        if let rate = setup.machine.limits.rate { worker.pacing.limit(id, to: rate, now: now) }
        output.onMove { [id, loop] in loop.perform { $0.fetch(id)?.outputMoved() } }
        self.now = now
        machine.start(takeOffer(), self)
    }

    /// Takes the reply that the probe has left.
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

    /// After each turn of the loop: asks for more where a reply has just allowed it, and records when
    /// enough has come.
    func turn() {
        if machine.isEager {
            now = monotonicSeconds()
            machine.pump(self)
        }
        guard !machine.isOver, output.unrecorded >= output.recordThreshold else { return }
        machine.record(self)
    }

    /// About every 100 ms.
    func tick(_ now: Double) {
        self.now = now
        machine.tick(self)
    }

    /// Stops in order: everything that arrived is recorded.
    func cancel() {
        now = monotonicSeconds()
        machine.cancel(self)
    }

    /// Whether the number of connections is being found: what the kernel says of them is needed.
    var watchesConnections: Bool { machine.width.isFound }

    /// What this fetch has under way at an origin; never asked by its own machine.
    func load(of origin: String, now: Double) -> ServerLimit.Load {
        self.now = now
        return machine.load(at: origin, self)
    }

    // MARK: From elsewhere, by the loop

    /// What is under way at this moment.
    func traffic() -> DownloadTraffic {
        now = monotonicSeconds()
        return machine.traffic(self)
    }

    /// Takes another server that has the file.
    func join(_ mirror: Mirror) {
        now = monotonicSeconds()
        resolvers[mirror.server.number] = resolvers[mirror.server.number] ?? mirror.resolve
        machine.join(mirror.server, self)
    }

    /// An earlier run's extent was checked.
    func verified(_ range: ByteRange, isIntact: Bool) {
        now = monotonicSeconds()
        output.confirm(range, isIntact: isIntact)
        machine.verified(range, isIntact: isIntact, self)
    }

    /// The output has made room, or has failed.
    private func outputMoved() {
        now = monotonicSeconds()
        machine.outputMoved(self)
    }

    /// A server's URL was resolved again.
    func resolved(_ source: Int, _ resolution: Probe.Resolution) {
        now = monotonicSeconds()
        resolving[source] = nil
        machine.resolved(source, resolution, self)
    }

    // MARK: From transfers

    /// Judges the head of a connection's reply.
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

    /// A connection's request is over.
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
        // It is closed: a server may allow no more connections than we want to use.
        return .decline
    }

    func canaryEnded(_ end: TransferEnd) {
        now = monotonicSeconds()
        canary = nil
        machine.canaryEnded(end, self)
    }
}

extension Transfer {
    /// Where it leads.
    fileprivate var route: FetchMachine.Route {
        .init(origin: request.url.origin, pin: request.address, address: address)
    }
}
