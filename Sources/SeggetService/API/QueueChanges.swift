package import SeggetQueue

/// The changes of a queue: the data of the event `changes`.
package struct QueueChanges: Sendable, Hashable, Codable {
    /// The new and changed tasks, without their positions, in no order.
    package var tasks: [TaskReport]
    /// The tasks that no longer pass the filter, or no longer exist.
    package var removed: [QueueTask.ID]
    /// The number of tasks in each state, as in a report.
    package var counts: [TaskStatus.Word: Int]
    /// The number of unseen results, as in a report.
    package var unseen: [TaskStatus.Word: Int]
    /// The total speed of the tasks that pass the filter, in bytes per second.
    package var bytesPerSecond: Double

    enum CodingKeys: String, CodingKey {
        case tasks, removed, counts, unseen
        case bytesPerSecond = "bytes_per_second"
    }

    /// Creates the changes of some tasks, with the totals of a view.
    package init(tasks: [TaskReport], removed: [QueueTask.ID], _ view: QueueView) {
        (self.tasks, self.removed) = (tasks, removed)
        (counts, unseen) = (view.counts, view.unseen)
        bytesPerSecond = view.bytesPerSecond
    }
}

/// A client's copy of a queue: a report, to which changes are applied.
///
/// Pure.
struct WatchedReport: Sendable {
    /// Whether the client receives all tasks, so that their positions are known.
    let isWhole: Bool
    /// The current report; empty before the first event.
    private(set) var report: QueueReport
    private var places: [QueueTask.ID: Int] = [:]

    /// Creates an empty copy.
    init(_ filter: TaskFilter) {
        isWhole = filter == TaskFilter()
        report = QueueReport(version: "", worker: nil, tasks: [], QueueView())
    }

    /// Replaces the report.
    mutating func take(_ report: QueueReport) {
        self.report = report
        arrange()
    }

    /// Applies changes.
    mutating func take(_ changes: QueueChanges) {
        (report.counts, report.unseen) = (changes.counts, changes.unseen)
        report.bytesPerSecond = changes.bytesPerSecond
        var isMixed = false
        let removed = Set(changes.removed)
        if removed.contains(where: { places[$0] != nil }) {
            report.tasks.removeAll { removed.contains($0.id) }
            isMixed = true
        }
        if isMixed { index() }
        for var task in changes.tasks {
            guard let place = places[task.id] else {
                places[task.id] = report.tasks.count
                report.tasks.append(task)
                isMixed = true
                continue
            }
            let earlier = report.tasks[place]
            isMixed = isMixed || Place(earlier) != Place(task)
            task.position = earlier.position
            report.tasks[place] = task
        }
        if isMixed { arrange() }
    }

    /// Sorts the tasks.
    private mutating func arrange() {
        let places = report.tasks.map(Place.init)
        report.tasks = places.indices.sorted { places[$0] < places[$1] }.map { report.tasks[$0] }
        for index in report.tasks.indices {
            let hasPlace = isWhole && report.tasks[index].seen == nil
            report.tasks[index].position = hasPlace ? index + 1 : nil
        }
        index()
    }

    private mutating func index() {
        places = Dictionary(
            report.tasks.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
    }
}

/// The sort key of a task.
///
/// Tasks without a result are first, by their rank. Then those with a result follow, by the time of
/// the result.
private struct Place: Hashable, Comparable {
    private let ended: Double
    private let rank: Int64
    private let id: String

    init(_ task: TaskReport) {
        ended = task.seen == nil ? -.infinity : task.finished ?? 0
        (rank, id) = (task.rank ?? 0, task.id.description)
    }

    static func < (one: Place, other: Place) -> Bool {
        (one.ended, one.rank, one.id) < (other.ended, other.rank, other.id)
    }
}
