// Fetch: downloads the bytes of one file, from several servers and over many connections. It has the
// transfers and writers of the file, but not its name, and does not decide what follows its
// outcome. All decisions are made in `Machine/`.

import Assembler
import SegmenterRules
import SegmenterTransport

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
        /// The set of the file; `nil` if it has connections of its own.
        var set: FileSet?
    }

    /// The set that a file belongs to, whose files share the connections of each host.
    ///
    /// The functions are called on the loop thread.
    struct FileSet: Sendable {
        /// The number of the set's rate limit, which its files share; below 0, unlike the numbers
        /// of fetches.
        var number: Int
        /// Returns the files that have not begun.
        var backlog: @Sendable (_ origin: String) -> HostGovernor.Backlog
        /// Receives the number of files and connections that a host has room for.
        var found: @Sendable (_ origin: String, HostGovernor.Room) -> Void
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
    private var resolvers: [Int: @Sendable () async -> Probe.Resolution]
    /// The time of the present event.
    private(set) var now = 0.0
    /// The origin whose governor counts this fetch; `nil` for none.
    private var host: String?

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
        if let rate = setup.machine.limits.rate {
            worker.pacing.limit(id, to: rate, with: setup.set?.number, now: now)
        }
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

extension Fetch: FetchActions {
    // MARK: Requests

    func request(_ slot: Int, _ ask: FetchMachine.Ask) {
        while lines.count <= slot { lines.append(Line()) }
        let transfer = worker.start(request(ask)) { [unowned self, check = ask.check] reply in
            judge(slot, reply, check)
        } onEnd: { [unowned self] end in
            ended(slot, end)
        }
        own(transfer)
        transfer.stallClock.before = ask.stalledBefore
        lines[slot] = Line(transfer: transfer)
    }

    /// Assigns a transfer to this fetch, so that the fetch's rate limit applies to it.
    private func own(_ transfer: Transfer) {
        transfer.owner = id
        if worker.pacing.isLimited(id), !transfer.pace.isOn { transfer.pace.start() }
    }

    private func request(_ ask: FetchMachine.Ask) -> TransferRequest {
        var request = TransferRequest(url: ask.url, connecting: setup.connecting)
        request.range = ask.range
        request.ifRange = ask.ifRange
        request.isDecoded = setup.machine.isDecoded
        request.address = ask.address
        request.wantsFreshConnection = ask.wantsFreshConnection
        if let size = ask.bufferSize { request.bufferSize = size }
        return request
    }

    /// Creates the writer for the body of a connection's response.
    func makeWriter(_ slot: Int, _ body: FetchMachine.Body) -> ExtentWriter {
        let writer = output.makeWriter(at: body.start)
        if let digest = body.proof { writer.expect(digest, end: body.replyEnd) }
        lines[slot].writer = writer
        return writer
    }

    func adopt(
        _ slot: Int, _ body: FetchMachine.Body, upTo limit: Int64?, goesOn: Bool
    ) -> Int32 {
        guard let first = setup.firstReply else { return 0 }
        while lines.count <= slot { lines.append(Line()) }
        let writer = makeWriter(slot, body)
        let problem = first.body.withUnsafeBytes { bytes in
            bytes.baseAddress.map { writer.write($0, bytes.count) } ?? 0
        }
        guard problem == 0 else {
            declineOffer()
            return problem
        }
        guard goesOn, let transfer = offered.flatMap(worker.transfer) else { return 0 }
        offered = nil
        own(transfer)
        if first.body.isEmpty, let seconds = transfer.connectSeconds {
            servers.connected(to: transfer.request.url.origin, in: seconds)
        }
        lines[slot].transfer = transfer
        if let limit { worker.allow(transfer.id, upTo: limit) }
        let verdict = Transfer.Verdict.write(
            writer, limit: body.limit, replyEnd: body.replyEnd)
        worker.resume(transfer, verdict) { [unowned self] end in ended(slot, end) }
        return 0
    }

    func declineOffer() {
        if let offered { worker.drop(offered) }
        offered = nil
    }

    func drop(_ slot: Int) {
        guard let transfer = lines[slot].transfer else { return }
        lines[slot].transfer = nil
        worker.drop(transfer.id)
    }

    func allow(_ slot: Int, upTo offset: Int64) {
        if let transfer = line(slot).transfer { worker.allow(transfer.id, upTo: offset) }
    }

    func shorten(_ slot: Int, to end: Int64) -> Int64? {
        line(slot).transfer?.shorten(to: end)
        line(slot).writer?.waiveProof()
        return line(slot).writer?.position
    }

    func retire(_ slot: Int, dropping: Bool) -> Int64? {
        guard let writer = line(slot).writer else { return nil }
        lines[slot].writer = nil
        if dropping { writer.dropUnproven() } else { writer.waiveProof() }
        output.retire(writer)
        return writer.position
    }

    // MARK: Hedges, canaries and other tasks

    func sendHedge(_ slot: Int, _ ask: FetchMachine.Ask) {
        let transfer = worker.start(request(ask)) { [unowned self, check = ask.check] reply in
            judgeHedge(slot, reply, check)
        } onEnd: { [unowned self] end in
            hedgeEnded(slot, end)
        }
        own(transfer)
        transfer.collecting.patience = .infinity
        hedges[slot] = transfer
    }

    func writeHedge(_ slot: Int, from offset: Int, to range: ByteRange) -> Int32 {
        let writer = output.makeWriter(at: range.start)
        lines[slot].writer = writer
        let bytes = hedges[slot]?.collecting.bytes ?? []
        return bytes.withUnsafeBytes { bytes in
            bytes.baseAddress.map { writer.write($0 + offset, Int(range.count)) } ?? 0
        }
    }

    func dropHedge(_ slot: Int) {
        if let transfer = hedges.removeValue(forKey: slot) { worker.drop(transfer.id) }
    }

    func sendCanary(_ ask: FetchMachine.Ask, patience: Double) {
        var request = request(ask)
        request.connecting.bound(by: patience)
        let transfer = worker.start(request) { [unowned self, check = ask.check] reply in
            judgeCanary(reply, check)
        } onEnd: { [unowned self] end in
            canaryEnded(end)
        }
        own(transfer)
        canary = transfer
    }

    func dropCanary() {
        if let canary { worker.drop(canary.id) }
        canary = nil
    }

    func resolve(_ source: Int, mirror number: Int) {
        guard let resolve = resolvers[number] else { return }
        resolving[source] = Task { [id, loop] in
            let resolution = await resolve()
            loop.perform { $0.fetch(id)?.resolved(source, resolution) }
        }
    }

    func cancelResolving(_ source: Int) { resolving.removeValue(forKey: source)?.cancel() }

    func findAddresses() {
        let url = setup.machine.primary.url
        loop.findAddresses(for: .init(url: url, connecting: setup.connecting))
    }

    func startVerifying() {
        output.startVerifying { [id, loop] range, isIntact in
            loop.perform { $0.fetch(id)?.verified(range, isIntact: isIntact) }
        }
    }

    // MARK: Records and reports

    func record() throws(AssemblyError) { try output.record() }

    func reached(_ address: String, of origin: String) {
        servers.addresses.reached(address, of: origin)
    }

    func gaveUp(_ origin: String) { servers.contacts.gaveUp(origin, now: now) }

    func report(_ notice: DownloadNotice) { notify(notice) }

    func report(_ progress: FetchMachine.Progress) {
        reporter.report(
            progress, size: setup.machine.identity.size,
            limit: worker.pacing.limit.bytesPerSecond, now: now)
    }

    func finish(_ outcome: FetchMachine.Outcome, _ ledger: MirrorLedger) {
        // The worker must not know this fetch any more when `completion` runs: the machine handles
        // an event until this function returns, and must not be called meanwhile.
        worker.remove(id)
        worker.pacing.limit(id, to: nil, now: now)
        servers.leave(id)
        leaveHost()
        do throws(AssemblyError) {
            try output.record()
            completion(outcome, ledger)
        } catch {
            // The machine's failure is the cause, so it is reported rather than the failed record.
            completion(outcome.isFailure ? outcome : .failed(.assembly(error)), ledger)
        }
    }
}

extension Fetch: FetchFacts {
    var date: Double { secondsSince1970() }
    func random() -> Double { .random(in: 0..<1) }

    // MARK: Requests

    /// Returns the transfer and writers of a connection; empty before its first request.
    func line(_ slot: Int) -> Line { slot < lines.count ? lines[slot] : Line() }

    func position(of slot: Int) -> Int64? {
        slot < lines.count ? lines[slot].writer?.position : nil
    }

    func state(of slot: Int) -> FetchMachine.RequestState? {
        line(slot).transfer.map { transfer in
            FetchMachine.RequestState(
                quiet: transfer.stallClock.ofServer(now),
                stalledFor: transfer.stallClock.ofBody(now),
                pause: transfer.received == 0 ? 0 : transfer.stallClock.ofOwnBody(now),
                isAnswered: transfer.reply != nil, isConnected: transfer.isConnected,
                isPaused: transfer.isPaused)
        }
    }

    func peer(of slot: Int) -> FetchMachine.Peer? {
        line(slot).transfer.map { transfer in
            let address = transfer.address
            return .init(
                address: address, httpVersion: transfer.httpVersion,
                roundTrip: address.flatMap {
                    worker.sockets.roundTrip(from: transfer.ownPort, to: $0)
                })
        }
    }

    func isSatisfied(_ slot: Int) -> Bool { line(slot).transfer?.isSatisfied ?? false }

    func takeHeldBack(_ slot: Int) -> Bool { line(slot).transfer?.pace.takeHeldBack() ?? false }

    func settleProof(_ slot: Int) -> Bool? { line(slot).writer?.settleProof() }

    func sample(of slot: Int) -> ByteRange {
        line(slot).sampler.map { ByteRange($0.start, $0.position) } ?? ByteRange(0, 0)
    }

    func sampleAgrees(_ slot: Int, _ expected: Extent?) -> Bool {
        guard let sent = line(slot).sampler?.takeUnrecorded() else { return false }
        return (output as? Assembly)?.agrees(with: sent) ?? (sent == expected)
    }

    func hedgeFits(_ slot: Int, _ count: Int64, _ digest: Digest?) -> Bool {
        guard let bytes = hedges[slot]?.collecting.bytes, Int64(bytes.count) == count else {
            return false
        }
        return digest.map { $0.fits(bytes) } ?? true
    }

    // MARK: Servers

    func network(to origin: String) -> FetchMachine.NetworkState {
        FetchMachine.NetworkState(
            roundTrip: servers.roundTrips[origin], segments: worker.sockets.segments,
            disordered: worker.sockets.disordered, presentRoundTrip: worker.sockets.roundTrip,
            load: worker.load.share, isRateLimited: worker.pacing.isLimited(id),
            downloads: worker.clients.count)
    }

    func share(of origin: String, _ use: HostGovernor.Use) -> Int {
        guard let set = setup.set else { return use.most }
        if host != origin {
            leaveHost()
            host = origin
        }
        if servers.hosts[origin] == nil {
            servers.hosts[origin] = HostGovernor(roundTrip: servers.roundTrips[origin])
        }
        servers.hosts[origin]?.report(id, use)
        servers.hosts[origin]?.step(
            network(to: origin),
            limit: [servers.limits[origin]?.limit, servers.mostActive].compactMap(\.self).min(),
            others: worker.smallRequests.underWay(at: origin), backlog: set.backlog(origin),
            now: now)
        if let room = servers.hosts[origin]?.room { set.found(origin, room) }
        return servers.hosts[origin]?.share(of: id) ?? 1
    }

    private func leaveHost() {
        guard let host else { return }
        servers.hosts[host]?.leave(id)
        if let room = servers.hosts[host]?.room { setup.set?.found(host, room) }
        self.host = nil
    }

    subscript(limitOf origin: String) -> ServerLimit? {
        get { servers.limits[origin] }
        set { servers.limits[origin] = newValue }
    }

    var mostActive: Int? { servers.mostActive }

    subscript(quotaOf origin: String) -> RequestQuota? {
        get { servers[quotaOf: origin] }
        set { servers[quotaOf: origin] = newValue }
    }

    func othersLoad(at origin: String) -> ServerLimit.Load {
        servers.load(of: origin, now: now, but: id)
    }

    func servesOthers(_ origin: String) -> Bool { worker.serves(origin, but: id) }
    func meaningOf403(_ origin: String) -> Forbidding.Meaning? {
        servers.forbidding[origin]?.meaning
    }
    func addresses(of origin: String) -> [String] { servers.addresses.spread(origin) }
    func hasServed(_ origin: String) -> Bool { worker.hasServed(origin) }
    func isGivenUp(_ origin: String) -> Bool { servers.contacts.isGivenUp(origin, now: now) }

    func needsHTTP2(_ origin: String) -> Bool {
        setup.connecting.memory.versions.needsHTTP2(origin)
    }

    func isRefusedVersion(_ failure: TransferFailure, _ url: WebURL) -> Bool? {
        setup.connecting.memory.versions.explains(
            failure, of: TransferRequest(url: url, connecting: setup.connecting))
    }

    // MARK: The output

    func takeWindow() -> OutputWindow? { output.takeWindow() }
    var bytesKept: Int64 { output.bytesKept }
    var bytesInOrder: Int64 { output.recorded.covered.front + output.unrecorded }
    var recorded: [Extent] { output.recorded.extents }
    var canReadBack: Bool { output is Assembly }
    var writtenPath: String { output.writtenPath }
    var certificateFailure: DownloadError.Reason { setup.connecting.certificateFailure }
}

extension Worker {
    /// Returns the fetch with an identifier, if it is not over.
    func fetch(_ id: Int) -> Fetch? { clients[id] as? Fetch }
}
