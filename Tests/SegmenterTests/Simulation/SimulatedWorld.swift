import Assembler
import TestSupport

@testable import Segmenter

/// The world of a `FetchMachine` with simulated time, connections and a server: it carries out what the
/// machine decides on, and knows what comes of it and when.
///
/// `Fetch` and what is below it are the same in the program. It decides nothing; `SimulatedFetch`
/// reports to the machine what happens.
final class SimulatedWorld {
    /// What serves one of the machine's connections.
    struct Line {
        var request: SimulatedRequest?
        /// Writes the body of its reply; there until it is retired.
        var writer: SimulatedWriter?
        /// Takes the body of a sample.
        var sampler: SimulatedWriter?
        /// The connection that it used last.
        var link: Int?
    }

    /// Where a connection of the network leads.
    struct Way: Hashable {
        var origin: String
        var pin: String?
        var address: String?
    }

    /// An event that is to come.
    struct Plan {
        var time: Double
        /// What would take it back.
        var name: String
        var event: (inout FetchMachine, SimulatedWorld) -> Void
    }

    /// Segments of TCP, in bytes.
    static let segment = 1448.0

    let network: SimulatedNetwork
    let server: SimulatedServer
    let size: Int64
    var connectTimeout = 10.0
    var stallTimeout = 15.0
    /// Bytes that writers go on by between the moment that a position is of and the next action.
    var lag: Int64 = 0
    /// Part of the segments that come out of order.
    var loss = 0.0
    /// Downloads under way at a time, this one included.
    var downloads: (Double) -> Int = { _ in 1 }
    /// Requests of other downloads that the server serves at a time.
    var servedOthers: (Double) -> Int = { _ in 0 }
    /// Who takes what is written, in order; `nil` where it goes into a file.
    var reader: SimulatedReader?
    /// Whether what is asked for is checked, which takes time.
    var checksRequests = false
    /// What an earlier run left, and whether it is still right.
    var earlier: [(range: ByteRange, isIntact: Bool)] = []

    private(set) var now = 0.0
    var connections: SimulatedConnections
    /// By number of the network's connection.
    var requests: [SimulatedRequest?] = []
    private(set) var ways: [Way] = []
    /// Connections that are closed: their numbers are used again.
    private var free: [Int] = []
    var lines: [Line] = []
    var hedges: [Int: SimulatedRequest] = [:]
    var canary: SimulatedRequest?
    var limits: [String: ServerLimit] = [:]
    var quotas: [String: RequestQuota] = [:]
    var plans: [Plan] = []
    var log = SimulatedRecord()
    private var dice: SplitMix64
    private var disordered = 0.0

    init(
        _ network: SimulatedNetwork, _ server: SimulatedServer, size: Int64, seed: UInt64 = 0
    ) {
        (self.network, self.server, self.size) = (network, server, size)
        connections = SimulatedConnections(network, count: 0)
        dice = SplitMix64(seed: seed)
    }

    func random() -> Double { .random(in: 0..<1, using: &dice) }

    /// Whether the bottleneck has a queue: the connections could bring more than it.
    var isCrowded: Bool {
        let sum = connections.all.reduce(0) { $0 + ($1.flows ? min($1.cap, $1.window) : 0) }
        return sum > 1.1 * network.capacity(at: now)
    }

    /// Segments of the file that have come, and how many of these out of order.
    var segments: (all: Int64, disordered: Int64) {
        let all = Double(log.received) / Self.segment
        return (Int64(all), Int64(loss * all))
    }

    /// Has something happen later.
    func plan(
        _ name: String, in seconds: Double,
        _ event: @escaping (inout FetchMachine, SimulatedWorld) -> Void
    ) {
        plans.append(Plan(time: now + seconds, name: name, event: event))
    }

    // MARK: Time

    /// When something happens next.
    var nextEvent: Double {
        connections.settle(now)
        var next = min(network.change(after: now), plans.map(\.time).min() ?? .infinity)
        if connections.isGrowing { next = min(next, now + network.roundTrip / 4) }
        for request in requests { if let request { next = min(next, event(of: request)) } }
        return next
    }

    private func event(of request: SimulatedRequest) -> Double {
        guard request.isAnswered else {
            return request.connectedAt <= request.connectsUntil
                ? request.headAt : request.connectsUntil
        }
        let connection = connections[request.link]
        let dies = connection.dies > now ? connection.dies : .infinity
        guard let writer = request.writer, connection.rate > 0 else { return dies }
        let left = Double(request.goal - writer.start) - connection.brought
        return min(now + max(0, left) / connection.rate, dies)
    }

    /// Lets time pass in which nothing happens.
    func pass(to then: Double) {
        if network.change(after: now) <= then || connections.death(after: now) <= then {
            connections.markStale()
        }
        connections.pass(from: now, to: then)
        for case let request? in lines.map(\.request) where request.allowed < .max {
            guard let writer = request.writer else { continue }
            connections.hold(request.link, at: Double(request.allowed - writer.start))
        }
        now = then
    }

