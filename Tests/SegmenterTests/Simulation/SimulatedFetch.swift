import Assembler

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// A fetch through a simulated network, which reports each event to the program's `FetchMachine`.
///
/// Work that the program does every 100 ms is done every 100 ms of virtual time.
struct SimulatedFetch {
    static let tick = 0.1
    /// The entity tag of the file.
    static let tag = "\"1\""

    let world: SimulatedWorld
    /// The maximum number of active requests.
    let most: Int
    private(set) var machine: FetchMachine
    private var hasBegun = false
    private var nextTick = Self.tick
    /// Whether the rules are checked after each event, which takes time.
    let isChecked: Bool

    /// Creates a fetch.
    ///
    /// - Parameters:
    ///   - network: The network path to the server.
    ///   - server: The behaviour of the server.
    ///   - size: The length of the file in bytes.
    ///   - connections: The number of connections, or its maximum.
    ///   - isFound: Whether the governor determines the number of connections.
    ///   - isChecked: Whether the rules are checked after each event.
    ///   - most: The maximum number of active requests; by default one for each connection.
    ///   - seed: The seed of the random numbers.
    ///   - earlier: The ranges of an earlier run, and whether they are intact.
    ///   - adjust: Changes the machine's setup.
    init(
        _ network: SimulatedNetwork, _ server: SimulatedServer = .init(), size: Int64,
        connections: Int, isFound: Bool = false, isChecked: Bool = false, most: Int? = nil,
        seed: UInt64 = 0,
        earlier: [(range: ByteRange, isIntact: Bool)] = [],
        _ adjust: (inout FetchMachine.Setup) -> Void = { _ in }
    ) {
        guard let url = WebURL("https://a.test/file") else { preconditionFailure("no URL") }
        let identity = RemoteIdentity(size: size, etag: Self.tag)
        var setup = FetchMachine.Setup(
            primary: .init(url: url, identity: identity), isOneStream: false, isProven: true,
            connections: connections, findsConnections: isFound, limits: .init(),
            policy: RetryPolicy(retries: 10))
        adjust(&setup)
        world = SimulatedWorld(network, server, size: size, seed: seed)
        world.earlier = earlier
        world.checksRequests = isChecked
        machine = FetchMachine(
            setup, verifying: earlier.map(\.range), roundTrip: network.roundTrip)
        self.most = most ?? (setup.isOneStream ? 1 : connections)
        self.isChecked = isChecked
    }

    var log: SimulatedRecord { world.log }

    /// Runs the fetch until it ends.
    ///
    /// - Returns: The seconds that it took; `nil` if it exceeded the limit.
    mutating func run(limit: Double = .infinity) -> Double? {
        if !hasBegun { machine.start(nil, world) }
        hasBegun = true
        while !machine.isOver {
            let next = min(nextTick, world.nextEvent)
            guard next <= limit else { return nil }
            world.pass(to: next)
            for link in world.requests.indices where !machine.isOver { look(at: link) }
            carryOut()
            if world.now >= nextTick {
                tick()
                nextTick += Self.tick
            }
            if !machine.isOver, machine.isEager { machine.pump(world) }
            if isChecked { world.check(most: most) }
        }
        return world.now
    }

    private mutating func carryOut() {
        while !machine.isOver,
            let index = world.plans.firstIndex(where: { $0.time <= world.now })
        {
            world.plans.remove(at: index).event(&machine, world)
        }
    }

    /// Ends requests that have stalled for too long, like the worker's tick.
    private mutating func tick() {
        for request in world.requests.compactMap({ $0 }) where !machine.isOver {
            guard world.requests[request.link] === request else { continue }
            world.sync(request)
            request.noteActivity(world.now)
            if request.stallClock.ofBody(world.now) > request.stallTimeout {
                end(request, .failed(.stalled(for: .init(seconds: request.stallTimeout))))
            }
        }
        let hasMoved = world.reader?.read(world.front, Self.tick) ?? false
        if hasMoved { machine.outputMoved(world) }
        if !machine.isOver { machine.tick(world) }
    }

    // MARK: Requests

    private mutating func look(at link: Int) {
        guard let request = world.requests[link] else { return }
        if request.isAnswered {
            if world.isOver(request) { bodyEnded(request) }
        } else if request.headAt <= world.now {
            answer(request)
        } else if request.connectsUntil <= world.now, request.connectedAt > world.now {
            end(request, .failed(.network(code: 28, message: "connection timed out")))
        }
    }

