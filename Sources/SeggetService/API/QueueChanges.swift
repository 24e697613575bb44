package import SeggetQueue

/// What has changed in a queue: the data of the event `changes`.
package struct QueueChanges: Sendable, Hashable, Codable {
    /// The tasks that are new, or have changed, without their places in the order; in no order.
    package var tasks: [TaskReport]
    /// Those that are no more among the tasks that were asked for.
    package var removed: [QueueTask.ID]
    /// How many tasks there are in each state, as in a report.
    package var counts: [String: Int]
    /// How many have ended that nobody was told of, as in a report.
    package var unseen: [String: Int]
    /// Speed of all tasks that were asked for, in bytes per second.
    package var bytesPerSecond: Double

    enum CodingKeys: String, CodingKey {
        case tasks, removed, counts, unseen
        case bytesPerSecond = "bytes_per_second"
    }
}

/// What is told of a queue beside its tasks.
struct QueueTotals: Sendable, Hashable {
    var counts: [String: Int] = [:]
    var unseen: [String: Int] = [:]
    var bytesPerSecond = 0.0

    init() {}

    init(_ report: QueueReport) {
        (counts, unseen, bytesPerSecond) = (report.counts, report.unseen, report.bytesPerSecond)
    }
}

/// What a client knows of a queue: a report, and all that has changed since.
///
/// Pure.
struct WatchedReport: Sendable {
    /// Whether all tasks are told of, so that their places are known.
    let isWhole: Bool
    /// What is so; empty until the first one came.
    private(set) var report: QueueReport
    private var places: [QueueTask.ID: Int] = [:]

    /// Begins with nothing.
    init(_ filter: TaskFilter) {
        isWhole = filter == TaskFilter()
        report = QueueReport(
            version: "", worker: nil, tasks: [], counts: [:], bytesPerSecond: 0, unseen: [:])
    }

    /// Takes a report in place of all that there was.
    mutating func take(_ report: QueueReport) {
        self.report = report
        arrange()
    }

    /// Takes what has changed.
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

    /// Puts the tasks in their order.
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

/// Where a task stands among others: those that have not ended are first, by their rank, then those that have, by the
/// time of their ends.
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
