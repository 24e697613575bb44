internal import GRDB
import Segmenter

// Some of many tasks, by their ids.
extension QueueStore {
    /// Maximum number of tasks that are read one by one.
    ///
    /// For more, one query is faster; for few, it would read the tags of all tasks.
    private static let few = 100

    /// Reads those of the records that exist and match a filter, in no order, and without their
    /// options if they are many.
    ///
    /// - Throws: `QueueError`.
    package func look(
        at filter: TaskFilter, among ids: Set<QueueTask.ID>, _ body: (QueueTask) -> Void
    ) throws(QueueError) {
        guard !ids.isEmpty else { return }
        guard ids.count > Self.few else {
            let passing = filter == TaskFilter() ? ids : try self.ids(filter, among: ids)
            return try tasks(Array(passing)).forEach(body)
        }
        let condition = TaskCondition.joined([try TaskCondition(filter), .among(ids)], by: " AND ")
        try forEach(condition, TaskRow.selectWithoutOptions, body)
    }

    /// Reads the records that match a filter, in the queue's order, without their options.
    ///
    /// - Parameters:
    ///   - filter: The filter.
    ///   - ids: The tasks to read; `nil` for all.
    ///   - body: Is called with each record.
    /// - Throws: `QueueError`.
    package func lookInOrder(
        at filter: TaskFilter, among ids: Set<QueueTask.ID>?, _ body: (QueueTask) -> Void
    ) throws(QueueError) {
        var condition = try TaskCondition(filter)
        if let ids { condition = .joined([condition, .among(ids)], by: " AND ") }
        try forEach(condition, TaskRow.selectWithoutOptions, tagsOf: ids, body)
    }

    /// Returns the ids of the tasks that match a filter, in the queue's order.
    ///
    /// - Parameter filter: The filter.
    /// - Returns: The ids.
    /// - Throws: `QueueError`.
    package func orderedIDs(_ filter: TaskFilter) throws(QueueError) -> [QueueTask.ID] {
        try ids(
            try TaskCondition(filter),
            "ORDER BY \(TaskCondition.order.joined(separator: ", "))")
    }

    /// Returns the ids of the tasks that match a filter.
    ///
    /// - Parameters:
    ///   - filter: The filter.
    ///   - ids: The tasks to test; `nil` for all.
    /// - Returns: Those that match.
    /// - Throws: `QueueError`.
    package func ids(
        _ filter: TaskFilter, among ids: Set<QueueTask.ID>? = nil
    ) throws(QueueError) -> Set<QueueTask.ID> {
        var condition = try TaskCondition(filter)
        if let ids { condition = .joined([condition, .among(ids)], by: " AND ") }
        return Set(try self.ids(condition, ""))
    }

    private func ids(
        _ condition: TaskCondition, _ order: String
    ) throws(QueueError) -> [QueueTask.ID] {
        try read { db in
            let found = try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT tasks.id FROM tasks JOIN roots ON roots.id = tasks.root_id
                            WHERE \(condition.sql) \(order)
                        """), arguments: condition.arguments)
            var ids: [QueueTask.ID] = []
            while let row = try found.next() {
                var reader = ColumnReader(row)
                ids.append(try reader.id())
            }
            return ids
        }
    }
}

extension TaskCondition {
    /// Returns the condition for some tasks.
    fileprivate static func among(_ ids: Set<QueueTask.ID>) -> TaskCondition {
        TaskCondition(
            sql: "tasks.id IN (SELECT value FROM json_each(?))",
            arguments: [list(Set(ids.map(\.description)))])
    }
}
