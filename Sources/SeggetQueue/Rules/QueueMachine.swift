// Rules: who runs, waits, is tried again and ends, and what becomes of a queue after a crash. It decides, and is
// pure: time is an argument. It never knows a database, a file or a request.

import Segmenter

/// Who of a queue's tasks runs, waits, is tried again, and ends.
///
/// Pure: commands and events in, actions out; `docs/queue.md` has the rules and where they come from. It holds the
/// tasks that have not ended, and those of which something is still to be done on the disk. After each call the
/// caller carries out ``takeActions()`` in order, and records the tasks of ``takeChanged()``.
struct QueueMachine {
    /// A moment on two clocks.
    struct Moment: Sendable, Hashable {
        /// Seconds since 1970: what is recorded and shown.
        ///
        /// It may jump.
        var wall: Double
        /// Seconds since the machine was started, suspended or not: what decides.
        var boot: Double
    }

    /// What is to be done.
    enum Action: Sendable, Hashable {
        /// Begin to fetch; ``ended(_:_:_:)`` is called when that is over.
        case begin(QueueTask.ID)
        /// Stop fetching in order.
        case stop(QueueTask.ID)
        /// Do on the disk what the task's chore says, then call ``choreDone(_:_:)``. Nobody fetches it meanwhile.
        case doChore(QueueTask.ID)
    }

    /// How a fetch ended.
    enum Ending: Sendable, Hashable {
        /// The file is complete and published.
        case completed
        /// It was stopped.
        case stopped
        /// It failed, and this is to be done about it.
        case failed(FailureStep, TaskProblem)
    }

    /// What is to be done about a failure.
    enum FailureStep: Sendable, Hashable {
        /// Try again after so many seconds; one attempt more.
        case retry(after: Double)
        /// Try again after so many seconds, without end: what is in the way is on this machine.
        case wait(Double)
        /// Nothing: it has failed.
        case fail
    }

    /// A task, as far as the rules go.
    struct Entry: Sendable, Hashable {
        /// What fetches it.
        enum Fetching: Sendable, Hashable {
            /// Nothing.
            case none
            /// A download, in a slot or, while the network is away, outside of all.
            case on
            /// A download that was told to stop.
            case stopping
        }

        var id: QueueTask.ID
        var status: TaskStatus
        /// Host and port that it is fetched from first.
        var host: String
        var chore: QueueTask.Chore?
        var fetching = Fetching.none
        /// Whether it goes on in its slot once what fetches it has stopped.
        var goesOn = false
        /// Whether it comes before all that have none when a slot is free.
        var hasClaim = false
        /// When it got its slot, on the boot clock.
        var slotSince = 0.0
        /// When it is tried again, on the boot clock.
        var due = Double.infinity

        /// Whether a free slot may be given to it.
        var isReady: Bool {
            status.state == .waiting && status.wanted == .run && fetching == .none && chore == nil
        }
        /// Whether the network is away, and waited for.
        var isAway: Bool {
            if case .waitingForNetwork = status.state { true } else { false }
        }
        /// Whether it has ended, and nothing is left to be done about it.
        var isOver: Bool { status.isEnded && fetching == .none && chore == nil }
        /// Whether its record is to go.
        var isRemoved: Bool { if case .remove? = chore { true } else { false } }
    }

    /// Most hosts that are asked at a time whether the network is back.
    static let mostCanaries = 64
    /// What lies between two tasks in the order, so that others fit in.
    static let gap: Int64 = 1 << 20

    var entries = EntryTable()
    var maxRunning: Int
    /// Whether nothing may be fetched now, whoever wants it.
    var isPaused = false
    /// Below the first place in the order that is taken, and above the last.
    private(set) var (lowest, highest): (Int64, Int64) = (0, 0)
    var actions: [Action] = []
    var changed: Set<QueueTask.ID> = []
    /// Those whose record still says that they run, or wait for the network.
    var restored: Set<QueueTask.ID> = []
    /// Those that were over when the changes were last taken: recorded by now, they are forgotten.
    var leaving: [QueueTask.ID] = []

    /// Begins with nothing.
    ///
    /// - Parameter maxRunning: Most tasks that run at a time; 0 where nobody works the queue.
    init(maxRunning: Int) { self.maxRunning = maxRunning }

