/// The part of the tasks that match a filter, and their order.
package struct TaskWindow: Sendable, Hashable {
    /// The keys by which tasks are sorted, as `docs/api.md` names them.
    package enum Order: String, Sendable, CaseIterable {
        case order, name, size, progress, speed, left, added, finished
    }

    /// The sort key; tasks with equal values are in queue order, and those without a value are
    /// last.
    package var order = Order.order
    /// Whether the largest values are first.
    package var isDescending = false
    /// The number of tasks before the window.
    package var offset = 0
    /// The maximum number of tasks in the window.
    package var limit = 100

    /// Creates a window of the first tasks, in queue order.
    package init() {}
}

/// A part of the tasks, with the totals of the queue.
package struct TaskPage: Sendable, Hashable, Encodable {
    /// The report, with only the tasks of the window.
    package var report: QueueReport
    /// The number of tasks that match the filter.
    package var matching: Int

    enum CodingKeys: CodingKey { case matching }

    /// Creates a page.
    package init(report: QueueReport, matching: Int) {
        (self.report, self.matching) = (report, matching)
    }

    /// Encodes the keys of the report, and `matching`.
    package func encode(to encoder: any Encoder) throws {
        try report.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(matching, forKey: .matching)
    }
}
