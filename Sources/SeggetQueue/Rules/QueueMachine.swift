// Rules: which task runs, waits, is retried and ends, and what happens to a queue after a crash.
// They are pure: time is an argument. They never know a database, a file or a request.

import SeggetReports
import Segmenter

/// Decides which of a queue's tasks run, wait, are retried and end.
///
/// Pure: commands and events in, actions out; `docs/queue.md` has the rules and their sources. It
/// has the tasks that have not ended, and those with a chore. After each call the caller carries
/// out ``takeActions()`` in order, and records the tasks of ``takeChanged()``.
struct QueueMachine {
    /// A moment on two clocks.
    struct Moment: Sendable, Hashable {
        /// Seconds since 1970, for records and users.
        ///
        /// It may jump.
        var wall: Double
        /// Seconds since the machine was started, including suspension; decisions use this one.
        var boot: Double
    }

    /// An action for the caller.
    enum Action: Sendable, Hashable {
        /// Start the download, and call ``ended(_:_:_:)`` at its end.
        case begin(QueueTask.ID)
        /// Stop the download in an orderly way.
        case stop(QueueTask.ID)
        /// Do the task's chore on the disk, then call ``choreDone(_:_:)``. It has no download
        /// meanwhile.
        case doChore(QueueTask.ID)
    }

    /// The end of a download.
    enum Ending: Sendable, Hashable {
        /// The file is complete and published.
        case completed
        /// It was stopped.
        case stopped
        /// It failed, with the step that follows.
        case failed(FailureStep, TaskProblem)
    }

    /// The step after a failure.
    enum FailureStep: Sendable, Hashable {
        /// Retry after some seconds, and count an attempt.
        case retry(after: Double)
        /// Retry after some seconds, without limit, because the obstacle is on this machine.
        case wait(Double)
        /// Fail.
        case fail
    }

    /// A task, as far as the rules need it.
    struct Entry: Sendable, Hashable {
        /// The download of a task.
        enum Fetching: Sendable, Hashable {
            /// There is none.
            case none
            /// There is one, in a slot or, while the network is unreachable, without one.
            case on
            /// There is one that was told to stop.
            case stopping
        }

        var id: QueueTask.ID
        var status: TaskStatus
        /// Host and port of its first URL.
        var host: String
        var chore: QueueTask.Chore?
        var fetching = Fetching.none
        /// Whether it continues in its slot once its download has stopped.
        var goesOn = false
        /// Whether it gets a free slot before all tasks without a claim.
        var hasClaim = false
        /// When it got its slot, on the boot clock.
        var slotSince = 0.0
        /// The time of the next try, on the boot clock.
        var due = Double.infinity

        /// Whether it may get a free slot.
        var isReady: Bool {
            status.state == .waiting && status.wanted == .run && fetching == .none && chore == nil
        }
        /// Whether it waits for the network.
        var isAway: Bool {
            if case .waitingForNetwork = status.state { true } else { false }
        }
        /// Whether it has ended, without a chore or download.
        var isOver: Bool { status.isEnded && fetching == .none && chore == nil }
        /// Whether its record is to be removed.
        var isRemoved: Bool { if case .remove? = chore { true } else { false } }
    }

    /// Maximum number of hosts that are tested at a time.
    static let mostCanaries = 64
    /// The distance between two tasks in the order, so that others fit in between.
    static let gap: Int64 = 1 << 20

    var entries = EntryTable()
    var maxRunning: Int
    /// Whether no task may run now.
    var isPaused = false
    /// Bounds of all places in the order.
    private(set) var (lowest, highest): (Int64, Int64) = (0, 0)
    var actions: [Action] = []
    var changed: Set<QueueTask.ID> = []
    /// Tasks whose record still says that they run, or wait for the network.
    var restored: Set<QueueTask.ID> = []
    /// Tasks that were over when the changes were last taken; they are recorded by now, and are
    /// dropped.
    var leaving: [QueueTask.ID] = []

    /// Creates a machine without tasks.
    ///
    /// - Parameter maxRunning: Maximum number of tasks that run at a time; 0 without a worker.
    init(maxRunning: Int) { self.maxRunning = maxRunning }

    /// Returns the actions since the last call, in order.
    mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    /// Returns the tasks whose status or chore has changed since the last call.
    ///
    /// Those that are over remain in ``entries`` until the next call.
    mutating func takeChanged() -> Set<QueueTask.ID> {
        for id in leaving where entries[id]?.isOver == true && !changed.contains(id) {
            entries[id] = nil
        }
        leaving = Array(entries.over)
        defer { changed = [] }
        return changed
    }

    /// The time at which ``tick(_:)`` is due, on the boot clock; infinity for never.
    var nextDue: Double { entries.nextDue }

    // MARK: Rollback

    /// The state at ``begin()`` without the tasks, whose changes are noted.
    struct Before {
        fileprivate let (maxRunning, isPaused, lowest, highest): (Int, Bool, Int64, Int64)
        fileprivate let (actions, leaving): ([Action], [QueueTask.ID])
        fileprivate let (changed, restored): (Set<QueueTask.ID>, Set<QueueTask.ID>)
    }

    /// Starts to note changes, until ``end(takingBackTo:)``.
    mutating func begin() -> Before {
        entries.begin()
        return Before(
            maxRunning: maxRunning, isPaused: isPaused, lowest: lowest, highest: highest,
            actions: actions, leaving: leaving, changed: changed, restored: restored)
    }

