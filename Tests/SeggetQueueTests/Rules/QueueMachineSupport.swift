import Segmenter

@testable import SeggetQueue

extension QueueTask.ID {
    /// Returns the id whose last hexadecimal digits are a number.
    static func number(_ number: Int) -> Self {
        let digits = String(number, radix: 16)
        guard let id = Self(String(repeating: "0", count: 16 - digits.count) + digits) else {
            preconditionFailure("\(number) has too many digits")
        }
        return id
    }

    /// The number of an id that ``number(_:)`` has returned.
    var number: Int { Int(description, radix: 16) ?? -1 }
}

extension TaskProblem {
    static let some = TaskProblem(kind: "reset", message: "was reset", hint: "wait", code: 69)
}

extension QueueTask.Place {
    static let old = QueueTask.Place(root: "/old", name: "old.bin")
}

/// A machine with a simulated caller: clocks, running downloads and chores.
///
/// Wrong actions of the machine are collected in ``mistakes``.
struct MachineDesk {
    enum Run: Hashable { case on, stopping }

    var machine: QueueMachine
    var now = QueueMachine.Moment(wall: 1_000_000, boot: 1000)
    /// The download of each task, according to the actions.
    var runs: [Int: Run] = [:]
    /// The tasks with a chore in progress.
    var chores: Set<Int> = []
    /// The actions of the last call, such as `begin 3`.
    var actions: [String] = []
    /// The actions that the machine must never return.
    var mistakes: [String] = []
    /// The records of the caller.
    var records: [Int: Record] = [:]

    struct Record: Hashable {
        var status: TaskStatus
        var chore: QueueTask.Chore?
        var host: String
    }

    init(_ maxRunning: Int) { machine = QueueMachine(maxRunning: maxRunning) }

    /// Appends waiting tasks, and settles.
    mutating func add(_ numbers: ClosedRange<Int>, host: String = "a", isHeld: Bool = false) {
        for number in numbers { add(number, host: host, isHeld: isHeld) }
        settle()
    }

    mutating func add(
        _ number: Int, host: String = "a", isHeld: Bool = false, at position: QueuePosition = .last
    ) {
        var status = TaskStatus()
        if isHeld { status.wanted = .paused }
        let entry = QueueMachine.Entry(id: .number(number), status: status, host: host)
        call { $0.insert(entry, at: position, $1) }
    }

    /// Adds a recorded task.
    mutating func insert(_ number: Int, _ record: Record) {
        let entry = QueueMachine.Entry(
            id: .number(number), status: record.status, host: record.host, chore: record.chore)
        records[number] = record
        call { $0.insert(entry, $1) }
    }

    mutating func settle() { call { $0.settle($1) } }

    /// Runs a command, and settles, as a worker does.
    mutating func command(_ body: (inout QueueMachine, QueueMachine.Moment) -> Void) {
        call { machine, now in
            body(&machine, now)
            machine.settle(now)
        }
    }

    mutating func start(_ numbers: Int...) {
        command { machine, now in _ = machine.start(numbers.map { .number($0) }, now) }
    }
    mutating func pause(_ number: Int) { command { m, _ in _ = m.pause(.number(number)) } }
    mutating func resume(_ number: Int) { command { m, _ in _ = m.resume(.number(number)) } }
    mutating func retry(_ number: Int) { command { m, _ in _ = m.retry(.number(number)) } }
    mutating func cancel(_ number: Int) { command { m, _ in _ = m.cancel(.number(number)) } }
    mutating func remove(_ number: Int, files: Bool = false) {
        command { m, _ in m.remove(.number(number), files: files) }
    }
    mutating func moveFiles(_ number: Int) {
        command { m, _ in m.moveFiles(.number(number), from: .old) }
    }
    mutating func restart(_ number: Int) { command { m, _ in m.restart(.number(number)) } }
    mutating func move(_ numbers: Int..., to position: QueuePosition) {
        command { m, _ in _ = m.move(numbers.map { .number($0) }, to: position) }
    }
    mutating func limit(_ count: Int) { call { $0.limit(to: count, $1) } }
    mutating func pauseAll(_ isPaused: Bool) { call { $0.pause(isPaused, $1) } }
    mutating func lose(_ number: Int) { call { $0.networkLost(.number(number), $1) } }
    mutating func find(_ number: Int) { call { $0.networkBack(.number(number), $1) } }
    mutating func verify(_ number: Int, _ isVerifying: Bool = true) {
        call { machine, _ in machine.verifying(.number(number), isVerifying) }
    }
    mutating func progress(_ number: Int) {
        call { machine, _ in machine.progressed(.number(number)) }
    }
    mutating func tick(after seconds: Double = 0) {
        now.boot += seconds
        now.wall += seconds
        call { $0.tick($1) }
    }

