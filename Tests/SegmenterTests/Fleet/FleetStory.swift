import TestSupport

@testable import Segmenter

/// A story of a fleet: workers and finishings on a shared folder.
///
/// The folder loses replies, shows old lists and damages files. Processes die, sleep and are asked
/// to end.
///
/// Time is in seconds. The same seed gives the same story.
struct FleetStory {
    /// A promise that the story has seen broken.
    struct Broken: Error { var text: String }

    /// The files of an attempt.
    private struct Data {
        /// The pieces of the shard that are complete and recorded, and whether each is still right.
        var pieces: [Int: Bool] = [:]
        /// The pieces that earlier attempts have completed.
        var earlier: Set<Int>
        /// The process that writes here; only it may.
        var owner: Int
        /// The progress that it has recorded, and when.
        var beat: Int64 = 1
        var lastBeat: Double
        /// Whether its unfinished part was moved away.
        var isMoved = false
    }

    private struct Mark {
        var owner: Int
        /// For `done`: the earlier attempts whose pieces count.
        var sources: [Int] = []
        /// For `void`: the pieces that are wrong.
        var wrong: Set<Int> = []
    }

    /// A process: a worker, or a finishing if its only shard is that of the finishing.
    private final class Process {
        let id: Int
        var worker: FleetWorker
        let shards: [Int]
        let isIndexed: Bool
        let machine: Int
        var action = FleetWorker.first
        var next: Double
        /// The shard that it downloads, and whether it was told to stop.
        var work: (shard: Int, attempt: Int, isStopping: Bool)?
        var lastLook = 0.0
        var isAlive = true
        var isInterrupted = false
        /// The marks that it has seen first, and last.
        var firstBoard: FleetBoard?
        var board = FleetBoard()
        /// The last attempt at each shard that it has tried to claim, and its own last ones.
        var asked: [Int: Int] = [:]
        var owned: [Int: Int] = [:]
        /// The shards that it has given up.
        var gaveUp: Set<Int> = []

        init(_ id: Int, _ shards: [Int], isIndexed: Bool, machine: Int, next: Double) {
            worker = FleetWorker(shards, isIndexed: isIndexed)
            (self.id, self.shards, self.isIndexed) = (id, shards, isIndexed)
            (self.machine, self.next) = (machine, next)
        }
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
    private var hasVoid = false
    private var processes: [Process] = []
    private var now = 0.0
    /// Whether pieces are damaged, and servers fail; the end of each story is good.
    private var isBad = true
    private var names = 0
    /// The longest time for which another machine sees an old list, in seconds.
    private let staleness: Double
    private let lossOfReply: Double
    private let death: Double
    private let failure: Double
    private let damage: Double

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        shards = Int.random(in: 1...6, using: &random)
        // Some shards take longer than an idle attempt is left alone.
        let most = Int.random(in: 0..<20, using: &random) == 0 ? 100 : 8
        pieces = Int.random(in: 1...most, using: &random)
        staleness = [0, 3, 60].randomElement(using: &random) ?? 0
        lossOfReply = Bool.random(using: &random) ? 0 : 0.1
        death = Bool.random(using: &random) ? 0 : 0.02
        failure = Bool.random(using: &random) ? 0 : 0.05
        damage = Bool.random(using: &random) ? 0 : 0.03
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
                names, shards, isIndexed: isIndexed, machine: machine,
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
        while let index = nextProcess() {
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
            if steps < 2_000, chance(death / 10) { processes[index].isInterrupted = true }
            isBad = steps < 2_000
            try step(index)
        }
        for shard in 0..<shards {
            guard case .done = all.state(of: shard) else {
                throw Broken(text: "shard \(shard) was lost")
            }
        }
        guard published.count == shards else { throw Broken(text: "files were not published") }
    }

    /// Returns the index of the process that acts next; `nil` if all have ended.
    private func nextProcess() -> Int? {
        var found: Int?
        for index in processes.indices where processes[index].isAlive {
            if let best = found, processes[best].next <= processes[index].next { continue }
            found = index
        }
        return found
    }

    /// A process is killed; its scheduler starts it again.
    private mutating func die(_ index: Int) {
        let dead = processes[index]
        processes[index].isAlive = false
        again(dead)
        guard chance(0.2) else { return }
        // Somebody else starts it, too.
        let next = processes[processes.count - 1].next
        again(dead)
        processes[processes.count - 1].next = next + Double.random(in: 0...5, using: &random)
    }

