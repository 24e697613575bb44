import Assembler
import TestSupport

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// The world of a `FetchMachine` with simulated time, connections and a server.
///
/// It carries out the machine's decisions, and knows their results and times. In the program,
/// `Fetch` and the layers below it do this. The world decides nothing; `SimulatedFetch` reports the
/// events to the machine.
final class SimulatedWorld {
    /// The parts that serve one of the machine's connections.
    struct Line {
        var request: SimulatedRequest?
        /// The writer of the response's body, until it is retired.
        var writer: SimulatedWriter?
        /// The writer that receives the body of a sample.
        var sampler: SimulatedWriter?
        /// The connection of the network that it used last.
        var link: Int?
    }

    /// The destination of a connection of the network.
    struct Way: Hashable {
        var origin: String
        var pin: String?
        var address: String?
    }

    /// A future event.
    struct Plan {
        var time: Double
        /// The name by which the event can be cancelled.
        var name: String
        var event: (inout FetchMachine, SimulatedWorld) -> Void
    }

    /// The length of a TCP segment in bytes.
    static let segment = 1448.0

    let network: SimulatedNetwork
    let server: SimulatedServer
    let size: Int64
    var connectTimeout = 10.0
    var stallTimeout = 15.0
    /// The bytes that writers write between the query of a position and the next action.
    var lag: Int64 = 0
    /// The fraction of segments that arrive out of order.
    var loss = 0.0
    /// The number of active downloads, this one included.
    var downloads: (Double) -> Int = { _ in 1 }
    /// The number of other downloads' requests that the server serves at a time.
    var servedOthers: (Double) -> Int = { _ in 0 }
    /// The reader that takes the written bytes in order; `nil` if they are written to a file.
    var reader: SimulatedReader?
    /// Whether requests are checked, which takes time.
    var checksRequests = false
    /// The ranges of an earlier run, and whether they are intact.
    var earlier: [(range: ByteRange, isIntact: Bool)] = []

    private(set) var now = 0.0
    var connections: SimulatedConnections
    /// The requests by number of the network's connection.
    var requests: [SimulatedRequest?] = []
    private(set) var ways: [Way] = []
    /// The numbers of closed connections, for reuse.
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

    /// Whether the bottleneck has a queue, because the connections could carry more than its
    /// capacity.
    var isCrowded: Bool {
        let sum = connections.all.reduce(0) { $0 + ($1.flows ? min($1.cap, $1.window) : 0) }
        return sum > 1.1 * network.capacity(at: now)
    }

    /// The number of segments of the file that were received, and of those out of order.
    var segments: (all: Int64, disordered: Int64) {
        let all = Double(log.received) / Self.segment
        return (Int64(all), Int64(loss * all))
    }

    /// Schedules an event.
    func plan(
        _ name: String, in seconds: Double,
        _ event: @escaping (inout FetchMachine, SimulatedWorld) -> Void
    ) {
        plans.append(Plan(time: now + seconds, name: name, event: event))
    }

    // MARK: Time

    /// The time of the next event.
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

    /// Advances the time over an interval without events.
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

    /// Records the position that the body of a request has reached.
    func sync(_ request: SimulatedRequest) {
        guard request.syncedAt != now, let writer = request.writer,
            connections[request.link].flows
        else { return }
        request.syncedAt = now
        let position = min(
            writer.start + Int64(connections[request.link].brought), request.goal)
        note(request, writer, at: position)
    }

    /// Returns whether all bytes of a request have been received.
    func isOver(_ request: SimulatedRequest) -> Bool {
        guard let writer = request.writer, connections[request.link].flows else { return false }
        let connection = connections[request.link]
        let left = Double(request.goal - writer.start) - connection.brought
        // Bytes that arrive within a nanosecond count as received.
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

    /// Sends a request on an existing or a new connection.
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

    /// Establishes a connection.
    ///
    /// - Returns: The time at which it is established.
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
        // The kernel repeats a SYN after 1 s, 3 s, 7 s and 15 s (RFC 6298).
        let times = [0.0, 1, 3, 7, 15].map { now + $0 }
        guard let goes = times.first(where: { !network.isDown(at: $0) }) else { return .infinity }
        return goes + trips * network.roundTrip
    }

    /// Returns an idle connection that may be reused for a request.
    ///
    /// libcurl does not reuse a connection to another address.
    private func idle(for ask: FetchMachine.Ask, preferring link: Int?) -> Int? {
        func fits(_ link: Int) -> Bool {
            requests[link] == nil && connections[link].isOpen && ways[link].pin == ask.address
                && ways[link].origin == ask.url.origin
        }
        if let link, fits(link) { return link }
        return requests.indices.first(where: fits)
    }

    /// Returns the server's view of a request.
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

    /// Removes a request from its connection.
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