    /// Ends the download of a task.
    mutating func end(_ number: Int, _ ending: QueueMachine.Ending = .completed) {
        if runs.removeValue(forKey: number) == nil { mistakes.append("no download \(number)") }
        call { $0.ended(.number(number), ending, $1) }
    }

    /// Ends a chore; `isRemoved` is false if a task could not be removed.
    mutating func chore(_ number: Int, isRemoved: Bool? = nil) {
        if chores.remove(number) == nil { mistakes.append("no chore \(number)") }
        let isRemoved = isRemoved ?? (machine.entries[.number(number)]?.isRemoved == true)
        if isRemoved { records[number] = nil }
        call { $0.choreDone(.number(number), isRemoved: isRemoved, $1) }
    }

    /// Calls the machine one second after the last call, records the changes, and applies the
    /// actions.
    mutating func call(_ body: (inout QueueMachine, QueueMachine.Moment) -> Void) {
        now.wall += 1
        now.boot += 1
        body(&machine, now)
        for id in machine.takeChanged() {
            guard let entry = machine.entries[id] else { continue }
            records[id.number] = Record(
                status: entry.status, chore: entry.chore, host: entry.host)
        }
        actions = machine.takeActions().map { carryOut($0) }
    }

    /// Returns the next worker after this one was killed, with its records, and after a reboot if
    /// requested.
    func afterRestart(isReboot: Bool = false) -> Self {
        var next = Self(machine.maxRunning)
        next.now = now
        if isReboot { next.now.boot = 5 }
        (next.records, next.mistakes) = (records, mistakes)
        let lines = records.sorted { $0.value.status.position < $1.value.status.position }
        next.call { machine, now in
            for (number, record) in lines where !record.status.isEnded || record.chore != nil {
                let entry = QueueMachine.Entry(
                    id: .number(number), status: record.status, host: record.host,
                    chore: record.chore)
                machine.insert(entry, now)
            }
            machine.settle(now)
        }
        return next
    }

    private mutating func carryOut(_ action: QueueMachine.Action) -> String {
        switch action {
        case .begin(let id):
            let number = id.number
            if runs[number] != nil { mistakes.append("begin \(number) twice") }
            if chores.contains(number) || machine.entries[id]?.chore != nil {
                mistakes.append("begin \(number) with a chore")
            }
            if machine.entries[id]?.status.wanted == .paused {
                mistakes.append("begin \(number), which is held")
            }
            runs[number] = .on
            return "begin \(number)"
        case .stop(let id):
            if runs[id.number] != .on { mistakes.append("stop \(id.number), which is not on") }
            if runs[id.number] != nil { runs[id.number] = .stopping }
            return "stop \(id.number)"
        case .doChore(let id):
            if runs[id.number] != nil { mistakes.append("chore \(id.number) while it is fetched") }
            if !chores.insert(id.number).inserted { mistakes.append("chore \(id.number) twice") }
            return "chore \(id.number)"
        }
    }

    // MARK: State

    func entry(_ number: Int) -> QueueMachine.Entry? { machine.entries[.number(number)] }
    func state(_ number: Int) -> TaskStatus.State? {
        entry(number)?.status.state ?? records[number]?.status.state
    }
    func wanted(_ number: Int) -> TaskStatus.Wanted? {
        entry(number)?.status.wanted ?? records[number]?.status.wanted
    }
    /// The tasks with a slot, in queue order.
    var running: [Int] { order.filter { entry($0)?.status.hasSlot == true } }
    /// The tasks that have not ended, in queue order.
    var order: [Int] { machine.order.map(\.number) }
}

extension TaskStatus.State {
    /// The words of all states; `paused` is not a state but the user's wish.
    static let words = TaskStatus.Word.all.filter { $0 != .paused }.map(\.rawValue)
}
