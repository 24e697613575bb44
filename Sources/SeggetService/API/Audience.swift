import SeggetQueue

/// Who listens to a queue, and what each is told next.
///
/// Pure: time is an argument, in milliseconds since it began. A listener is told again when it has taken what it was
/// told, and then what is so by then: nothing piles up for a slow one.
struct Audience: Sendable {
    /// Least time between two rounds in which changes are told.
    static let interval: Int64 = 250

    /// One who listens.
    private struct Listener {
        var filter: TaskFilter
        /// Until when it knows what has changed; `nil` when it knows nothing.
        var moment: Int64?
        var known: Known
        /// Whether it has taken all that it was told.
        var isReady = true
    }

    /// What else a listener knows.
    struct Known: Sendable, Hashable {
        /// The tasks that it was told of and that its filter lets pass; `nil` when that is not known, and where it has
        /// no filter.
        var tasks: Set<QueueTask.ID>?
        /// `nil` when that is not known.
        var totals: QueueTotals?
    }

    /// What is to be done next.
    enum Action: Hashable {
        /// Nothing, until something changes.
        case rest
        /// Nothing, for so many milliseconds.
        case wait(Int64)
        /// A round; with `true` the queue is asked what has changed first.
        case round(Bool)
    }

    /// What listeners are to be told that know the same.
    struct Question: Sendable {
        var listeners: [Int]
        var filter: TaskFilter
        /// The tasks that have changed; `nil` when all is to be told.
        var changed: Set<QueueTask.ID>?
        /// Those that are being fetched.
        var running: Set<QueueTask.ID>
        var known: Known
        /// What is so, but for the speed.
        var totals: QueueTotals
        /// The id of what is told.
        var id: EventID
    }

    let epoch: String
    private(set) var journal = EventJournal()
    private var listeners: [Int: Listener] = [:]
    private var next = 0
    private var lastRound = -Self.interval
    /// Whether the queue has something to tell; nobody knows before it was asked for the first time.
    private var isRung = true

    /// Begins with nobody.
    ///
    /// - Parameter epoch: A word that no other audience has.
    init(epoch: String) { self.epoch = epoch }

    /// How many listen.
    var count: Int { listeners.count }

    /// Takes one in.
    ///
    /// - Parameters:
    ///   - filter: Which tasks it wants to be told of.
    ///   - lastID: The id of what it was told last, on another connection.
    /// - Returns: The number by which it is known.
    mutating func add(_ filter: TaskFilter, after lastID: String?) -> Int {
        let id = lastID.flatMap(EventID.init)
        let isKnown = id.map { $0.epoch == epoch && $0.moment <= journal.moment } ?? false
        next += 1
        listeners[next] = Listener(
            filter: filter, moment: isKnown ? id?.moment : nil, known: Known())
        return next
    }

    /// Forgets one.
    mutating func remove(_ number: Int) { listeners[number] = nil }

    /// One has taken what it was told.
    mutating func taken(_ number: Int) { listeners[number]?.isReady = true }

    /// The queue has something to tell.
    mutating func ring() { isRung = true }

    /// What is to be done.
    func step(at now: Int64) -> Action {
        guard !listeners.isEmpty else { return .rest }
        let due = lastRound + Self.interval
        let isWanted =
            isRung || !journal.running.isEmpty
            || listeners.values.contains { $0.isReady && isBehind($0) }
        if isWanted, now >= due { return .round(true) }
        if listeners.values.contains(where: { $0.isReady && $0.moment == nil }) {
            return .round(false)
        }
        return isWanted ? .wait(due - now) : .rest
    }

    private func isBehind(_ listener: Listener) -> Bool {
        listener.moment.map { $0 < journal.moment } ?? true
    }

    /// Begins a round in which the queue is asked what has changed.
    mutating func beginRound(at now: Int64) { (lastRound, isRung) = (now, false) }

    /// Notes what the queue said.
    mutating func note(_ pulse: QueuePulse) { journal.note(pulse, at: lastRound) }

