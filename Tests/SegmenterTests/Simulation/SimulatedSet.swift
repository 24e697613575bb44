import Assembler

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// The download of a set of files from one host, in virtual time.
///
/// `BatchWidth` decides which files begin, `HostGovernor` how many connections each has, and a
/// `SegmentScheduler` for each large file which bytes they request. `SimulatedConnections` is the
/// network.
struct SimulatedSet {
    static let tick = 0.1

    /// A file that has begun and is not small.
    private struct Large {
        var scheduler: SegmentScheduler
        /// The connection of each slot; `nil` for a slot without a request.
        var lines: [Int?] = []
        /// The time until which a slot waits after a refusal.
        var waits: [Double] = []
    }

    /// A request on a connection.
    private struct Request {
        var file: Int
        /// The slot in a large file; `nil` for the first request of a file.
        var slot: Int?
        var range: ByteRange
        var sent: Double
        /// The time of the first byte; `nil` after it.
        var answers: Double?
        var isRefused = false
        /// The number of other first requests when it was sent.
        var beside = 0
        /// The offset at which another connection has taken over, if it has.
        var end: Int64
    }

    struct Log {
        var requests = 0
        var refusals = 0
        var mostBusy = 0
        /// The connections that were established.
        var made = 0
    }

    private let network: SimulatedNetwork
    private let sizes: [Int64]
    private let order: [Int]
    private let areSizesKnown: Bool
    private let most: Int?
    private var connections: SimulatedConnections
    private var governor: HostGovernor
    private var width = BatchWidth(jobs: nil)
    private var limit = ServerLimit()
    private var window = RequestWindow()
    private var requests: [Int: Request] = [:]
    private var idle: [Int] = []
    private var large: [Int: Large] = [:]
    private var waiting: [Int]
    private var left: Int
    private(set) var now = 0.0
    private(set) var log = Log()

    /// - Parameters:
    ///   - network: The network.
    ///   - sizes: The sizes of the files, in the order of the list.
    ///   - areSizesKnown: Whether the client knows them in advance.
    ///   - most: The user's bound on connections; `nil` if there is none.
    init(_ network: SimulatedNetwork, _ sizes: [Int64], areSizesKnown: Bool, most: Int? = nil) {
        self.network = network
        self.sizes = sizes
        self.areSizesKnown = areSizesKnown
        self.most = most
        order =
            areSizesKnown
            ? BatchOrder.largeFirst(sizes.count) { sizes[$0] }.map { Int($0) }
            : Array(sizes.indices)
        waiting = order.reversed()
        left = sizes.count
        connections = SimulatedConnections(network, count: 0)
        governor = HostGovernor(roundTrip: network.roundTrip * network.handshakes)
        if let most { width.bound(to: .fixed(most)) }
    }

    /// Returns the seconds until all files are complete; `nil` if they exceed the limit.
    mutating func run(limit: Double) -> Double? {
        begin()
        var nextTick = Self.tick
        while left > 0 {
            guard now < limit else { return nil }
            connections.settle(now)
            var next = nextTick
            for request in requests.values {
                if let answers = request.answers { next = min(next, answers) }
            }
            for (line, request) in requests where request.answers == nil {
                let rate = connections[line].rate
                let rest = Double(request.end - request.range.start) - connections[line].brought
                if rate > 0 { next = min(next, now + max(0, rest) / rate) }
            }
            if connections.isGrowing { next = min(next, now + network.roundTrip / 4) }
            connections.pass(from: now, to: next)
            now = next
            for line in requests.keys.sorted() { step(line) }
            if now >= nextTick - 1e-9 {
                measure()
                nextTick += Self.tick
            }
        }
        return now
    }

    // MARK: Requests

    private var served: Int { requests.values.count { !$0.isRefused && $0.answers == nil } }

    private var load: ServerLimit.Load {
        .init(served: served, asking: requests.values.count { $0.answers != nil })
    }

    private var others: Int { requests.values.count { $0.slot == nil && large[$0.file] == nil } }

    private mutating func send(_ file: Int, _ slot: Int?, _ range: ByteRange) -> Int {
        let line = idle.popLast() ?? connections.add()
        let trips = connections.open(line, now)
        limit.asked(beside: load, now: now)
        let isRefused = requests.values.count { !$0.isRefused } >= network.served
        requests[line] = Request(
            file: file, slot: slot, range: range, sent: now,
            answers: now + trips * network.roundTrip, isRefused: isRefused, end: range.end)
        if slot == nil { requests[line]?.beside = window.sent(now: now) }
        log.requests += 1
        log.mostBusy = max(log.mostBusy, requests.count)
        log.made = connections.made
        return line
    }

    private mutating func step(_ line: Int) {
        guard let request = requests[line] else { return }
        if let answers = request.answers {
            guard now >= answers - 1e-9 else { return }
            if request.isRefused { return refuse(line, request) }
            requests[line]?.answers = nil
            if request.slot != nil { limit.served(load, asked: request.sent, now: now) }
            connections.setFlow(line, true)
            if request.slot == nil { answered(line, request) }
            return
        }
        let got = Int64((connections[line].brought + 0.5).rounded(.down))
        guard request.range.start + got >= request.end else { return }
        ended(line, request)
    }

    private mutating func refuse(_ line: Int, _ request: Request) {
        free(line, isShort: false)
        log.refusals += 1
        if let slot = request.slot {
            let verdict = limit.refused(
                beside: load, asked: request.sent, isFirst: true, retryAfter: nil,
                failure: .status(503), now: now)
            let delay = verdict == .rest ? 0 : 0.5
            large[request.file]?.scheduler.release(slot)
            large[request.file]?.lines[slot] = nil
            large[request.file]?.waits[slot] = now + delay
        } else {
            _ = window.refused(beside: request.beside, sent: request.sent, now: now)
            // Some other files go first.
            waiting.insert(request.file, at: max(0, waiting.count - 8))
        }
    }

