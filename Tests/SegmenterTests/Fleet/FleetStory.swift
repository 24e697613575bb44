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

    /// What is in a file that was recorded as complete.
    enum Content: Sendable { case right, damaged, wrongFromServer }

    /// The files of an attempt.
    struct Data {
        /// The records of its ledger: files of the shard, in the order in which they were completed.
        var records: [(item: Int, content: Content, at: Double)] = []
        /// The files that earlier attempts have completed.
        var earlier: Set<Int>
        /// The process that writes here; only it may.
        var owner: Int
        /// The progress that it has recorded, and when.
        var beat: Int64 = 1
        var lastBeat: Double
        /// Whether its unfinished part was moved away.
        var isMoved = false
    }

    struct Mark {
        var owner: Int
        /// For `done`: the earlier attempts whose files count.
        var sources: [Int] = []
        /// For `void`: the paths of the files that are wrong.
        var paths: [String] = []
    }

    /// A process: a worker, or a finishing if its only shard is that of the finishing.
    final class Process {
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
        /// What its finishing decides, and its last action.
        var finisher: (rules: FleetFinisher, action: FleetFinisher.Action)?
        /// The file whose content it has verified, and whether all of it was right.
        var verified: (file: Int, isJoined: Bool, isRight: Bool)?

        init(_ id: Int, _ shards: [Int], isIndexed: Bool, machine: Int, next: Double) {
            worker = FleetWorker(shards, isIndexed: isIndexed)
            (self.id, self.shards, self.isIndexed) = (id, shards, isIndexed)
            (self.machine, self.next) = (machine, next)
        }
    }

    var random: SplitMix64
    let shards: Int
    /// The files of each shard, and ranges of them, and the versions that its records have.
    let items: [[FleetFinisher.Item]]
    let versions: [[String?]]
    /// The number of files of the plan.
    let files: Int
    var marks: [FleetMark: Mark] = [:]
    /// All marks, and those that each machine sees.
    private(set) var all = FleetBoard()
    private var boards: [Int: (board: FleetBoard, seen: Int)] = [:]
    private var order: [(mark: FleetMark, at: Double, machine: Int)] = []
    var data: [FleetMark: Data] = [:]
    /// The files that are in their place, and those whose names have another file from the start.
    var published: Set<Int> = []
    let foreign: Set<Int>
    var hasVoid = false
    private(set) var processes: [Process] = []
    private(set) var now = 0.0
    /// Whether files are damaged, and servers fail; the end of each story is good.
    private(set) var isBad = true
    private var names = 0
    /// The steps of finishings so far, and the one at which the process is killed.
    var finishSteps = 0
    let lastFinishStep: Int
    /// Whether finished files must be copied to their place.
    let needsCopies: Bool
    /// The longest time for which another machine sees an old list or file, in seconds.
    let staleness: Double
    let lossOfReply: Double
    private let death: Double
    let failure: Double
    let damage: Double

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        shards = Int.random(in: 1...6, using: &random)
        // Some shards take longer than an idle attempt is left alone.
        let most = Int.random(in: 0..<20, using: &random) == 0 ? 100 : 8
        (items, files) = Self.plan(
            shards, of: Int.random(in: 1...most, using: &random),
            hasRanges: Bool.random(using: &random))
        versions = items.map { $0.map { PlanFormat.hex($0.file.version) } }
        let hasForeign = Int.random(in: 0..<8, using: &random) == 0
        foreign = hasForeign ? [Int.random(in: 0..<files, using: &random)] : []
        lastFinishStep = Int.random(in: 0..<60, using: &random)
        needsCopies = Int.random(in: 0..<4, using: &random) == 0
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

    mutating func chance(_ probability: Double) -> Bool {
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
            guard steps < 20_000 else { throw Broken(text: "the story does not end") }
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
        guard isFinished else { throw Broken(text: "files were not published") }
    }

    /// Whether all files are in their place, as far as they can be.
    private var isFinished: Bool { published.union(foreign).count == files }

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
    mutating func die(_ index: Int) {
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
    mutating func board(on machine: Int) -> FleetBoard {
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
            if isFinish ? !isFinished : ending != .done { again(process) }
            // Somebody reads that files are wrong, and starts a worker.
            if isFinish, hasVoid,
                !processes.contains(where: { $0.isAlive && $0.shards != process.shards })
            {
                start(Array(0..<shards), isIndexed: false, machine: 50)
            }
        case .none, .stop: throw Broken(text: "a worker does nothing")
        }
    }

    mutating func perform(_ index: Int, _ event: FleetWorker.Event) {
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

    mutating func add(_ mark: FleetMark, _ content: Mark, _ machine: Int) {
        marks[mark] = content
        all.add(mark)
        order.append((mark, now, machine))
    }

    var lastSources: [Int: [Int]] = [:]

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
        guard let found,
            found.earlier.union(found.records.map(\.item)).count == items[mark.shard].count
        else {
            throw Broken(text: "an incomplete shard is marked as done")
        }
    }
}
