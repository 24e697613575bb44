/// The tasks of a ``QueueMachine`` by id, with indexes for what its rules need at each event.
///
/// Only ``values`` takes time in proportion to the tasks; a change takes logarithmic time.
struct EntryTable: Sendable {
    typealias ID = QueueTask.ID
    typealias Entry = QueueMachine.Entry

    /// The order of tasks that wait for a slot: those with a claim first, then by position.
    private struct Turn: Sendable, Comparable {
        var rank: Int
        var position: Int64
        var id: ID

        init(_ entry: Entry) {
            (rank, position, id) = (entry.hasClaim ? 0 : 1, entry.status.position, entry.id)
        }

        static func < (left: Turn, right: Turn) -> Bool {
            (left.rank, left.position) < (right.rank, right.position)
        }
    }

    /// The time of a task's next try.
    private struct Due: Sendable, Comparable {
        var time: Double
        var id: ID

        static func < (left: Due, right: Due) -> Bool { left.time < right.time }
    }

    /// The tasks of an unreachable host.
    private struct AwayHost: Sendable {
        var ids: Set<ID> = []
        /// The number of those with a download, which tests whether the host is reachable.
        var fetched = 0
    }

    private var table = UndoableTable<ID, Entry>()
    /// The tasks that have a slot.
    private(set) var slots: Set<ID> = []
    /// The tasks that have ended, without a chore or download.
    private(set) var over: Set<ID> = []
    /// The number of tasks with a download, with a chore, and of unfinished tasks that are not
    /// paused.
    private(set) var (fetched, chores, wanted) = (0, 0, 0)
    /// The number of tasks whose download tests the network, and was not told to stop.
    private(set) var askers = 0
    private var awayHosts: [String: AwayHost] = [:]
    /// Unreachable hosts, with and without a task that tests them.
    private var (asked, unasked): (Set<String>, Set<String>) = ([], [])
    /// Tasks that may get a slot, and outdated entries; tasks of unreachable hosts move to `parked`
    /// when it is their turn.
    private var ready = MinHeap<Turn>()
    private var parked: [String: [ID]] = [:]
    /// The times of next tries, and outdated entries; the first one is not outdated.
    private var dues = MinHeap<Due>()

    /// All tasks.
    var values: Dictionary<ID, Entry>.Values { table.contents.values }

    subscript(id: ID) -> Entry? {
        get { table[id] }
        set {
            let old = table[id]
            table[id] = newValue
            if let old { count(old, -1) }
            if let newValue { count(newValue, 1) }
            takeTurn(old, newValue)
        }
    }

    // MARK: Queries

    /// Returns the next task that gets a free slot; none of an unreachable host.
    mutating func nextReady() -> Entry? {
        while let turn = ready.first {
            let entry = table[turn.id]
            if let entry, entry.isReady, Turn(entry) == turn {
                if awayHosts[entry.host] == nil { return entry }
                parked[entry.host, default: []].append(turn.id)
            }
            ready.removeFirst()
        }
        return nil
    }

    /// The time of the first next try, on the boot clock; infinity for none.
    var nextDue: Double { dues.first?.time ?? .infinity }

    /// Returns the task with the first next try, if that is due.
    func due(at time: Double) -> ID? { dues.first.flatMap { $0.time <= time ? $0.id : nil } }

    /// Whether a task waits for the network.
    var isAnyAway: Bool { !awayHosts.isEmpty }

    /// The tasks that wait for the network.
    var away: [Entry] { awayHosts.values.flatMap { $0.ids.compactMap { table[$0] } } }

    /// Returns the tasks of a host that wait for the network.
    func away(_ host: String) -> [Entry] {
        awayHosts[host].map { $0.ids.compactMap { table[$0] } } ?? []
    }

    /// The unreachable hosts that a task tests.
    var askedHosts: Set<String> { asked }

    /// Whether no task tests one of the unreachable hosts.
    var isAnyUnasked: Bool { !unasked.isEmpty }

    // MARK: Rollback

    /// Starts to note changes.
    mutating func begin() { table.begin() }

    /// Ends what ``begin()`` began.
    ///
    /// - Parameter takesBack: Whether all changes since then are undone.
    mutating func end(takesBack: Bool) {
        let earlier = table.end()
        guard takesBack else { return }
        for (id, entry) in earlier { self[id] = entry }
    }

    // MARK: Counting

    private mutating func count(_ entry: Entry, _ step: Int) {
        if entry.status.hasSlot { slots.set(entry.id, isIn: step > 0) }
        if entry.isOver { over.set(entry.id, isIn: step > 0) }
        if entry.fetching != .none { fetched += step }
        if entry.chore != nil { chores += step }
        if !entry.status.isEnded, entry.status.wanted != .paused { wanted += step }
        guard entry.isAway else { return }
        if entry.fetching == .on { askers += step }
        var host = awayHosts[entry.host] ?? AwayHost()
        host.ids.set(entry.id, isIn: step > 0)
        if entry.fetching != .none { host.fetched += step }
        awayHosts[entry.host] = host.ids.isEmpty ? nil : host
        asked.set(entry.host, isIn: host.fetched > 0)
        unasked.set(entry.host, isIn: host.fetched == 0 && !host.ids.isEmpty)
    }

    private mutating func takeTurn(_ old: Entry?, _ new: Entry?) {
        if let new {
            let hasTurn =
                old.map { $0.isReady && Turn($0) == Turn(new) && $0.host == new.host } ?? false
            if new.isReady, !hasTurn { ready.insert(Turn(new)) }
            if new.due < .infinity, new.due != old?.due {
                dues.insert(Due(time: new.due, id: new.id))
            }
        }
        if let host = old?.host, awayHosts[host] == nil, let ids = parked.removeValue(forKey: host)
        {
            for entry in ids.compactMap({ table[$0] }) where entry.isReady {
                ready.insert(Turn(entry))
            }
        }
        while let first = dues.first, table[first.id]?.due != first.time { dues.removeFirst() }
        // Outdated entries are removed when they are the majority.
        let count = table.contents.count
        if ready.count > 2 * count + 64 {
            ready = MinHeap()
            for entry in values where entry.isReady { ready.insert(Turn(entry)) }
        }
        if dues.count > 2 * count + 64 {
            dues = MinHeap()
            for entry in values where entry.due < .infinity {
                dues.insert(Due(time: entry.due, id: entry.id))
            }
        }
    }
}

extension Set {
    /// Adds or removes an element.
    fileprivate mutating func set(_ element: Element, isIn: Bool) {
        if isIn { insert(element) } else { remove(element) }
    }
}