    private mutating func free(_ line: Int, isShort: Bool) {
        requests[line] = nil
        connections.setFlow(line, false)
        if isShort { connections.close(line) }
        idle.append(line)
    }

    // MARK: Files

    /// Begins as many files as may begin.
    private mutating func begin() {
        while let file = waiting.last {
            let size = areSizesKnown ? sizes[file] : nil
            let firsts = requests.values.filter { $0.slot == nil && large[$0.file] == nil }
            let small = areSizesKnown ? firsts.count { !BatchWidth.isLarge(sizes[$0.file]) } : 0
            let known = areSizesKnown ? firsts.count - small : 0
            var active = BatchWidth.Load(
                large: large.count + known, small: small, unknown: firsts.count - small - known)
            active.ofHost = (large.count + firsts.count, governor.room.extra)
            guard width.allows(size: size, beside: active), window.hasRoom(now: now),
                limit.allows(beside: load, now: now)
            else { return }
            waiting.removeLast()
            let end = min(sizes[file], SegmentScheduler.longWindow)
            _ = send(file, nil, ByteRange(0, end))
        }
    }

    /// Handles the head of a file's first response.
    private mutating func answered(_ line: Int, _ request: Request) {
        let size = sizes[request.file]
        window.served(now: now)
        if !areSizesKnown { width.saw(isLarge: BatchWidth.isLarge(size)) }
        guard BatchWidth.isLarge(size) else { return }
        var file = Large(scheduler: SegmentScheduler(size: size))
        file.scheduler.roundTrip = network.roundTrip
        _ = file.scheduler.adopt(request.range, by: 0)
        file.lines = [line]
        file.waits = [0]
        large[request.file] = file
        requests[line]?.slot = 0
        report(request.file)
        govern()
        begin()
    }

    private mutating func ended(_ line: Int, _ request: Request) {
        let isShort = request.end < request.range.end
        free(line, isShort: isShort)
        guard let slot = request.slot else {
            governor.received(sizes[request.file])
            width.adjust(wait: .init(usual: network.roundTrip, least: network.roundTrip))
            left -= 1
            begin()
            return
        }
        large[request.file]?.scheduler.advance(slot, to: request.end)
        large[request.file]?.lines[slot] = nil
        if large[request.file]?.scheduler.isComplete == true {
            report(request.file)
            governor.leave(request.file)
            width.take([governor.room])
            large[request.file] = nil
            left -= 1
            govern()
            begin()
            return
        }
        pump(request.file)
    }

    /// Assigns work to the free slots of a file.
    private mutating func pump(_ id: Int) {
        guard var file = large[id] else { return }
        defer { large[id] = file }
        let share = governor.share(of: id)
        while file.lines.count < share {
            file.lines.append(nil)
            file.waits.append(0)
        }
        for slot in 0..<min(share, file.lines.count)
        where file.lines[slot] == nil && file.waits[slot] <= now {
            guard limit.allows(beside: load, now: now) else { return }
            if file.scheduler.segments[slot] == nil {
                let lines = file.lines
                let work = file.scheduler.assign(
                    slot, connections: share, isMade: !idle.isEmpty, now: now,
                    leastSaving: HostGovernor.leastSaving, least: SegmentScheduler.longWindow
                ) { other in position(of: lines[other]) }
                if case .stolen(let range, let victim)? = work, let line = lines[victim] {
                    let end = requests[line]?.end ?? 0
                    requests[line]?.end = min(end, range.start)
                }
            }
            guard let range = file.scheduler.ask(slot, least: SegmentScheduler.longWindow) else {
                continue
            }
            file.lines[slot] = send(id, slot, range)
        }
    }

    private func position(of line: Int?) -> Int64? {
        guard let line, let request = requests[line], request.answers == nil else { return nil }
        return min(request.end, request.range.start + Int64(connections[line].brought))
    }

    // MARK: Ticks

    private mutating func report(_ id: Int) {
        guard let file = large[id] else { return }
        let done = file.scheduler.done.count
        governor.report(
            id,
            .init(
                received: done, remaining: sizes[id] - done,
                busy: file.lines.count { $0 != nil }, most: most ?? 64, isFixed: most != nil))
    }

    private mutating func govern() {
        let bytes = areSizesKnown ? waiting.reduce(0) { $0 + sizes[$1] } : nil
        let trip = network.roundTrip * network.handshakes
        let rate = connections.all.reduce(0) { $0 + $1.rate }
        let isFull = rate >= 0.99 * network.capacity(at: now)
        governor.step(
            .init(roundTrip: trip, presentRoundTrip: isFull ? 2 * trip : trip),
            limit: limit.limit,
            others: others, backlog: .init(files: waiting.count, bytes: bytes), now: now)
        width.take([governor.room])
    }

    private mutating func measure() {
        limit.watch(load, now: now)
        for id in large.keys.sorted() {
            guard var file = large[id] else { continue }
            for (slot, line) in file.lines.enumerated() {
                if let position = position(of: line) {
                    file.scheduler.advance(slot, to: position)
                }
                let rate = line.flatMap {
                    requests[$0]?.answers == nil ? connections[$0].rate : nil
                }
                file.scheduler.measured(slot, rate: rate, now: now)
            }
            file.scheduler.asOf = now
            large[id] = file
            report(id)
        }
        govern()
        for id in large.keys.sorted() { pump(id) }
        begin()
    }
}