    private mutating func again(_ dead: Process) {
        let machine = Bool.random(using: &random) ? dead.machine : dead.machine + 20
        start(dead.shards, isIndexed: dead.isIndexed, machine: machine)
        processes[processes.count - 1].next = now + Double.random(in: 0...300, using: &random)
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
        if process.isInterrupted {
            let action = processes[index].worker.take(.interrupted)
            if case .end = action { processes[index].action = action }
        }
        switch processes[index].action {
        case .look:
            let board = board(on: process.machine)
            let signs = signs(board, process)
            processes[index].firstBoard = process.firstBoard ?? board
            processes[index].board = board
            perform(index, .looked(board, signs, now: now))
            try checkEnd(processes[index])
        case .make(let mark): try make(index, mark)
        case .begin(let shard, let attempt): try begin(index, shard, attempt)
        case .rest:
            processes[index].next = now + 40
            perform(index, .rested)
        case .end(let ending):
            processes[index].isAlive = false
            try checkMarks(process)
            let isFinish = process.shards == [FleetMark.finish]
            if isFinish ? published.count < shards : ending != .done { again(process) }
            // Somebody reads that files are wrong, and starts a worker.
            if isFinish, hasVoid,
                !processes.contains(where: { $0.isAlive && $0.shards != process.shards })
            {
                start(Array(0..<shards), isIndexed: false, machine: 50)
            }
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
        if mark.kind == .claim { try checkClaim(index, mark) }
        let there = marks[mark]
        if there == nil {
            let sources = mark.kind == .done ? lastSources[process.id] ?? [] : []
            add(mark, Mark(owner: process.id, sources: sources), process.machine)
            if mark.kind == .claim { processes[index].owned[mark.shard] = mark.attempt }
        }
        if mark.kind == .done, there == nil { try checkDone(mark) }
        if chance(lossOfReply) { processes[index].next = now + 3 }
        let isOwn = there == nil || there?.owner == process.id
        perform(index, isOwn ? .made : .taken)
    }

    private mutating func add(_ mark: FleetMark, _ content: Mark, _ machine: Int) {
        marks[mark] = content
        all.add(mark)
        order.append((mark, now, machine))
    }

    private var lastSources: [Int: [Int]] = [:]

    // MARK: Promises

    /// Checks that a worker claims a new number, and takes nothing from an attempt that progresses.
    private mutating func checkClaim(_ index: Int, _ mark: FleetMark) throws {
        let process = processes[index]
        let asked = process.asked[mark.shard]
        processes[index].asked[mark.shard] = mark.attempt
        guard mark.attempt > asked ?? 0 else {
            throw Broken(text: "a worker claims again what it knows to be taken")
        }
        let last = mark.attempt - 1
        guard marks[mark] == nil, last > 0 else { return }
        guard let owner = marks[FleetMark(mark.shard, last, .claim)]?.owner else {
            throw Broken(text: "an attempt begins without the one before it")
        }
        switch process.board.state(of: mark.shard) {
        case .left where process.gaveUp.contains(mark.shard),
            .failed where process.gaveUp.contains(mark.shard):
            throw Broken(text: "a worker tries again what it has given up")
        case .failed where process.firstBoard?.hasFailed(mark.shard) == false:
            throw Broken(text: "a shard is tried again that has failed meanwhile")
        default: break
        }
        // The caller wants it, once.
        if process.isIndexed, asked == nil { return }
        let isOver = all.kinds(mark.shard, last).count > 1 || !processes[owner - 1].isAlive
        let lastBeat = data[FleetMark(mark.shard, last, .claim)]?.lastBeat
        guard isOver || lastBeat.map({ now - $0 >= FleetWorker.patience }) != false else {
            throw Broken(text: "an attempt is replaced although it makes progress")
        }
    }

    /// Checks that a worker that has nothing to do leaves nothing that is free.
    private func checkEnd(_ process: Process) throws {
        guard process.action == .end(.done) else { return }
        for shard in process.shards {
            switch process.board.state(of: shard) {
            case .done: continue
            case .running where !process.isIndexed: continue
            // The list of the marks may not show yet that another one has claimed it.
            case .waiting, .left, .failed, .running:
                guard let asked = process.asked[shard], asked > process.board.last(of: shard),
                    !process.isIndexed
                else { throw Broken(text: "a worker ends although a shard is free") }
            }
        }
    }

    /// Checks that a process that ends has ended its attempts.
    private func checkMarks(_ process: Process) throws {
        for (shard, attempt) in process.owned {
            guard all.kinds(shard, attempt).count > 1 || all.last(of: shard) > attempt else {
                throw Broken(text: "a process ends, and its attempt has no end")
            }
        }
    }

    private func checkDone(_ mark: FleetMark) throws {
        guard mark.shard != FleetMark.finish else { return }
        let found = data[FleetMark(mark.shard, mark.attempt, .claim)]
        guard let found, found.earlier.union(found.pieces.keys).count == pieces else {
            throw Broken(text: "an incomplete shard is marked as done")
        }
    }

    // MARK: Work

    /// Returns the pieces that voids of a shard name.
    private func wrong(of shard: Int, _ board: FleetBoard) -> Set<Int> {
        board.attempts(at: shard, marked: .void).reduce(into: []) {
            $0.formUnion(marks[FleetMark(shard, $1, .void)]?.wrong ?? [])
        }
    }

    /// Returns the pieces of an attempt and its sources, and whether they are right.
    private func pieces(
        of shard: Int, _ attempt: Int?, _ sources: [Int], without wrong: Set<Int>
    ) -> [Int: Bool] {
        var found = attempt.flatMap { data[FleetMark(shard, $0, .claim)]?.pieces } ?? [:]
        for source in sources {
            for (piece, isRight) in data[FleetMark(shard, source, .claim)]?.pieces ?? [:]
            where found[piece] == nil && !wrong.contains(piece) { found[piece] = isRight }
        }
        return found
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
        guard !sources.contains(where: { board.kinds(shard, $0).contains(.failed) }) else {
            throw Broken(text: "an attempt takes what a failed one has received")
        }
        let earlier = pieces(of: shard, nil, sources, without: wrong(of: shard, board))
        data[claim] = Data(earlier: Set(earlier.keys), owner: process.id, lastBeat: now)
        processes[index].work = (shard, attempt, process.isInterrupted)
        processes[index].lastLook = now
        lastSources[process.id] = sources
    }

    private mutating func download(
        _ index: Int, _ work: (shard: Int, attempt: Int, isStopping: Bool)
    ) throws {
        let process = processes[index]
        let claim = FleetMark(work.shard, work.attempt, .claim)
        processes[index].next = now + Double.random(in: 0...20, using: &random)
        func end(_ outcome: FleetWorker.Outcome) {
            processes[index].work = nil
            if outcome == .temporary || outcome == .failed {
                processes[index].gaveUp.insert(work.shard)
            }
            perform(index, .ended(outcome))
        }
        if work.isStopping { return end(.stopped) }
        if process.isInterrupted {
            perform(index, .interrupted)
            guard processes[index].action == .stop else {
                throw Broken(text: "a worker goes on that was asked to end")
            }
            processes[index].work?.isStopping = true
            return
        }
        if now - process.lastLook >= 20 {
            processes[index].lastLook = now
            data[claim]?.beat += 1
            data[claim]?.lastBeat = now
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
        if isBad, chance(failure) { return end(.temporary) }
        if work.shard == FleetMark.finish {
            try finish(process)
            return end(.stopped)
        }
        if isBad, chance(failure / 2) { return end(.failed) }
        guard let own = data[claim], own.owner == process.id else {
            throw Broken(text: "two processes write in one folder")
        }
        guard !own.isMoved else {
            throw Broken(text: "a part was moved away while it was written")
        }
        let missing = (0..<pieces).filter { !own.earlier.contains($0) && own.pieces[$0] == nil }
        let isRight = !isBad || !chance(damage)
        if let piece = missing.first { data[claim]?.pieces[piece] = isRight }
        if missing.count <= 1 { end(.complete) }
    }

    /// Publishes what is complete, and finds what is wrong.
    private mutating func finish(_ process: Process) throws {
        let board = board(on: process.machine)
        for shard in 0..<shards where !published.contains(shard) {
            guard case .done(let attempt) = board.state(of: shard) else { continue }
            let sources = marks[FleetMark(shard, attempt, .done)]?.sources ?? []
            let voided = wrong(of: shard, board)
            let found = pieces(of: shard, attempt, sources, without: voided)
            let lost = Set((0..<pieces).filter { found[$0] == nil })
            guard lost.isSubset(of: voided) else {
                throw Broken(text: "a file is published with missing bytes")
            }
            let wrong = lost.union(found.filter { !$0.value }.keys)
            guard !wrong.isEmpty else {
                published.insert(shard)
                continue
            }
            let mark = FleetMark(shard, attempt, .void)
            guard marks[mark] == nil else { continue }
            add(mark, Mark(owner: process.id, wrong: wrong), process.machine)
            hasVoid = true
        }
    }
}
