import SeggetQueue

/// Which tasks of a queue have changed, and when.
///
/// Not how: what is told of them is what is so by then. Pure: time is an argument, in milliseconds since the journal was begun.
struct EventJournal: Sendable {
    /// Most tasks whose changes are remembered.
    static let most = 16_384

    /// When something has last changed.
    private(set) var moment: Int64 = 0
    /// How many there are, by what was last told.
    private(set) var totals = QueueTotals()
    /// The tasks that were being fetched, as they were then.
    private(set) var running: [QueueTask.ID: TaskReport] = [:]
    /// When each task has last changed.
    private var latest: [QueueTask.ID: Int64] = [:]
    /// What changed before is not remembered any more.
    private var horizon: Int64 = 0

    /// Notes what has changed.
    ///
    /// - Parameters:
    ///   - pulse: What the queue says.
    ///   - now: The time, later than that of the note before.
    mutating func note(_ pulse: QueuePulse, at now: Int64) {
        let before = running
        running = Dictionary(
            pulse.running.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        var changed = pulse.touched ?? []
        for (id, task) in running where before[id] != task { changed.insert(id) }
        changed.formUnion(before.keys.filter { running[$0] == nil })
        let isSame = totals.counts == pulse.counts && totals.unseen == pulse.unseen
        (totals.counts, totals.unseen) = (pulse.counts, pulse.unseen)
        guard pulse.touched != nil else {
            (latest, horizon, moment) = ([:], now, now)
            return
        }
        guard !changed.isEmpty || !isSame else { return }
        moment = now
        for id in changed { latest[id] = now }
        forget()
    }

    /// The tasks that have changed since a moment; `nil` when that is not remembered.
    func changed(since moment: Int64) -> Set<QueueTask.ID>? {
        guard moment >= horizon else { return nil }
        return Set(latest.lazy.filter { $0.value > moment }.map(\.key))
    }

    /// Forgets the older half when there are too many.
    private mutating func forget() {
        guard latest.count > Self.most else { return }
        let moments = latest.values.sorted()
        horizon = moments[moments.count - Self.most / 2]
        let horizon = horizon
        latest = latest.filter { $0.value > horizon }
    }
}