    /// Notes how far the body of a request has come.
    func sync(_ request: SimulatedRequest) {
        guard request.syncedAt != now, let writer = request.writer,
            connections[request.link].flows
        else { return }
        request.syncedAt = now
        let position = min(
            writer.start + Int64(connections[request.link].brought), request.goal)
        note(request, writer, at: position)
    }

    /// Whether all that a request brings has come.
    func isOver(_ request: SimulatedRequest) -> Bool {
        guard let writer = request.writer, connections[request.link].flows else { return false }
        let connection = connections[request.link]
        let left = Double(request.goal - writer.start) - connection.brought
        // What comes within a nanosecond has come.
        guard left <= max(1e-3, connection.rate * 1e-9) else { return false }
        note(request, writer, at: request.goal)
        return true
    }

    private func note(
        _ request: SimulatedRequest, _ writer: SimulatedWriter, at position: Int64
    ) {
        guard position > writer.position else { return }
        if case .slot = request.purpose, !request.isSample {
            log.received += position - writer.position
            if let reader, position > reader.limit {
                log.breaches.append("\(position) is written, and the limit is \(reader.limit)")
            }
        }
        writer.position = position
    }

    // MARK: Requests

    /// Sends a request, on a connection that is there or on a new one.
    func send(
        _ purpose: SimulatedRequest.Purpose, _ ask: FetchMachine.Ask, preferring link: Int? = nil,
        patience: Double = .infinity
    ) -> SimulatedRequest {
        let idle = ask.wantsFreshConnection ? nil : idle(for: ask, preferring: link)
        let link = idle ?? free.popLast() ?? connections.add()
        let request = SimulatedRequest(
            purpose, ask, number: log.requests, link: link, now: now)
        request.stallTimeout = min(stallTimeout, patience)
        request.connectedAt = idle == nil ? connect(link, request) : now
        request.connectsUntil = now + min(connectTimeout, patience)
        let arrival = arrival(of: request)
        request.headAt = network.up(
            from: request.connectedAt + network.roundTrip + server.thinking(arrival))
        if connections[link].dies <= request.headAt { request.headAt = .infinity }
        if idle != nil { request.connectsUntil = .infinity }
        requests[link] = request
        log.requests += 1
        return request
    }

    /// Makes a connection.
    ///
    /// - Returns: When it is made.
    private func connect(_ link: Int, _ request: SimulatedRequest) -> Double {
        let ask = request.ask
        let address =
            network.addresses.first { $0.name == ask.address }
            ?? network.addresses.first { !$0.isDead }
        let way = Way(origin: ask.url.origin, pin: ask.address, address: address?.name)
        if link == ways.count {
            ways.append(way)
            requests.append(nil)
        } else {
            ways[link] = way
        }
        let trips =
            connections.open(
                link, now, to: address, isCounted: request.purpose != .canary) - 1
        guard address?.isDead != true else { return .infinity }
        // The kernel sends a SYN again after 1 s, 3 s, 7 s, 15 s (RFC 6298).
        let times = [0.0, 1, 3, 7, 15].map { now + $0 }
        guard let goes = times.first(where: { !network.isDown(at: $0) }) else { return .infinity }
        return goes + trips * network.roundTrip
    }

    /// A connection without a request that may be used for another: libcurl uses none that was
    /// given another address.
    private func idle(for ask: FetchMachine.Ask, preferring link: Int?) -> Int? {
        func fits(_ link: Int) -> Bool {
            requests[link] == nil && connections[link].isOpen && ways[link].pin == ask.address
                && ways[link].origin == ask.url.origin
        }
        if let link, fits(link) { return link }
        return requests.indices.first(where: fits)
    }

    /// What the server sees of a request.
    func arrival(of request: SimulatedRequest) -> SimulatedServer.Arrival {
        SimulatedServer.Arrival(
            number: request.number, now: now, range: request.ask.range, url: request.ask.url,
            sentIfRange: request.ask.ifRange != nil,
            address: ways[request.link].address,
            served: connections.all.count { $0.flows })
    }

    func route(of request: SimulatedRequest) -> FetchMachine.Route {
        let way = ways[request.link]
        return .init(origin: way.origin, pin: way.pin, address: way.address)
    }

    /// Takes a request off its connection.
    func end(_ request: SimulatedRequest, closing: Bool) {
        sync(request)
        let link = request.link
        log.wire += request.count
        if case .hedge = request.purpose { log.hedgedWire += request.count }
        if request.isSample { log.sampledWire += request.count }
        requests[link] = nil
        if closing {
            if let writer = request.writer {
                let left = Double(request.replyEnd - writer.position)
                log.wasted += min(connections[link].rate * network.roundTrip, max(0, left))
            }
            connections.close(link)
            free.append(link)
        } else {
            connections.setFlow(link, false)
        }
    }
}
