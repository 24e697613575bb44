import SeggetQueue

/// The clients that listen to a queue, and the next event of each.
///
/// Pure: time is an argument, in milliseconds since the audience was created. A listener is sent
/// the next event only after it has taken the one before. That event describes the state at that
/// moment, so that no events accumulate for a slow client.
struct Audience: Sendable {
    /// The least time between two rounds of changes, in milliseconds.
    static let interval: Int64 = 250

    /// A client that listens.
    private struct Listener {
        var filter: TaskFilter
        /// The time up to which the listener knows all changes, in milliseconds; `nil` before its
        /// first event.
        var moment: Int64?
        var known: Known
        /// Whether the listener has taken all that it was sent.
        var isReady = true
    }

    /// The state that a listener knows from its events.
    struct Known: Sendable, Hashable {
        /// The reported tasks that pass the filter; `nil` if unknown, or without a filter.
        var tasks: Set<QueueTask.ID>?
        /// The reported totals; `nil` if unknown.
        var totals: QueueView?
    }

    /// The next step of the caller.
    enum Action: Hashable {
        /// Wait for a change.
        case rest
        /// Wait for this number of milliseconds.
        case wait(Int64)
        /// Start a round; if `true`, ask the queue for changes first.
        case round(Bool)
    }

    /// A group of listeners with the same filter and state, which receive the same event.
    struct Question: Sendable {
        var listeners: [Int]
        var filter: TaskFilter
        /// The changed tasks; `nil` if the event has to report all tasks.
        var changed: Set<QueueTask.ID>?
        /// The tasks that are being downloaded.
        var running: Set<QueueTask.ID>
        var known: Known
        /// The totals, without the speed.
        var totals: QueueView
        /// The id of the event.
        var id: EventID
    }

    let epoch: String
    private(set) var journal = EventJournal()
    private var listeners: [Int: Listener] = [:]
    private var next = 0
    private var lastRound = -Self.interval
    /// Whether the queue may have changes; `true` before it was asked for the first time.
    private var isRung = true

    /// Creates an audience without listeners.
    ///
    /// - Parameter epoch: A word that no other audience uses.
    init(epoch: String) { self.epoch = epoch }

    /// The number of listeners.
    var count: Int { listeners.count }

    /// Adds a listener.
    ///
    /// - Parameters:
    ///   - filter: Selects the reported tasks.
    ///   - lastID: The id of the client's last event, on another connection.
    /// - Returns: The number that identifies the listener.
    mutating func add(_ filter: TaskFilter, after lastID: String?) -> Int {
        let id = lastID.flatMap(EventID.init)
        let isKnown = id.map { $0.epoch == epoch && $0.moment <= journal.moment } ?? false
        next += 1
        listeners[next] = Listener(
            filter: filter, moment: isKnown ? id?.moment : nil, known: Known())
        return next
    }

    /// Removes a listener.
    mutating func remove(_ number: Int) { listeners[number] = nil }

    /// Records that a listener has taken its last event.
    mutating func taken(_ number: Int) { listeners[number]?.isReady = true }

    /// Records that the queue may have changes.
    mutating func ring() { isRung = true }

    /// Returns the next step.
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

    /// Starts a round in which the caller asks the queue for changes.
    mutating func beginRound(at now: Int64) { (lastRound, isRung) = (now, false) }

    /// Notes what the queue said.
    mutating func note(_ touched: Set<QueueTask.ID>?, _ view: QueueView) {
        journal.note(touched, view, at: lastRound)
    }

    /// Returns what to send to the listeners that are ready.
    ///
    /// The listeners are not ready again until they have taken the event.
    ///
    /// - Parameter isRound: Whether to report changes; if not, only listeners without an event are
    ///   served.
    /// - Returns: One question for each group of listeners with the same filter and state.
    mutating func takeQuestions(isRound: Bool) -> [Question] {
        var places: [Place: Int] = [:]
        // Most listeners have the same last event, even if their filters differ.
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

    /// The filter and the last event, which all listeners of a question have in common.
    private struct Place: Hashable {
        var filter: TaskFilter
        var moment: Int64?
    }

    /// Records the new state of the listeners of a question.
    ///
    /// - Returns: The listeners that remain and have to be sent the event.
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
    /// Merges the state of another listener, such that the event is right for both.
    ///
    /// A task counts as reported if one of them may know it.
    fileprivate mutating func join(_ other: Self) {
        if tasks != other.tasks {
            tasks = tasks.flatMap { own in other.tasks.map { own.union($0) } }
        }
        if totals != other.totals { totals = nil }
    }
}

extension Audience.Question {
    /// Returns the changes among the tasks that pass the filter.
    ///
    /// - Parameters:
    ///   - reports: The changed or active tasks that pass the filter.
    ///   - all: All tasks that pass the filter, if the listener's tasks are unknown.
    /// - Returns: The changes, `nil` if there are none, and the state that the listener then knows.
    func changes(
        _ reports: [TaskReport], all: Set<QueueTask.ID>? = nil
    ) -> (QueueChanges?, Audience.Known) {
        let changed = changed ?? []
        let passing = Set(reports.map(\.id))
        let left = changed.filter {
            !passing.contains($0) && (known.tasks?.contains($0) ?? true)
        }
        let totals = totals.totals(of: reports)
        var now = Audience.Known(tasks: all, totals: totals)
        if let tasks = known.tasks {
            let isSame = passing.isSubset(of: tasks) && left.isEmpty
            now.tasks = isSame ? tasks : tasks.union(passing).subtracting(left)
        }
        let told = reports.filter { changed.contains($0.id) }
        guard !told.isEmpty || !left.isEmpty || totals != known.totals else { return (nil, now) }
        let changes = QueueChanges(
            tasks: told, removed: left.sorted { $0.description < $1.description }, totals)
        return (changes, now)
    }

    /// Returns the state that a listener knows after a report of all tasks.
    func known(_ report: QueueReport) -> Audience.Known {
        Audience.Known(
            tasks: filter == TaskFilter() ? nil : Set(report.tasks.map(\.id)),
            totals: QueueView(
                counts: report.counts, unseen: report.unseen,
                bytesPerSecond: report.bytesPerSecond))
    }
}
