import Assembler

@testable import Segmenter

/// A transfer through a simulated network: drives the real scheduler, event by event.
///
/// What the program does each 100 ms it does each 100 ms of virtual time.
struct SimulatedTransfer {
    static let tick = 0.1

    private struct Worker {
        /// Where the present request ends.
        var asked: Int64 = 0
        var start: Int64 = 0
        /// When the first byte of the present request comes.
        var begins = Double.infinity
        var isBusy = false
        /// When the first byte of the connection came.
        var born = Double.infinity
        var rate = ConnectionRate()
        var positionAtTick: Double?
        /// When the present body began; `nil` when its rate was measured since.
        var unmeasuredSince: Double?
        var rests = 0.0
        var refusals = 0
        /// When a byte last came.
        var heard = 0.0
    }

    let network: SimulatedNetwork
    /// Asked each tick for the number of connections.
    var govern: (inout SimulatedTransfer) -> Int
    private(set) var scheduler: SegmentScheduler
    private(set) var connections: SimulatedConnections
    private var workers: [Worker]
    private var rescue = Rescue()
    /// Whether the server has turned a connection away.
    private(set) var isTurnedAway = false
    private(set) var now = 0.0
    private(set) var target: Int
    private(set) var requests = 0
    private(set) var steals = 0
    /// Requests that were cut short.
    private(set) var cuts = 0
    private(set) var rescues = 0
    /// What came on connections that were given up, and was requested beyond what was theirs: in
    /// round trips' worth of bytes.
    private(set) var wasted = 0.0
    private(set) var received = 0.0

    init(
        _ network: SimulatedNetwork, size: Int64, most: Int, first: Int? = nil,
        govern: @escaping (inout SimulatedTransfer) -> Int
    ) {
        self.network = network
        self.govern = govern
        scheduler = SegmentScheduler(size: size)
        scheduler.roundTrip = network.roundTrip
        connections = SimulatedConnections(network, count: most)
        workers = Array(repeating: Worker(), count: most)
        target = first ?? most
    }

    /// Connections that wait for a first byte.
    var waiting: Int { workers.count { $0.isBusy && $0.begins < .infinity } }
    /// Connections at work.
    var busy: Int { workers.count { $0.isBusy } }
    /// Whether the bottleneck has a queue: the connections could bring more than it.
    var isCrowded: Bool {
        let sum = connections.all.reduce(0) { $0 + ($1.flows ? min($1.cap, $1.window) : 0) }
        return sum > 1.1 * network.capacity(at: now)
    }

    /// Runs to the end.
    ///
    /// - Returns: Seconds, or `nil` when it does not end within a limit.
    mutating func run(limit: Double = .infinity) -> Double? {
        for index in 0..<target { feed(index) }
        var nextTick = Self.tick
        while !scheduler.isComplete {
            connections.settle(now)
            var next = min(nextTick, network.change(after: now))
            if connections.isGrowing { next = min(next, now + network.roundTrip / 4) }
            for index in workers.indices where workers[index].isBusy {
                next = min(next, event(of: index))
            }
            if next > limit { return nil }
            if network.change(after: now) <= next || connections.death(after: now) <= next {
                connections.markStale()
            }
            connections.pass(from: now, to: next)
            now = next
            for index in workers.indices where workers[index].isBusy { step(index) }
            if now >= nextTick {
                tickAll()
                nextTick += Self.tick
            }
        }
        return now
    }

    /// Where a connection's present request is to end.
    private func goal(_ index: Int) -> Int64 {
        min(workers[index].asked, scheduler.segments[index]?.end ?? workers[index].start)
    }

    private func event(of index: Int) -> Double {
        if workers[index].begins < .infinity { return workers[index].begins }
        let connection = connections[index]
        guard connection.rate > 0 else {
            return max(now, connection.dies) > now ? connection.dies : .infinity
        }
        let left = Double(goal(index) - workers[index].start) - connection.brought
        return min(
            now + max(0, left) / connection.rate,
            connection.dies > now ? connection.dies : .infinity)
    }

    private mutating func step(_ index: Int) {
        if workers[index].begins <= now {
            workers[index].begins = .infinity
            let flowing = connections.all.count { $0.flows }
            guard flowing < network.served else {
                turnAway(index)
                return
            }
            connections.setFlow(index, true)
            workers[index].born = min(workers[index].born, now)
            workers[index].heard = now
            workers[index].positionAtTick = nil
            workers[index].unmeasuredSince = now
        }
        guard connections[index].flows else { return }
        let left = Double(goal(index) - workers[index].start) - connections[index].brought
        // What comes within a nanosecond has come.
        guard left <= max(1e-3, connections[index].rate * 1e-9) else { return }
        complete(index)
    }

