import TestSupport
import Testing

@testable import SeggetQueue

/// A machine and a model that receive the same random commands and events.
private struct Pair {
    var desk: MachineDesk
    var model: QueueModel
    var random: SplitMix64
    var log: [String] = []
    var added = 0
    /// The situations of all tasks until now.
    var seen: Set<Cell> = []

    struct Cell: Hashable {
        var wanted: TaskStatus.Wanted
        var state: String
        var fetching: QueueMachine.Entry.Fetching
        var chore: QueueTask.Chore?
    }

    static let hosts = ["a", "b", "c"]

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        let limit = Int.random(in: 1...3, using: &random)
        desk = MachineDesk(limit)
        model = QueueModel(limit: limit)
    }

    mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }
    mutating func host() -> String { Self.hosts[below(Self.hosts.count)] }

    var all: [Int] { (model.line + model.over).map(\.number).sorted() }
    mutating func any() -> Int? { all.randomElement(using: &random) }

    /// Applies a change to both at the same time.
    mutating func both(
        _ words: String, _ machine: (inout MachineDesk) -> Void,
        _ change: (inout QueueModel) -> Void
    ) {
        log.append(words)
        (model.begun, model.stopped, model.chores) = ([], [], [])
        machine(&desk)
        (model.boot, model.wall) = (desk.now.boot, desk.now.wall)
        change(&model)
    }

    // MARK: Step

    mutating func step() {
        switch below(20) {
        case 0, 1: add()
        case 2...8: command()
        case 9...15: event()
        case 16: doChore()
        case 17, 18: pass()
        default:
            switch below(8) {
            case 0, 1: restart()
            case 2, 3, 4: limit()
            default: pauseAll(!model.isPaused)
            }
        }
    }

    mutating func add() {
        guard all.count < 12 else { return }
        added += 1
        var task = QueueModel.Task(number: added, host: host())
        task.isHeld = oneIn(5)
        let (position, index) = place()
        both(
            "add \(task.number) at \(position)",
            { desk in
                desk.add(task.number, host: task.host, isHeld: task.isHeld, at: position)
                let begun = desk.actions
                desk.settle()
                desk.actions = begun + desk.actions
            },
            { model in
                model.add(task, at: index)
                model.settle()
            })
    }

    mutating func place() -> (QueuePosition, Int) {
        switch below(4) {
        case 0: return (.first, 0)
        case 1: return (.last, .max)
        default:
            let number = below(6)
            return (.at(number), max(0, number - 1))
        }
    }

    mutating func command() {
        guard let number = any() else { return }
        let chore = model[number]?.chore ?? .none
        switch below(12) {
        case 0, 1:
            let numbers = Array(Set([number] + (0..<below(3)).compactMap { _ in any() })).shuffled(
                using: &random)
            both(
                "start \(numbers)",
                { desk in
                    desk.command { m, now in _ = m.start(numbers.map { .number($0) }, now) }
                },
                { model in
                    model.start(numbers)
                    model.settle()
                })
        case 2:
            both("pause \(number)", { $0.pause(number) }) { model in
                model.pause(number)
                model.settle()
            }
        case 3, 4:
            both("resume \(number)", { $0.resume(number) }) { model in
                model.resume(number)
                model.settle()
            }
        case 5, 6: retry(number)
        case 7 where chore == .none:
            takeIn(number)
            both("cancel \(number)", { $0.cancel(number) }) { model in
                model.cancel(number)
                model.settle()
            }
        case 8 where chore == .none && oneIn(2):
            takeIn(number)
            both("remove \(number)", { $0.remove(number) }) { model in
                model.remove(number)
                model.settle()
            }
        case 9 where chore == .none && model[number]?.phase != .cancelled:
            takeIn(number)
            both("rename \(number)", { $0.moveFiles(number) }) { model in
                model.moveFiles(number)
                model.settle()
            }
        case 10:
            let other = host()
            both(
                "fetch \(number) from \(other)",
                { desk in
                    desk.records[number]?.host = other
                    desk.command { machine, _ in
                        machine.changeHost(.number(number), to: other)
                        machine.restart(.number(number))
                    }
                },
                { model in
                    model.changeHost(number, to: other)
                    model.settle()
                })
        default:
            let numbers = model.line.map(\.number).filter { _ in oneIn(3) }
            let (position, index) = place()
            both(
                "move \(numbers) to \(position)",
                { desk in
                    desk.command { m, _ in _ = m.move(numbers.map { .number($0) }, to: position) }
                },
                { model in
                    model.move(numbers, before: index)
                    model.settle()
                })
        }
    }

    /// Adds a recorded task that has ended to the machine.
    mutating func takeIn(_ number: Int) {
        guard desk.entry(number) == nil, let record = desk.records[number] else { return }
        desk.insert(number, record)
    }

    mutating func retry(_ number: Int) {
        guard let task = model[number] else { return }
        if task.isOver, !task.isLeft, task.phase != .completed {
            let task = QueueModel.Task(number: number, host: task.host)
            both(
                "begin anew with \(number)",
                { desk in
                    desk.add(number, host: task.host)
                    desk.settle()
                },
                { model in
                    model.add(task, at: .max)
                    model.settle()
                })
        } else {
            both("retry \(number)", { $0.retry(number) }) { model in
                model.retry(number)
                model.settle()
            }
        }
    }

    mutating func event() {
        guard let number = desk.runs.keys.sorted().randomElement(using: &random) else { return }
        if desk.runs[number] == .stopping, oneIn(2) {
            both("\(number) has stopped", { $0.end(number, .stopped) }) {
                $0.stoppedDownload(number)
            }
            return
        }
        let isAway = model[number]?.phase == .away
        switch below(10) {
        case 0, 1: both("\(number) is away", { $0.lose(number) }) { $0.networkLost(number) }
        case 2, 3: both("\(number) is back", { $0.find(number) }) { $0.networkBack(number) }
        case 4 where !isAway:
            let isVerifying = !oneIn(4)
            both("\(number) verifies: \(isVerifying)", { $0.verify(number, isVerifying) }) {
                $0.verifying(number, isVerifying)
            }
        case 5 where !isAway:
            both("\(number) brings bytes", { $0.progress(number) }) { $0.progressed(number) }
        case 6: both("\(number) is complete", { $0.end(number) }) { $0.completed(number) }
        case 7:
            let seconds = Double(below(100))
            both(
                "\(number) fails, again after \(seconds)",
                { $0.end(number, .failed(.retry(after: seconds), .some)) },
                { $0.failed(number, .again(seconds)) })
        case 8:
            both("\(number) finds no space", { $0.end(number, .failed(.wait(60), .some)) }) {
                $0.failed(number, .later(60))
            }
        case 9 where oneIn(2):
            both("\(number) fails", { $0.end(number, .failed(.fail, .some)) }) {
                $0.failed(number, .forGood)
            }
        default: both("\(number) ends", { $0.end(number, .stopped) }) { $0.stoppedDownload(number) }
        }
    }

    mutating func doChore() {
        guard let number = desk.chores.sorted().randomElement(using: &random) else { return }
        let isRemoved = model[number]?.chore == .remove && !oneIn(8)
        both("chore of \(number)", { $0.chore(number, isRemoved: isRemoved) }) {
            $0.choreDone(number, isRemoved: isRemoved)
        }
    }

    mutating func pass() {
        let seconds = Double(below(120))
        // The wall clock is set.
        if oneIn(5) { desk.now.wall += Double(below(400_000) - 200_000) }
        both("\(seconds) s pass", { $0.tick(after: seconds) }) { $0.tick() }
    }

    mutating func limit() {
        let limit = 1 + below(4)
        both("at most \(limit)", { $0.limit(limit) }) { model in
            model.limit = limit
            model.settle()
        }
    }

    mutating func pauseAll(_ isPaused: Bool) {
        both("paused: \(isPaused)", { $0.pauseAll(isPaused) }) { model in
            model.isPaused = isPaused
            model.settle()
        }
    }

    /// Kills the worker; the next one has its records and new clocks.
    mutating func restart() {
        let isReboot = oneIn(2)
        both("the worker is killed", { $0 = $0.afterRestart(isReboot: isReboot) }) {
            $0.restartWorker()
        }
    }

    /// Ends a pause of the queue, and finishes all tasks that can run.
    mutating func finish() -> Bool {
        pauseAll(false)
        if difference() != nil { return false }
        for _ in 0..<1000 {
            if let number = desk.chores.min() {
                let isRemoved = model[number]?.chore == .remove
                both("chore of \(number)", { $0.chore(number, isRemoved: isRemoved) }) {
                    $0.choreDone(number, isRemoved: isRemoved)
                }
            } else if let (number, run) = desk.runs.sorted(by: { $0.key < $1.key }).first {
                if run == .stopping {
                    both("\(number) has stopped", { $0.end(number, .stopped) }) {
                        $0.stoppedDownload(number)
                    }
                } else {
                    both("\(number) is complete", { $0.end(number) }) { $0.completed(number) }
                }
            } else if desk.machine.nextDue < .infinity {
                let seconds = max(0, desk.machine.nextDue - desk.now.boot)
                both("\(seconds) s pass", { $0.tick(after: seconds) }) { $0.tick() }
            } else {
                return true
            }
            if difference() != nil { return false }
        }
        return false
    }

    // MARK: Comparison

    /// Returns a difference between machine and model, or a broken rule; `nil` if there is none.
    mutating func difference() -> String? {
        if let mistake = desk.mistakes.first { return mistake }
        let order = model.line.map(\.number)
        let places = order.indices.map { desk.machine.place(of: .number(order[$0])) }
        if places != order.indices.map({ $0 + 1 }) { return "the places are \(places)" }
        if desk.order != order { return "the order is \(desk.order), not \(order)" }
        let begun = model.begun.map { "begin \($0.0)" }
        if desk.actions.filter({ $0.hasPrefix("begin") }) != begun {
            return "it asks for \(desk.actions), not for \(model.begun.map { "\($0) (\($1))" })"
        }
        for (word, numbers) in [("stop", model.stopped), ("chore", model.chores)] {
            let asked = desk.actions.filter { $0.hasPrefix(word) }.sorted()
            let wanted = numbers.map { "\(word) \($0)" }.sorted()
            if asked != wanted { return "it asks for \(asked), not for \(wanted)" }
        }
        for task in model.line + model.over {
            guard let record = desk.records[task.number] else {
                return "\(task.number) is not recorded"
            }
            let entry = desk.entry(task.number)
            if let entry, entry.status != record.status || entry.chore != record.chore {
                return "\(task.number) is recorded as \(record), but is \(entry)"
            }
            let (facts, expected) = (Facts(record, entry), Facts(task))
            if facts != expected { return "\(task.number) is \(facts), not \(expected)" }
        }
        let due = model.line.filter { $0.phase == .retrying }.map(\.retryBoot).min() ?? .infinity
        if desk.machine.nextDue != due { return "due at \(desk.machine.nextDue), not \(due)" }
        return invariant()
    }

    /// The compared properties of a task.
    private struct Facts: Equatable {
        var wanted: TaskStatus.Wanted
        var state: TaskStatus.State
        var hasProblem: Bool
        var attempts: Int
        var fetching: QueueModel.Download
        var chore: QueueModel.Chore
        var claims: Bool
        var goesOn: Bool

        init(_ record: MachineDesk.Record, _ entry: QueueMachine.Entry?) {
            (wanted, state) = (record.status.wanted, record.status.state)
            (hasProblem, attempts) = (record.status.problem != nil, record.status.attempts)
            fetching =
                switch entry?.fetching {
                case .on: .on
                case .stopping: .stopping
                default: .none
                }
            chore =
                switch record.chore {
                case nil: .none
                case .discard: .discard
                case .move: .move
                case .remove: .remove
                }
            (claims, goesOn) = (entry?.hasClaim ?? false, entry?.goesOn ?? false)
        }

        init(_ task: QueueModel.Task) {
            wanted = task.isHeld ? .paused : .run
            state =
                switch task.phase {
                case .waiting: .waiting
                case .running: .running
                case .verifying: .verifying
                case .retrying: .retrying(at: task.retryWall)
                case .away: .waitingForNetwork(since: task.awaySince)
                case .completed: .completed
                case .failed: .failed
                case .cancelled: .cancelled
                }
            (hasProblem, attempts) = (task.hasProblem, task.attempts)
            (fetching, chore) = (task.download, task.chore)
            (claims, goesOn) = (task.hasFirstClaim, task.isToGoOn)
        }
    }

    /// Returns a broken invariant; it needs no model.
    mutating func invariant() -> String? {
        let entries = desk.machine.entries.values
        let verifying = entries.filter { $0.status.state == .verifying }.count
        let slots = entries.filter(\.status.hasSlot).count
        if slots > max(desk.machine.maxRunning, verifying) { return "\(slots) have slots" }
        let away = Set(entries.filter(\.isAway).map(\.host))
        let isPaused = desk.machine.isPaused
        for entry in entries {
            let number = entry.id.number
            let cell = Cell(
                wanted: entry.status.wanted, state: entry.status.state.word.rawValue,
                fetching: entry.fetching, chore: entry.chore)
            if seen.insert(cell).inserted {
                let words = MachineSituation.words(entry)
                let parts = words.split(separator: " ").map(String.init)
                if let reason = MachineSituation.whyNot(parts[0], parts[1], parts[2], parts[3]) {
                    return "\(number) is \(words): \(reason)"
                }
            }
            if (entry.fetching == .on) != (desk.runs[number] == .on)
                || (entry.fetching == .stopping) != (desk.runs[number] == .stopping)
            {
                return "\(number) is fetched: \(entry.fetching), \(desk.runs[number] as Any)"
            }
            if entry.status.wanted == .paused, entry.status.hasSlot || entry.fetching == .on {
                return "\(number) is held and fetched"
            }
            if entry.chore != nil, entry.fetching == .none, !desk.chores.contains(number) {
                return "nobody does the chore of \(number)"
            }
            if entry.status.hasSlot, entry.fetching == .none, entry.chore == nil {
                return "\(number) has a slot, and nothing fetches it"
            }
            if isPaused, entry.fetching == .on, entry.status.state != .verifying {
                return "\(number) is fetched while nothing may be"
            }
            if !isPaused, slots < desk.machine.maxRunning, entry.status.state == .waiting,
                entry.status.wanted == .run, entry.fetching == .none, entry.chore == nil,
                !away.contains(entry.host)
            {
                return "\(number) waits, and a slot is free"
            }
        }
        for host in isPaused ? [] : away
        where !entries.contains(where: {
            $0.isAway && $0.host == host && ($0.fetching != .none || $0.chore != nil)
        }) {
            return "nobody asks for \(host)"
        }
        return nil
    }
}

struct QueueModelTests {
    @Test(arguments: [UInt64](0..<8)) func matchesModel(part: UInt64) {
        for seed in part * 100..<(part + 1) * 100 {
            var pair = Pair(seed: seed)
            for step in 0..<120 {
                pair.step()
                if let difference = pair.difference() {
                    Issue.record("seed \(seed), step \(step): \(difference)\n\(pair.log)")
                    return
                }
            }
            guard pair.finish() else {
                Issue.record(
                    "seed \(seed) comes to no end: \(pair.difference() ?? "")\n\(pair.log)")
                return
            }
            for task in pair.model.line + pair.model.over {
                let isDone = task.isHeld || task.isOver
                #expect(isDone, "seed \(seed): \(task.number) is \(task.phase)\n\(pair.log)")
            }
        }
    }
}
