/// A second, slow and simple implementation of the rules of a queue, to compare `QueueMachine`
/// with.
///
/// It is written from the description of the rules alone. The order is that of an array, and each
/// rule is a loop over it.
struct QueueModel {
    enum Phase: Hashable {
        case waiting, running, verifying, retrying, away, completed, failed, cancelled
    }
    enum Download: Hashable { case none, on, stopping }
    enum Chore: Hashable { case none, discard, remove, move }
    /// The reason why a task was started.
    enum Reason: String { case turn, claim, byHand, goesOn, asksForNetwork }
    enum Failure: Hashable { case again(Double), later(Double), forGood }

    struct Task {
        var number: Int
        var host: String
        var isHeld = false
        var phase = Phase.waiting
        var download = Download.none
        var chore = Chore.none
        /// The task keeps its slot during a stop or a chore, and is then restarted.
        var isToGoOn = false
        var hasFirstClaim = false
        var attempts = 0
        var hasProblem = false
        var slotSince = 0.0
        /// The time of the next attempt on the boot clock of this worker.
        var retryBoot = 0.0
        /// The recorded time of the next attempt, on the wall clock.
        var retryWall = 0.0
        var awaySince = 0.0

        var hasSlot: Bool { phase == .running || phase == .verifying }
        var isOver: Bool { phase == .completed || phase == .failed || phase == .cancelled }
        var isLeft: Bool { download != .none || chore != .none }
    }

    var limit: Int
    /// Whether the whole queue is paused.
    var isPaused = false
    /// The tasks that have not ended, in queue order.
    var line: [Task] = []
    /// The tasks that have ended.
    var over: [Task] = []
    var (begun, stopped, chores): ([(Int, Reason)], Set<Int>, Set<Int>) = ([], [], [])
    var (boot, wall) = (0.0, 0.0)

    init(limit: Int) { self.limit = limit }

    subscript(number: Int) -> Task? {
        line.first { $0.number == number } ?? over.first { $0.number == number }
    }

    var slots: Int { line.filter(\.hasSlot).count }

    /// Changes a task; if it ends it leaves the line, and if it starts over it is the last.
    mutating func change(_ number: Int, _ body: (inout Task) -> Void) {
        if let index = line.firstIndex(where: { $0.number == number }) {
            body(&line[index])
            if line[index].isOver { over.append(line.remove(at: index)) }
        } else if let index = over.firstIndex(where: { $0.number == number }) {
            body(&over[index])
            if !over[index].isOver { line.append(over.remove(at: index)) }
        }
    }

    private mutating func stopDownload(_ number: Int) {
        guard self[number]?.download == .on else { return }
        change(number) { $0.download = .stopping }
        stopped.insert(number)
    }

    private mutating func begin(_ number: Int, _ reason: Reason) {
        change(number) { $0.download = .on }
        begun.append((number, reason))
    }

    /// Gives a slot to a task, which starts, or restarts once its stop or chore has ended.
    private mutating func giveSlot(_ number: Int, _ reason: Reason) {
        change(number) { [boot] task in
            task.phase = .running
            task.slotSince = boot
            task.hasFirstClaim = false
        }
        guard let task = self[number] else { return }
        if task.isLeft {
            change(number) { $0.isToGoOn = true }
        } else {
            begin(number, reason)
        }
    }

    private mutating func takeSlot(_ number: Int) {
        change(number) { task in
            task.phase = .waiting
            task.isToGoOn = false
        }
        stopDownload(number)
    }

    mutating func settle() {
        if isPaused {
            // Running tasks come first afterwards; verifying tasks are not stopped, because they
            // download nothing.
            for task in line where task.phase == .running {
                takeSlot(task.number)
                change(task.number) { $0.hasFirstClaim = true }
            }
            for task in line where task.phase == .away { stopDownload(task.number) }
            return
        }
        // After a lowered limit, the newest tasks stop, except verifying ones.
        while slots > limit {
            let running = line.filter { $0.phase == .running }
            guard let since = running.map(\.slotSince).max(),
                let newest = running.last(where: { $0.slotSince == since })
            else { break }
            takeSlot(newest.number)
        }
        let awayHosts = line.filter { $0.phase == .away }.map(\.host)
        while slots < limit {
            let able = line.filter { task in
                task.phase == .waiting && !task.isHeld && !task.isLeft
                    && !awayHosts.contains(task.host)
            }
            if let first = able.first(where: \.hasFirstClaim) {
                giveSlot(first.number, .claim)
            } else if let first = able.first {
                giveSlot(first.number, .turn)
            } else {
                break
            }
        }
        for task in line where task.phase == .away && !task.isLeft {
            let asks = line.contains {
                $0.phase == .away && $0.host == task.host && $0.download != .none
            }
            if !asks { begin(task.number, .asksForNetwork) }
        }
    }