    private mutating func complete(_ index: Int) {
        let end = goal(index)
        let isCut = end < workers[index].asked
        if let segment = scheduler.segments[index] {
            received += Double(end - workers[index].start)
            scheduler.advance(index, to: min(end, segment.end))
        }
        // A body that is shorter than a tick is measured as a whole.
        if let began = workers[index].unmeasuredSince, now > began {
            note(connections[index].brought / (now - began), of: index)
        }
        connections.setFlow(index, false)
        workers[index].isBusy = false
        if isCut { close(index) }
        if scheduler.segments[index] != nil { request(index) } else { feed(index) }
    }

    private mutating func close(_ index: Int) {
        wasted += min(
            connections[index].rate * network.roundTrip, Double(workers[index].asked - goal(index)))
        connections.close(index)
        workers[index].born = .infinity
    }

    private mutating func turnAway(_ index: Int) {
        scheduler.release(index)
        connections.close(index)
        workers[index].isBusy = false
        workers[index].refusals += 1
        isTurnedAway = true
        workers[index].rests = now + 5 * Double(1 << min(6, workers[index].refusals))
    }

    private mutating func request(_ index: Int) {
        guard let range = scheduler.ask(index) else { return }
        requests += 1
        workers[index].start = range.start
        workers[index].asked = range.end
        workers[index].isBusy = true
        workers[index].begins = now + connections.open(index, now) * network.roundTrip
    }

    private mutating func feed(_ index: Int) {
        guard index < target, !workers[index].isBusy, workers[index].rests <= now else { return }
        let count = min(target, network.served)
        let (workers, connections) = (workers, connections)
        let work = scheduler.assign(
            index, connections: count, isMade: connections[index].isOpen, now: now
        ) { other in
            guard connections[other].flows else { return nil }
            return workers[other].start + Int64(connections[other].brought)
        }
        guard let work else { return }
        if case .stolen(let range, let victim) = work {
            steals += 1
            if range.start < workers[victim].asked { cuts += 1 }
        }
        request(index)
    }

    private mutating func sync(_ index: Int) {
        guard connections[index].flows else { return }
        let position = workers[index].start + Int64(connections[index].brought)
        scheduler.advance(index, to: min(position, goal(index)))
    }

    private mutating func measure(_ index: Int) {
        guard workers[index].isBusy, connections[index].flows else {
            workers[index].positionAtTick = nil
            return
        }
        sync(index)
        let position = Double(workers[index].start) + connections[index].brought
        if let before = workers[index].positionAtTick {
            if position > before { workers[index].heard = now }
            note((position - before) / Self.tick, of: index)
        }
        workers[index].positionAtTick = position
    }

    private mutating func note(_ rate: Double, of index: Int) {
        workers[index].rate.note(
            rate, age: now - workers[index].born, roundTrip: network.roundTrip)
        workers[index].unmeasuredSince = nil
        if workers[index].rate.value > 0 {
            scheduler.measured(index, rate: workers[index].rate.value, now: now)
        }
    }

    private mutating func tickAll() {
        for index in workers.indices { measure(index) }
        scheduler.asOf = now
        for index in workers.indices where workers[index].isBusy && scheduler.segments[index] == nil
        {
            connections.setFlow(index, false)
            workers[index].isBusy = false
            close(index)
        }
        var flowing: [Int: Rescue.Connection] = [:]
        for index in workers.indices where connections[index].flows {
            if now - workers[index].heard >= network.patience {
                reopen(index)
            } else {
                flowing[index] = Rescue.Connection(
                    rate: workers[index].rate.value, age: now - workers[index].born)
            }
        }
        for laggard in rescue.step(flowing, roundTrip: network.roundTrip, now: now) {
            rescues += 1
            reopen(laggard.connection)
        }
        target = govern(&self)
        for index in target..<workers.count
        where !workers[index].isBusy && workers[index].rate.value > 0 {
            workers[index].rate = ConnectionRate()
            scheduler.measured(index, rate: nil, now: now)
        }
        for index in 0..<target { feed(index) }
    }

    private mutating func reopen(_ index: Int) {
        sync(index)
        scheduler.release(index)
        scheduler.measured(index, rate: nil, now: now)
        connections.setFlow(index, false)
        connections.close(index)
        workers[index] = Worker()
    }
}