    /// What is to be found out for those that are ready; they are not, until what they are told is taken.
    ///
    /// - Parameter isRound: Whether changes are told; else only those are told something that know nothing yet.
    /// - Returns: One question for all who know the same.
    mutating func takeQuestions(isRound: Bool) -> [Question] {
        var places: [Place: Int] = [:]
        // Most know the same, whatever their filters are.
        var changes: [Int64: Set<QueueTask.ID>?] = [:]
        var questions: [Question] = []
        for (number, listener) in listeners.sorted(by: { $0.key < $1.key })
        where listener.isReady && isBehind(listener) && (isRound || listener.moment == nil) {
            listeners[number]?.isReady = false
            let changed = listener.moment.flatMap { moment in
                let known = changes[moment] ?? journal.changed(since: moment)
                changes[moment] = .some(known)
                return known
            }
            let place = Place(
                filter: listener.filter, moment: changed == nil ? nil : listener.moment)
            if let index = places[place] {
                questions[index].listeners.append(number)
                questions[index].known.join(listener.known)
                continue
            }
            places[place] = questions.count
            questions.append(
                Question(
                    listeners: [number], filter: listener.filter, changed: changed,
                    running: Set(journal.running.keys), known: listener.known,
                    totals: journal.totals, id: EventID(epoch: epoch, moment: journal.moment)))
        }
        return questions
    }

    /// Those of a question that are the same for all who ask it.
    private struct Place: Hashable {
        var filter: TaskFilter
        var moment: Int64?
    }

    /// Notes what those who asked know now.
    ///
    /// - Returns: Those who still listen, and are to be told.
    mutating func answer(_ question: Question, _ known: Known, isTold: Bool) -> [Int] {
        let there = question.listeners.filter { listeners[$0] != nil }
        for number in there {
            listeners[number]?.moment = question.id.moment
            listeners[number]?.known = known
            listeners[number]?.isReady = !isTold
        }
        return isTold ? there : []
    }
}

extension Audience.Known {
    /// Takes what is known to another one, too: whatever one of them may have been told counts.
    fileprivate mutating func join(_ other: Self) {
        if tasks != other.tasks {
            tasks = tasks.flatMap { own in other.tasks.map { own.union($0) } }
        }
        if totals != other.totals { totals = nil }
    }
}

extension Audience.Question {
    /// What has changed, of the tasks that pass the filter.
    ///
    /// - Parameters:
    ///   - reports: Of the tasks that have changed or are fetched, those that pass.
    ///   - all: All tasks that pass, where these are not known.
    /// - Returns: What is to be told, `nil` for nothing, and what is known then.
    func changes(
        _ reports: [TaskReport], all: Set<QueueTask.ID>? = nil
    ) -> (QueueChanges?, Audience.Known) {
        let changed = changed ?? []
        let passing = Set(reports.map(\.id))
        let left = changed.filter {
            !passing.contains($0) && (known.tasks?.contains($0) ?? true)
        }
        var totals = totals
        totals.bytesPerSecond = reports.reduce(0) { $0 + ($1.bytesPerSecond ?? 0) }
        var now = Audience.Known(tasks: all, totals: totals)
        if let tasks = known.tasks {
            let isSame = passing.isSubset(of: tasks) && left.isEmpty
            now.tasks = isSame ? tasks : tasks.union(passing).subtracting(left)
        }
        let told = reports.filter { changed.contains($0.id) }
        guard !told.isEmpty || !left.isEmpty || totals != known.totals else { return (nil, now) }
        let changes = QueueChanges(
            tasks: told, removed: left.sorted { $0.description < $1.description },
            counts: totals.counts, unseen: totals.unseen, bytesPerSecond: totals.bytesPerSecond)
        return (changes, now)
    }

    /// What a listener knows that was told of all.
    func known(_ report: QueueReport) -> Audience.Known {
        Audience.Known(
            tasks: filter == TaskFilter() ? nil : Set(report.tasks.map(\.id)),
            totals: QueueTotals(report))
    }
}