    private mutating func bodyEnded(_ request: SimulatedRequest) {
        guard let position = request.writer?.position else { return }
        if position < min(request.limit, request.replyEnd) {
            // The request has reached its fault.
            request.faultAt = .max
            if request.fallsSilent {
                world.connections.kill(request.link, world.now)
            } else {
                end(request, .failed(.network(code: 18, message: "the connection was closed")))
            }
        } else {
            end(request, .complete, closing: request.limit < request.replyEnd)
        }
    }

    private mutating func answer(_ request: SimulatedRequest) {
        let arrival = world.arrival(of: request)
        var answer = world.server.answer(arrival)
        if arrival.served >= world.network.served { answer = .status(503) }
        switch answer {
        case .silence:
            request.headAt = .infinity
            return
        case .reset:
            world.log.refusals.append(world.now)
            end(request, .failed(.network(code: 52, message: "empty reply")))
            return
        case .breakOff(let count): request.faultAt = (request.ask.range?.start ?? 0) + count
        case .fallSilent(let count):
            request.faultAt = (request.ask.range?.start ?? 0) + count
            request.fallsSilent = true
        case .status: world.log.refusals.append(world.now)
        default: break
        }
        request.isAnswered = true
        judge(request, answer.reply(to: request.ask.range, size: world.size))
    }

    private mutating func judge(_ request: SimulatedRequest, _ reply: Reply) {
        if isOverload(reply.status), let seconds = reply.retryAfter {
            let origin = request.ask.url.origin
            let load = world.othersLoad(at: origin) + machine.load(at: origin, world)
            world.quotas[origin, default: .init()].pace.refused(
                for: seconds, asked: request.since, served: load.served, now: world.now)
        }
        let head = FetchMachine.Head(
            reply: reply, check: request.ask.check, route: world.route(of: request),
            connecting: request.connectedAt - request.since)
        switch request.purpose {
        case .slot(let slot):
            switch machine.judge(slot, head, world) {
            case .accept(let body):
                let writer = SimulatedWriter(at: body.start)
                world.lines[slot].writer = writer
                begin(request, writer, body)
            case .sample(let body):
                let sampler = SimulatedWriter(at: body.start)
                request.isSample = true
                world.lines[slot].sampler = sampler
                begin(request, sampler, body)
            case .discard: end(request, .declined, closing: false)
            case .decline: end(request, .declined)
            }
        case .hedge(let slot):
            guard let count = machine.judgeHedge(slot, head), let range = request.ask.range else {
                end(request, .declined)
                return
            }
            let (start, end) = (range.start, range.start + count)
            begin(
                request, SimulatedWriter(at: start),
                .init(start: start, limit: end, replyEnd: end))
        case .canary:
            machine.judgeCanary(head)
            end(request, .declined)
        }
    }

    private func begin(
        _ request: SimulatedRequest, _ writer: SimulatedWriter, _ body: FetchMachine.Body
    ) {
        if request.asksForOld, !request.isSample {
            let range = ByteRange(body.start, body.replyEnd)
            world.log.breaches.append("\(range) was asked for, of which some is there")
        }
        request.writer = writer
        (request.limit, request.replyEnd) = (body.limit, body.replyEnd)
        world.connections.setFlow(request.link, true)
    }

    /// Reports the result of a request to the machine.
    private mutating func end(
        _ request: SimulatedRequest, _ end: TransferEnd, closing: Bool = true
    ) {
        world.end(request, closing: closing)
        switch request.purpose {
        case .slot(let slot):
            world.lines[slot].request = nil
            machine.ended(slot, end, world)
        case .hedge(let slot):
            machine.hedgeEnded(slot, end, world)
            if world.hedges[slot] === request { world.hedges[slot] = nil }
        case .canary:
            world.canary = nil
            machine.canaryEnded(end, world)
        }
    }
}

extension SimulatedServer.Answer {
    /// Returns the head of the response.
    fileprivate func reply(to range: ByteRange?, size: Int64) -> Reply {
        switch self {
        case .status(let status, let retryAfter): Reply(status: status, retryAfter: retryAfter)
        case .whole: Self.reply(to: nil, size: size)
        case .otherVersion: Self.reply(to: range, size: size, tag: "\"2\"")
        default: Self.reply(to: range, size: size)
        }
    }

    private static func reply(
        to range: ByteRange?, size: Int64, tag: String = SimulatedFetch.tag
    ) -> Reply {
        var reply = Reply(status: range == nil ? 200 : 206)
        reply.fields["etag"] = tag
        reply.fields["content-length"] = "\(range?.count ?? size)"
        if let range {
            reply.fields["content-range"] = "bytes \(range.start)-\(range.end - 1)/\(size)"
        }
        return reply
    }
}
