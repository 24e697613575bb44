import TestSupport

@testable import Segmenter

/// A story of a fleet: workers and finishings on a shared folder, which loses replies, shows old lists
/// and is used by processes that die or sleep.
///
/// Time is in seconds. The same seed gives the same story.
struct FleetStory {
    /// A promise that the story has seen broken.
    struct Broken: Error { var text: String }

    /// The files of an attempt.
    private struct Data {
        /// The pieces of the shard that are complete and recorded.
        var pieces: Set<Int> = []
        /// The process that writes here; only it may.
        var owner: Int
        /// The progress that it has recorded.
        var beat: Int64 = 0
        /// Whether its unfinished part was moved away.
        var isMoved = false
    }

    private struct Mark {
        var owner: Int
        var sources: [Int] = []
    }

    /// A process: a worker, or a finishing if its only shard is that of the finishing.
    private struct Process {
        var id: Int
        var worker: FleetWorker
        var shards: [Int]
        var isIndexed: Bool
        var machine: Int
        var action: FleetWorker.Action
        var next: Double
        /// The shard that it downloads, and whether it was told to stop.
        var work: (shard: Int, attempt: Int, sources: [Int], isStopping: Bool)?
        var lastLook = 0.0
        var isAlive = true
        var restarts = 0
    }

