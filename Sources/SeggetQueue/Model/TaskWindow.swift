/// Which part of the tasks that a filter lets pass is asked for, and in which order.
package struct TaskWindow: Sendable, Hashable {
    /// By what the tasks are sorted; the words are those of `docs/api.md`.
    package enum Order: String, Sendable, CaseIterable {
        case order, name, size, progress, speed, left, added, finished
    }

    /// By what they are sorted; equal ones are in the order of the queue, and those without a value come last.
    package var order = Order.order
    /// Whether the largest come first.
    package var isDescending = false
    /// How many tasks come before the window.
    package var offset = 0
    /// How many tasks the window has at the most.
    package var limit = 100

    /// Makes a window of the first tasks, in the order of the queue.
    package init() {}
}

/// A part of the tasks, and what is told of the queue as a whole.
package struct TaskPage: Sendable, Hashable, Encodable {
    /// The report, with the tasks of the window only.
    package var report: QueueReport
    /// How many tasks the filter lets pass.
    package var matching: Int

    enum CodingKeys: CodingKey { case matching }

    /// Makes a page.
    package init(report: QueueReport, matching: Int) {
        (self.report, self.matching) = (report, matching)
    }

    /// Writes the report's keys, and `matching` beside them.
    package func encode(to encoder: any Encoder) throws {
        try report.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(matching, forKey: .matching)
    }
}
