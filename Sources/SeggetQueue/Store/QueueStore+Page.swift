import Foundation
internal import GRDB
import Segmenter

// A part of the records in a sort order.
extension QueueStore {
    /// Finds a part of the records.
    ///
    /// - Parameters:
    ///   - filter: The tasks that are sorted and counted.
    ///   - window: The part of them, and the sort order.
    ///   - live: The reports of the tasks that are being downloaded.
    /// - Returns: The records with default options, and the number of tasks that match the filter.
    /// - Throws: `QueueError`.
    func page(
        _ filter: TaskFilter, _ window: TaskWindow, live: [TaskReport] = []
    ) throws(QueueError) -> (tasks: [QueueTask], matching: Int) {
        let condition = try TaskCondition(filter)
        return try read { db in
            let from = "FROM tasks JOIN roots ON roots.id = tasks.root_id"
            let matching = try Int.fetchOne(
                db.cachedStatement(sql: "SELECT count(*) \(from) WHERE \(condition.sql)"),
                arguments: condition.arguments)
            let order = Self.order(of: window)
            let join = order.contains("live.") ? Self.join(live) : nil
            let found = try String.fetchAll(
                db.cachedStatement(
                    sql: """
                        \(join?.with ?? "") SELECT tasks.id \(from) \(join?.sql ?? "")
                            WHERE \(condition.sql) ORDER BY \(order) LIMIT ? OFFSET ?
                        """),
                arguments: (join?.arguments ?? []) + condition.arguments
                    + [window.limit, window.offset])
            return (try records(found, db), matching ?? 0)
        }
    }

    /// Returns the number of tasks with each tag.
    ///
    /// - Throws: `QueueError`.
    package func tags() throws(QueueError) -> [String: Int] {
        try read { db in
            try Self.counts(db, "SELECT tag, count(*) FROM tags GROUP BY tag")
        }
    }

    /// Returns the places of tasks among all unfinished ones, counted from 1; finished tasks have
    /// none.
    ///
    /// - Throws: `QueueError`.
    func places(of ids: [QueueTask.ID]) throws(QueueError) -> [QueueTask.ID: Int] {
        try read { db in
            let found = try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT id, place FROM (
                            SELECT id, row_number() OVER (ORDER BY position, id) AS place FROM tasks
                                WHERE NOT \(TaskCondition.isEnded))
                            WHERE id IN (SELECT value FROM json_each(?))
                        """), arguments: [TaskCondition.list(Set(ids.map(\.description)))])
            var places: [QueueTask.ID: Int] = [:]
            while let row = try found.next() {
                var reader = ColumnReader(row)
                places[try reader.id()] = Int(clamping: try reader.integer())
            }
            return places
        }
    }

    /// Returns the records of ids, in their order.
    private func records(_ ids: [String], _ db: Database) throws -> [QueueTask] {
        let list = String(decoding: try JSONEncoder().encode(ids), as: UTF8.self)
        var tags: [String: [String]] = [:]
        let tagged = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT task, tag FROM json_each(?) AS page
                        CROSS JOIN tags ON tags.task = page.value ORDER BY task, place
                    """), arguments: [list])
        while let row = try tagged.next() {
            var reader = ColumnReader(row)
            tags[try reader.text(), default: []].append(try reader.text())
        }
        let found = try Row.fetchCursor(
            db.cachedStatement(
                sql: TaskRow.selectWithoutOptions
                    + " JOIN json_each(?) AS page ON page.value = tasks.id ORDER BY page.key"),
            arguments: [list])
        var tasks: [QueueTask] = []
        while let row = try found.next() {
            var task = try rows.task(row)
            task.tags = tags[task.id.description] ?? []
            tasks.append(task)
        }
        return tasks
    }

    /// Returns the sort expressions of a window.
    private static func order(of window: TaskWindow) -> String {
        let (done, size) = (
            "coalesce(live.done, tasks.bytes_done)", "coalesce(live.size, tasks.size)"
        )
        let direction = window.isDescending ? "DESC" : "ASC"
        let key =
            switch window.order {
            case .order: nil as String?
            // The sign keeps SQLite from the index of names, which has another order and not the
            // other columns.
            case .name: "(+tasks.name) COLLATE NOCASE"
            case .size: size
            case .progress:
                """
                CASE WHEN state = '\(TaskStatus.Word.completed)' THEN 1.0
                    WHEN \(size) > 0 THEN min(1.0, CAST(\(done) AS REAL) / \(size)) END
                """
            case .speed: "live.rate"
            case .left: "live.left"
            case .added: "tasks.added"
            case .finished: "tasks.finished"
            }
        guard let key else {
            return TaskCondition.order.map { "\($0) \(direction)" }.joined(separator: ", ")
        }
        return (["\(key) \(direction) NULLS LAST"] + TaskCondition.order).joined(separator: ", ")
    }

    /// Returns the table of what the reports of running tasks have, and their records have not.
    private static func join(
        _ live: [TaskReport]
    ) -> (with: String, sql: String, arguments: StatementArguments) {
        func finite(_ number: Double?) -> Double? { number.flatMap { $0.isFinite ? $0 : nil } }
        let live = live.map { task in
            var task = task
            task.bytesPerSecond = finite(task.bytesPerSecond)
            task.secondsLeft = finite(task.secondsLeft)
            return task
        }
        guard let json = try? JSONEncoder().encode(live) else {
            preconditionFailure("numbers that are finite always have a form in JSON")
        }
        let columns = [
            "bytes_done": "done", "size": "size", "bytes_per_second": "rate",
            "seconds_left": "left",
        ].map { "json_extract(value, '$.\($0)') AS \"\($1)\"" }
        // As a text, the id is looked up; otherwise each row would scan the list.
        return (
            """
            WITH live AS MATERIALIZED (
                SELECT CAST(json_extract(value, '$.id') AS TEXT) AS id,
                    \(columns.joined(separator: ", ")) FROM json_each(?))
            """, "LEFT JOIN live ON live.id = tasks.id",
            [String(decoding: json, as: UTF8.self)]
        )
    }
}

extension TaskCondition {
    /// The queue order: unfinished tasks, then those that have ended, the newest last.
    static let order = [
        isEnded, "CASE WHEN \(isEnded) THEN finished END", "position", "tasks.id",
    ]
}