    // MARK: Commands

    mutating func add(_ task: Task, at index: Int) {
        over.removeAll { $0.number == task.number }
        line.insert(task, at: min(index, line.count))
    }

    mutating func start(_ numbers: [Int]) {
        var unlucky: [Int] = []
        for number in numbers {
            guard let task = self[number], !task.isOver, task.chore != .remove, !task.hasSlot
            else { continue }
            change(number) { task in
                task.isHeld = false
                task.attempts = 0
            }
            // The task already probes its host.
            if task.phase == .away, task.download == .on { continue }
            if slots >= limit, !isPaused {
                let others = line.filter { $0.phase == .running && !numbers.contains($0.number) }
                if let since = others.map(\.slotSince).min(),
                    let longest = others.first(where: { $0.slotSince == since })
                {
                    takeSlot(longest.number)
                    move([longest.number], before: 0)
                }
            }
            if slots < limit, !isPaused {
                giveSlot(number, .byHand)
            } else {
                unlucky.append(number)
            }
        }
        for number in unlucky {
            change(number) { task in
                task.phase = .waiting
                task.hasFirstClaim = true
            }
        }
        move(unlucky, before: 0)
    }

    mutating func pause(_ number: Int) {
        guard let task = self[number], !task.isOver, task.chore != .remove, !task.isHeld
        else { return }
        change(number) { task in
            task.isHeld = true
            task.phase = .waiting
            (task.isToGoOn, task.hasFirstClaim) = (false, false)
        }
        stopDownload(number)
    }

    mutating func resume(_ number: Int) {
        guard let task = self[number], !task.isOver, task.chore != .remove, task.isHeld
        else { return }
        change(number) { task in
            task.isHeld = false
            task.attempts = 0
            task.hasProblem = false
        }
    }

    mutating func retry(_ number: Int) {
        guard let task = self[number], task.chore != .remove, task.download != .on else { return }
        guard [.retrying, .away, .failed, .cancelled].contains(task.phase) else { return }
        change(number) { task in
            task.isHeld = false
            task.phase = .waiting
            task.attempts = 0
            task.hasProblem = false
        }
    }

    mutating func cancel(_ number: Int) {
        guard let task = self[number], task.phase == .failed || !task.isOver else { return }
        stopDownload(number)
        change(number) { task in
            task.phase = .cancelled
            task.isHeld = false
            task.chore = .discard
            task.hasProblem = false
            (task.isToGoOn, task.hasFirstClaim) = (false, false)
        }
        if task.download == .none { chores.insert(number) }
    }

    mutating func remove(_ number: Int) {
        guard let task = self[number] else { return }
        stopDownload(number)
        change(number) { task in
            task.chore = .remove
            (task.isToGoOn, task.hasFirstClaim) = (false, false)
            guard !task.isOver else { return }
            task.phase = .waiting
            task.isHeld = true
        }
        if task.download == .none { chores.insert(number) }
    }

    mutating func moveFiles(_ number: Int) {
        guard let task = self[number] else { return }
        change(number) { $0.chore = .move }
        restartDownload(number)
        if task.download == .none { chores.insert(number) }
    }

    mutating func restartDownload(_ number: Int) {
        guard let task = self[number], task.download == .on else { return }
        change(number) { task in
            task.isToGoOn = task.hasSlot
            if task.hasSlot { task.phase = .running }
        }
        stopDownload(number)
    }

    mutating func move(_ numbers: [Int], before index: Int) {
        let moved = numbers.compactMap { number in line.first { $0.number == number } }
        line.removeAll { numbers.contains($0.number) }
        line.insert(contentsOf: moved, at: min(index, line.count))
    }

    mutating func changeHost(_ number: Int, to host: String) {
        change(number) { $0.host = host }
        restartDownload(number)
    }
}