    /// Ends what ``begin()`` began; with `before`, undoes all changes.
    mutating func end(takingBackTo before: Before? = nil) {
        entries.end(takesBack: before != nil)
        guard let before else { return }
        (maxRunning, isPaused) = (before.maxRunning, before.isPaused)
        (lowest, highest) = (before.lowest, before.highest)
        (actions, leaving) = (before.actions, before.leaving)
        (changed, restored) = (before.changed, before.restored)
    }

    // MARK: Adding and removing

    /// Adds a task as it is recorded; ``settle(_:)`` then assigns the slots.
    ///
    /// A task that ran or waited for the network when the last worker ended is first. That is
    /// recorded only by the next worker, so that a command without a worker does not lose it.
    mutating func insert(_ entry: Entry, _ now: Moment) {
        var entry = entry
        switch entry.status.state {
        case .running, .verifying, .waitingForNetwork:
            entry.status.state = .waiting
            entry.hasClaim = entry.status.wanted == .run
            if maxRunning > 0 { changed.insert(entry.id) } else { restored.insert(entry.id) }
        case .retrying(let time):
            // A clock that was set must not exceed the longest wait.
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

    /// Adds a task at a place in the order.
    mutating func insert(_ entry: Entry, at position: QueuePosition, _ now: Moment) {
        var entry = entry
        entry.status.position = place(position, without: [entry.id])[0]
        insert(entry, now)
        changed.insert(entry.id)
    }

    /// The ids of the unfinished tasks, in queue order.
    var order: [QueueTask.ID] {
        entries.values.filter { !$0.status.isEnded }.sorted {
            $0.status.position < $1.status.position
        }.map(\.id)
    }

    /// Returns the place of a task in the order, counted from 1; `nil` if it has ended or does not
    /// exist.
    func place(of id: QueueTask.ID) -> Int? {
        guard let status = entries[id]?.status, !status.isEnded else { return nil }
        return 1
            + entries.values.count {
                !$0.status.isEnded && $0.status.position < status.position
            }
    }

    /// Assigns free slots, takes surplus ones, and has unreachable hosts tested.
    mutating func settle(_ now: Moment) {
        guard maxRunning > 0 else { return }
        demote()
        guard !isPaused else { return }
        while slotsTaken < maxRunning, let next = entries.nextReady() { begin(next.id, now) }
        // One waiting task for each host tests whether it is reachable.
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

    /// Drops a task.
    mutating func forget(_ id: QueueTask.ID) {
        entries[id] = nil
        changed.remove(id)
    }

    /// Returns whether one of the tasks has a chore.
    func hasChore(_ ids: Set<QueueTask.ID>) -> Bool { ids.contains { entries[$0]?.chore != nil } }

    /// Whether all unfinished tasks are paused, and there is no chore; paused tasks may still be
    /// stopping.
    var isDone: Bool {
        entries.chores == 0 && entries.wanted == 0
    }

    /// Whether every task is paused or finished, and no download is active.
    var isIdle: Bool {
        isDone && entries.fetched == 0
    }

    /// Takes surplus slots, from the newest task first, or all slots while the queue is paused;
    /// tasks that verify keep theirs.
    mutating func demote() {
        if isPaused { stopAll() }
        while slotsTaken > maxRunning, let newest = newestRunning { giveUpSlot(newest) }
    }

    /// Stops all downloads: running tasks wait, with a claim on a slot; no host is tested.
    private mutating func stopAll() {
        for entry in running {
            giveUpSlot(entry.id)
            entries[entry.id]?.hasClaim = true
        }
        for entry in entries.away { stop(entry.id) }
    }

    /// The number of taken slots.
    var slotsTaken: Int { entries.slots.count }

    /// Whether a task waits for the network.
    var isAnyAway: Bool { entries.isAnyAway }

    private var running: [Entry] {
        entries.slots.compactMap { entries[$0] }.filter { $0.status.state == .running }
    }

    var newestRunning: QueueTask.ID? {
        running.max {
            ($0.slotSince, $0.status.position) < ($1.slotSince, $1.status.position)
        }?.id
    }

    /// Returns the task that has run longest, except the `spared` ones.
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
            // It continues afterwards.
            entries[id]?.goesOn = true
        } else {
            entries[id]?.fetching = .on
            actions.append(.begin(id))
        }
    }

    /// Stops the download of a task, if there is one.
    mutating func stop(_ id: QueueTask.ID) {
        guard entries[id]?.fetching == .on else { return }
        entries[id]?.fetching = .stopping
        actions.append(.stop(id))
    }

    /// Takes the slot of a task, which waits at its place.
    mutating func giveUpSlot(_ id: QueueTask.ID) {
        update(id) { entry in
            entry.status.state = .waiting
            entry.goesOn = false
        }
        stop(id)
    }

    /// Requests the chore of a task.
    mutating func doChore(_ id: QueueTask.ID) { actions.append(.doChore(id)) }

    /// Notes that the first URL of a task has another host.
    mutating func changeHost(_ id: QueueTask.ID, to host: String) { entries[id]?.host = host }

    /// Changes a task, and notes the change.
    mutating func update(_ id: QueueTask.ID, _ change: (inout Entry) -> Void) {
        guard var entry = entries[id] else { return }
        let before = (entry.status, entry.chore)
        change(&entry)
        entries[id] = entry
        if before != (entry.status, entry.chore) { changed.insert(id) }
        spread(to: entry.status.position)
    }
}