    /// What is to be done since this was last asked, in order.
    mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    /// The tasks whose status or chore has changed since this was last asked.
    ///
    /// Those of them that are over are in ``entries`` until this is asked again.
    mutating func takeChanged() -> Set<QueueTask.ID> {
        for id in leaving where entries[id]?.isOver == true && !changed.contains(id) {
            entries[id] = nil
        }
        leaving = Array(entries.over)
        defer { changed = [] }
        return changed
    }

    /// When ``tick(_:)`` is due, on the boot clock; infinity for never.
    var nextDue: Double { entries.nextDue }

    // MARK: Taking back

    /// What was so when ``begin()`` was called, but for the tasks, whose changes are noted.
    struct Before {
        fileprivate let (maxRunning, isPaused, lowest, highest): (Int, Bool, Int64, Int64)
        fileprivate let (actions, leaving): ([Action], [QueueTask.ID])
        fileprivate let (changed, restored): (Set<QueueTask.ID>, Set<QueueTask.ID>)
    }

    /// Notes from now on what is changed, until ``end(takingBackTo:)``.
    mutating func begin() -> Before {
        entries.begin()
        return Before(
            maxRunning: maxRunning, isPaused: isPaused, lowest: lowest, highest: highest,
            actions: actions, leaving: leaving, changed: changed, restored: restored)
    }

    /// Ends what ``begin()`` began; where `before` is given, all is as it was then.
    mutating func end(takingBackTo before: Before? = nil) {
        entries.end(takesBack: before != nil)
        guard let before else { return }
        (maxRunning, isPaused) = (before.maxRunning, before.isPaused)
        (lowest, highest) = (before.lowest, before.highest)
        (actions, leaving) = (before.actions, before.leaving)
        (changed, restored) = (before.changed, before.restored)
    }

    // MARK: Tasks come and go

    /// Takes a task in, as it is recorded; ``settle(_:)`` then gives out the slots.
    ///
    /// What ran, or waited for the network, when the last worker ended, comes first. That is recorded when there is a
    /// worker again: a command without one does not make it forgotten.
    mutating func insert(_ entry: Entry, _ now: Moment) {
        var entry = entry
        switch entry.status.state {
        case .running, .verifying, .waitingForNetwork:
            entry.status.state = .waiting
            entry.hasClaim = entry.status.wanted == .run
            if maxRunning > 0 { changed.insert(entry.id) } else { restored.insert(entry.id) }
        case .retrying(let time):
            // A clock that was set must not make it wait longer than it ever would.
            entry.due = now.boot + min(max(0, time - now.wall), FailureRule.longestWait)
        default: break
        }
        if entry.chore != nil { actions.append(.doChore(entry.id)) }
        entries[entry.id] = entry
        spread(to: entry.status.position)
    }

    private mutating func spread(to position: Int64) {
        (lowest, highest) = (min(lowest, position), max(highest, position))
    }

    /// Takes a task in as `insert` does, at a place in the order.
    mutating func insert(_ entry: Entry, at position: QueuePosition, _ now: Moment) {
        var entry = entry
        entry.status.position = place(position, without: [entry.id])[0]
        insert(entry, now)
        changed.insert(entry.id)
    }

    /// The ids of the tasks that have not ended, in their order.
    var order: [QueueTask.ID] {
        entries.values.filter { !$0.status.isEnded }.sorted {
            $0.status.position < $1.status.position
        }.map(\.id)
    }

    /// The place of a task in the order, from 1; `nil` when it has ended or is none.
    func place(of id: QueueTask.ID) -> Int? {
        guard let status = entries[id]?.status, !status.isEnded else { return nil }
        return 1
            + entries.values.count {
                !$0.status.isEnded && $0.status.position < status.position
            }
    }