    private var random: SplitMix64
    private let shards: Int
    private let pieces: Int
    private var marks: [FleetMark: Mark] = [:]
    /// All marks, and those that each machine sees.
    private var all = FleetBoard()
    private var boards: [Int: (board: FleetBoard, seen: Int)] = [:]
    private var order: [(mark: FleetMark, at: Double, machine: Int)] = []
    private var data: [FleetMark: Data] = [:]
    private var published: Set<Int> = []
    private var processes: [Process] = []
    private var now = 0.0
    private var names = 0
    /// The longest time for which another machine sees an old list, in seconds.
    private let staleness: Double
    private let lossOfReply: Double
    private let death: Double
    private let failure: Double

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        shards = Int.random(in: 1...6, using: &random)
        pieces = Int.random(in: 1...8, using: &random)
        staleness = [0, 3, 60].randomElement(using: &random) ?? 0
        lossOfReply = Bool.random(using: &random) ? 0 : 0.1
        death = Bool.random(using: &random) ? 0 : 0.02
        failure = Bool.random(using: &random) ? 0 : 0.05
        let count = Int.random(in: 1...5, using: &random)
        let isIndexed = Bool.random(using: &random)
        for index in 0..<count {
            let own =
                isIndexed
                ? (0..<shards).filter { $0 % count == index } : Array(0..<shards)
            start(own, isIndexed: isIndexed, machine: index)
        }
        // The same index is started twice.
        if isIndexed, Bool.random(using: &random) {
            start((0..<shards).filter { $0 % count == 0 }, isIndexed: true, machine: count)
        }
        for machine in 0..<2 { start([FleetMark.finish], isIndexed: false, machine: 10 + machine) }
    }

    private mutating func start(_ shards: [Int], isIndexed: Bool, machine: Int) {
        names += 1
        processes.append(
            Process(
                id: names, worker: FleetWorker(shards, isIndexed: isIndexed), shards: shards,
                isIndexed: isIndexed, machine: machine, action: FleetWorker.first,
                next: now + Double.random(in: 0...5, using: &random)))
    }

    private mutating func chance(_ probability: Double) -> Bool {
        probability > 0 && Double.random(in: 0..<1, using: &random) < probability
    }

    // MARK: The story

    /// Tells the story to its end.
    ///
    /// - Throws: `Broken`.
    mutating func tell() throws {
        var steps = 0

        while let index = processes.indices.filter({ processes[$0].isAlive }).min(by: {
            processes[$0].next < processes[$1].next
        }) {
            steps += 1
            guard steps < 10_000 else { throw Broken(text: "the story does not end") }
            now = max(now, processes[index].next)
            if steps < 2_000, chance(death / 10) {
                die(index)
                continue
            }
            if steps < 2_000, chance(death / 10) {
                processes[index].next = now + Double.random(in: 0...1_500, using: &random)
                continue
            }
            try step(index)
        }
        for shard in 0..<shards {
            guard case .done = all.state(of: shard) else {
                throw Broken(text: "shard \(shard) was lost")
            }
        }
        // Someone finishes in the end.
        if published.count < shards { try finish() }
        guard published.count == shards else { throw Broken(text: "files were not published") }
    }

    /// A process is killed; its scheduler starts it again.
    private mutating func die(_ index: Int) {
        let dead = processes[index]
        processes[index].isAlive = false
        again(dead)
    }

    private mutating func again(_ dead: Process) {
        let machine = Bool.random(using: &random) ? dead.machine : dead.machine + 20
        start(dead.shards, isIndexed: dead.isIndexed, machine: machine)
        processes[processes.count - 1].next = now + Double.random(in: 0...300, using: &random)
        processes[processes.count - 1].restarts = dead.restarts + 1
    }

    /// Returns the marks that a machine sees: its own, and older ones of others.
    private mutating func board(on machine: Int) -> FleetBoard {
        guard staleness > 0 else { return all }
        var (board, seen) = boards[machine] ?? (FleetBoard(), 0)
        while seen < order.count, order[seen].at <= now - staleness {
            board.add(order[seen].mark)
            seen += 1
        }
        boards[machine] = (board, seen)
        for entry in order[seen...] where entry.machine == machine { board.add(entry.mark) }
        return board
    }

    private mutating func step(_ index: Int) throws {
        let process = processes[index]
        if let work = process.work {
            try download(index, work)
            return
        }
        processes[index].next = now + Double.random(in: 0...0.5, using: &random)
        switch process.action {
        case .look:
            let board = board(on: process.machine)
            let signs = signs(board, process)
            perform(index, .looked(board, signs, now: now))
        case .make(let mark): try make(index, mark)
        case .begin(let shard, let attempt): try begin(index, shard, attempt)
        case .rest:
            processes[index].next = now + 40
            perform(index, .rested)
        case .end(let ending):
            processes[index].isAlive = false
            let isFinish = process.shards == [FleetMark.finish]
            if isFinish ? published.count < shards : ending != .done { again(process) }
        case .none, .stop: throw Broken(text: "a worker does nothing")
        }
    }

    private mutating func perform(_ index: Int, _ event: FleetWorker.Event) {
        processes[index].action = processes[index].worker.take(event)
    }

    private func signs(_ board: FleetBoard, _ process: Process) -> [Int: FleetWorker.Sign] {
        var signs: [Int: FleetWorker.Sign] = [:]
        for shard in process.shards {
            guard case .running(let attempt) = board.state(of: shard) else { continue }
            let claim = FleetMark(shard, attempt, .claim)
            let owner = marks[claim].flatMap { mark in
                processes[mark.owner - 1]
            }
            // Only a process on this machine is known to be dead.
            let isOver = owner.map { !$0.isAlive && $0.machine == process.machine } ?? false
            signs[shard] = isOver ? .over : .beat(data[claim]?.beat ?? 0)
        }
        return signs
    }

    /// Makes a mark, which one process can do; the reply may be lost, and then the mark is read.
    private mutating func make(_ index: Int, _ mark: FleetMark) throws {
        let process = processes[index]
        let there = marks[mark]
        if there == nil {
            let sources = mark.kind == .done ? lastSources[process.id] ?? [] : []
            marks[mark] = Mark(owner: process.id, sources: sources)
            all.add(mark)
            order.append((mark, now, process.machine))
        }
        if mark.kind == .done, there == nil { try checkDone(mark) }
        if chance(lossOfReply) { processes[index].next = now + 3 }
        let isOwn = there == nil || there?.owner == process.id
        perform(index, isOwn ? .made : .taken)
    }

    private var lastSources: [Int: [Int]] = [:]

    private func pieces(of shard: Int, _ attempts: [Int]) -> Set<Int> {
        attempts.reduce(into: []) {
            $0.formUnion(data[FleetMark(shard, $1, .claim)]?.pieces ?? [])
        }
    }

    private func checkDone(_ mark: FleetMark) throws {
        guard mark.shard != FleetMark.finish else { return }
        let sources = marks[mark]?.sources ?? []
        guard pieces(of: mark.shard, [mark.attempt] + sources).count == pieces else {
            throw Broken(text: "an incomplete shard is marked as done")
        }
    }

    private mutating func begin(_ index: Int, _ shard: Int, _ attempt: Int) throws {
        let process = processes[index]
        let claim = FleetMark(shard, attempt, .claim)
        guard marks[claim]?.owner == process.id else {
            throw Broken(text: "a process works on an attempt that it has not claimed")
        }
        let board = board(on: process.machine)
        let sources = board.sources(of: shard, before: attempt)
        for source in sources where board.kinds(shard, source).contains(.left) {
            data[FleetMark(shard, source, .claim)]?.isMoved = true
        }
        data[claim] = Data(owner: process.id)
        processes[index].work = (shard, attempt, sources, false)
        lastSources[process.id] = sources
    }

    private mutating func download(
        _ index: Int, _ work: (shard: Int, attempt: Int, sources: [Int], isStopping: Bool)
    ) throws {
        let process = processes[index]
        let claim = FleetMark(work.shard, work.attempt, .claim)
        processes[index].next = now + Double.random(in: 0...20, using: &random)
        func end(_ outcome: FleetWorker.Outcome) {
            processes[index].work = nil
            perform(index, .ended(outcome))
        }
        if work.isStopping { return end(.stopped) }
        if now - process.lastLook >= 20 {
            processes[index].lastLook = now
            data[claim]?.beat += 1
            let board = board(on: process.machine)
            perform(index, .looked(board, [:], now: now))
            let isLate = board.last(of: work.shard) > work.attempt
            guard (processes[index].action == .stop) == isLate else {
                throw Broken(text: "a replaced attempt goes on, or another one stops")
            }
            if isLate {
                processes[index].work?.isStopping = true
                return
            }
        }
        if chance(failure) {
            return end(.temporary)
        }
        if work.shard == FleetMark.finish {
            try finish()
            return end(.temporary)
        }
        guard data[claim]?.owner == process.id else {
            throw Broken(text: "two processes write in one folder")
        }
        guard data[claim]?.isMoved == false else {
            throw Broken(text: "a part was moved away while it was written")
        }
        let have = pieces(of: work.shard, [work.attempt] + work.sources)
        guard let piece = (0..<pieces).first(where: { !have.contains($0) }) else {
            return end(.complete)
        }
        data[claim]?.pieces.insert(piece)
        if have.count + 1 == pieces { end(.complete) }
    }

    /// Publishes what is complete.
    private mutating func finish() throws {
        let board = all
        for shard in 0..<shards {
            guard case .done(let attempt) = board.state(of: shard) else { continue }
            let mark = FleetMark(shard, attempt, .done)
            let sources = marks[mark]?.sources ?? []
            guard pieces(of: shard, [attempt] + sources).count == pieces else {
                throw Broken(text: "a file is published with missing bytes")
            }
            published.insert(shard)
        }
    }
}
