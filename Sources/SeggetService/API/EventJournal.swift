import SeggetQueue

/// Records which tasks of a queue have changed, and when.
///
/// It does not record the changes: events report the state at the time when they are sent. Pure:
/// time is an argument, in milliseconds since the journal was created.
struct EventJournal: Sendable {
    /// The most tasks whose changes are recorded.
    static let most = 16_384

    /// The time of the last change.
    private(set) var moment: Int64 = 0
    /// The totals of the last pulse.
    private(set) var totals = QueueView()
    /// The active tasks, as of the last report.
    private(set) var running: [QueueTask.ID: TaskReport] = [:]
    /// The time of each task's last change.
    private var latest: [QueueTask.ID: Int64] = [:]
    /// The time after which all changes are recorded.
    private var horizon: Int64 = 0

    /// Records the changes that the queue reported.
    ///
    /// - Parameters:
    ///   - touched: The tasks that may have changed; `nil` if all may have.
    ///   - view: The state of the queue.
    ///   - now: The time, later than that of the report before.
    mutating func note(_ touched: Set<QueueTask.ID>?, _ view: QueueView, at now: Int64) {
        let before = running
        running = Dictionary(
            view.running.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        var changed = touched ?? []
        for (id, task) in running where before[id] != task { changed.insert(id) }
        changed.formUnion(before.keys.filter { running[$0] == nil })
        let earlier = totals
        totals = QueueView(counts: view.counts, unseen: view.unseen)
        guard touched != nil else {
            (latest, horizon, moment) = ([:], now, now)
            return
        }
        guard !changed.isEmpty || totals != earlier else { return }
        moment = now
        for id in changed { latest[id] = now }
        forget()
    }

    /// Returns the tasks that changed after a moment; `nil` if these are no longer recorded.
    func changed(since moment: Int64) -> Set<QueueTask.ID>? {
        guard moment >= horizon else { return nil }
        return Set(latest.lazy.filter { $0.value > moment }.map(\.key))
    }

    /// Removes the older half of the records if there are too many.
    private mutating func forget() {
        guard latest.count > Self.most else { return }
        let moments = latest.values.sorted()
        horizon = moments[moments.count - Self.most / 2]
        let horizon = horizon
        latest = latest.filter { $0.value > horizon }
    }
}