    /// Gives the free slots away, takes away those that are too many, and has the network asked for.
    mutating func settle(_ now: Moment) {
        guard maxRunning > 0 else { return }
        demote()
        guard !isPaused else { return }
        while slotsTaken < maxRunning, let next = entries.nextReady() { begin(next.id, now) }
        // One that waits for each host asks whether it can be reached.
        var asked = entries.askedHosts
        guard entries.isAnyUnasked, asked.count < Self.mostCanaries else { return }
        for entry in entries.away.sorted(by: { $0.status.position < $1.status.position })
        where entry.chore == nil && asked.count < Self.mostCanaries
            && asked.insert(entry.host).inserted
        {
            entries[entry.id]?.fetching = .on
            actions.append(.begin(entry.id))
        }
    }

    /// Forgets a task that nothing is to be done about any more.
    mutating func forget(_ id: QueueTask.ID) {
        entries[id] = nil
        changed.remove(id)
    }

    /// Whether something is still to be done on the disk about any of these tasks.
    func hasChore(_ ids: Set<QueueTask.ID>) -> Bool { ids.contains { entries[$0]?.chore != nil } }

    /// Whether all that has not ended is held, and nothing is to be done on the disk; what is held may still be stopping.
    var isDone: Bool {
        entries.chores == 0 && entries.wanted == 0
    }

    /// Whether nothing is left to be done but by the user: all that has not ended is held, and nothing is under way.
    var isIdle: Bool {
        isDone && entries.fetched == 0
    }

    /// Takes slots from the newest until no more than may run do, or from all that run while nothing may; what verifies
    /// keeps its slot.
    mutating func demote() {
        if isPaused { stopAll() }
        while slotsTaken > maxRunning, let newest = newestRunning { giveUpSlot(newest) }
    }

    /// Has nothing fetched any more: what runs waits, and goes on before all others; nobody asks for a network.
    private mutating func stopAll() {
        for entry in running {
            giveUpSlot(entry.id)
            entries[entry.id]?.hasClaim = true
        }
        for entry in entries.away { stop(entry.id) }
    }

    /// How many slots are taken.
    var slotsTaken: Int { entries.slots.count }

    /// Whether one waits for the network.
    var isAnyAway: Bool { entries.isAnyAway }

    private var running: [Entry] {
        entries.slots.compactMap { entries[$0] }.filter { $0.status.state == .running }
    }

    var newestRunning: QueueTask.ID? {
        running.max {
            ($0.slotSince, $0.status.position) < ($1.slotSince, $1.status.position)
        }?.id
    }

    /// The one that has run longest, but for those that are `spared`.
    func longestRunning(sparing spared: Set<QueueTask.ID>) -> QueueTask.ID? {
        running.filter { !spared.contains($0.id) }.min {
            ($0.slotSince, $0.status.position) < ($1.slotSince, $1.status.position)
        }?.id
    }

    mutating func begin(_ id: QueueTask.ID, _ now: Moment) {
        update(id) { entry in
            entry.status.state = .running
            entry.slotSince = now.boot
            entry.hasClaim = false
            entry.due = .infinity
        }
        guard let entry = entries[id] else { return }
        if entry.fetching == .stopping || entry.chore != nil {
            // It goes on when that is over.
            entries[id]?.goesOn = true
        } else {
            entries[id]?.fetching = .on
            actions.append(.begin(id))
        }
    }

    /// Stops what fetches a task, if anything does.
    mutating func stop(_ id: QueueTask.ID) {
        guard entries[id]?.fetching == .on else { return }
        entries[id]?.fetching = .stopping
        actions.append(.stop(id))
    }

    /// Sends a task back to wait at its place.
    mutating func giveUpSlot(_ id: QueueTask.ID) {
        update(id) { entry in
            entry.status.state = .waiting
            entry.goesOn = false
        }
        stop(id)
    }

    /// Has a chore done.
    mutating func doChore(_ id: QueueTask.ID) { actions.append(.doChore(id)) }

    /// The task is fetched from another host first.
    mutating func changeHost(_ id: QueueTask.ID, to host: String) { entries[id]?.host = host }

    /// Changes a task, and notes that it has changed.
    mutating func update(_ id: QueueTask.ID, _ change: (inout Entry) -> Void) {
        guard var entry = entries[id] else { return }
        let before = (entry.status, entry.chore)
        change(&entry)
        entries[id] = entry
        if before != (entry.status, entry.chore) { changed.insert(id) }
        spread(to: entry.status.position)
    }
}
