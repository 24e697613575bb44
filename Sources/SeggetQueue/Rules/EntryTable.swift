/// The tasks of a ``QueueMachine`` by their ids, with the answers to what its rules ask at each event.
///
/// No answer but ``values`` takes longer with more tasks; nor does a change, but for a logarithm.
struct EntryTable: Sendable {
    typealias ID = QueueTask.ID
    typealias Entry = QueueMachine.Entry

    /// Where a task stands among those that wait for a slot: what has a claim first, then by position.
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

    /// When a task is tried again.
    private struct Due: Sendable, Comparable {
        var time: Double
        var id: ID

        static func < (left: Due, right: Due) -> Bool { left.time < right.time }
    }

    /// The tasks of a host whose network is away.
    private struct AwayHost: Sendable {
        var ids: Set<ID> = []
        /// How many of them are fetched, that is, ask whether the host can be reached.
        var fetched = 0
    }

    private var table = UndoableTable<ID, Entry>()
    /// The tasks that have a slot.
    private(set) var slots: Set<ID> = []
    /// The tasks that have ended, and about which nothing is left to be done.
    private(set) var over: Set<ID> = []
    /// How many have a download, how many a chore, and how many the user wants to run that have not ended.
    private(set) var (fetched, chores, wanted) = (0, 0, 0)
    /// How many of those that wait for the network ask for it, and were not told to stop.
    private(set) var askers = 0
    private var awayHosts: [String: AwayHost] = [:]
    /// Hosts that are away, by whether a task asks for them.
    private var (asked, unasked): (Set<String>, Set<String>) = ([], [])
    /// Those that may be given a slot, and others that could be once; those of hosts that are away are in `parked`
    /// when their turn has come.
    private var ready = MinHeap<Turn>()
    private var parked: [String: [ID]] = [:]
    /// When they are due, and others that were once; the first one is.
    private var dues = MinHeap<Due>()

    /// All of them.
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

    // MARK: What is so

    /// The next one that a free slot is given to: none of a host that is away.
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

    /// When the first one is to be tried again, on the boot clock; infinity for never.
    var nextDue: Double { dues.first?.time ?? .infinity }

    /// The one that is to be tried again first, if that is due.
    func due(at time: Double) -> ID? { dues.first.flatMap { $0.time <= time ? $0.id : nil } }

    /// Whether one waits for the network.
    var isAnyAway: Bool { !awayHosts.isEmpty }

    /// Those that wait for the network.
    var away: [Entry] { awayHosts.values.flatMap { $0.ids.compactMap { table[$0] } } }

    /// Those that wait for the network, of a host.
    func away(_ host: String) -> [Entry] {
        awayHosts[host].map { $0.ids.compactMap { table[$0] } } ?? []
    }

    /// Hosts that are away, and asked for.
    var askedHosts: Set<String> { asked }

    /// Whether nobody asks for one of the hosts that are away.
    var isAnyUnasked: Bool { !unasked.isEmpty }

    // MARK: Taking back

    /// Notes from now on what is changed.
    mutating func begin() { table.begin() }

    /// Ends what ``begin()`` began.
    ///
    /// - Parameter takesBack: Whether all is to be as it was then.
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
        // What could be given a slot once is not kept without end.
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
    /// Adds an element, or takes it away.
    fileprivate mutating func set(_ element: Element, isIn: Bool) {
        if isIn { insert(element) } else { remove(element) }
    }
}
