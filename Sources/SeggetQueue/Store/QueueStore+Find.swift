import Foundation
internal import GRDB
import Segmenter

extension QueueStore {
    /// Finds ids by their beginning.
    ///
    /// - Parameters:
    ///   - prefix: The text.
    ///   - most: The maximum number of ids to find.
    /// - Returns: The ids, in order.
    /// - Throws: `QueueError`.
    package func ids(
        withPrefix prefix: String, most: Int = .max
    ) throws(QueueError) -> [QueueTask.ID] {
        try read { db in
            let condition = TaskCondition.prefix(prefix)
            let rows = try Row.fetchAll(
                db, sql: "SELECT id FROM tasks WHERE \(condition.sql) ORDER BY id LIMIT ?",
                arguments: condition.arguments + [most])
            return try rows.map { row in
                var reader = ColumnReader(row)
                return try reader.id()
            }
        }
    }

    /// The records that a filter lets pass: those in the order, and then those that have ended, the
    /// newest last.
    ///
    /// A paused task is in no other state than ``TaskStatus/Word/paused`` until
    /// it has ended. A task has to have one of the ids or tags, when there are any.
    ///
    /// - Throws: `QueueError`.
    package func find(_ filter: TaskFilter = TaskFilter()) throws(QueueError) -> [QueueTask] {
        try find(try TaskCondition(filter))
    }

    /// Finds the task whose file has a place.
    ///
    /// - Parameters:
    ///   - place: The place; without a name, no task has it.
    ///   - id: A task to ignore.
    /// - Returns: The task; of several the one with the best claim: one that has not ended, then
    ///   one that is completed, then any other.
    /// - Throws: `QueueError`.
    package func owner(
        of place: QueueTask.Place, but id: QueueTask.ID? = nil
    ) throws(QueueError) -> QueueTask.ID? {
        guard let name = place.name else { return nil }
        let tasks = try findFew(
            TaskCondition(
                sql: "tasks.name = ? AND \(Self.folderPath) = ? AND tasks.id IS NOT ?",
                arguments: [name, place.folderPath, id?.description]))
        let owner =
            tasks.first { !$0.status.isEnded } ?? tasks.first { $0.status.state == .completed }
            ?? tasks.first
        return owner?.id
    }

    /// Reads what decides which task is next, in queue order: of each task that has not ended, or
    /// that has a chore.
    ///
    /// - Parameter body: Is called with the id of each task, its status, the scheme, host and port
    ///   of its first URL, and its chore.
    /// - Throws: `QueueError`.
    func forEachStatus(
        _ body: (QueueTask.ID, TaskStatus, _ host: String, QueueTask.Chore?) -> Void
    ) throws(QueueError) {
        try read { db in
            let statement = try db.cachedStatement(
                sql: """
                    SELECT id, wanted, state, state_time, position, attempts, problem, chore,
                        CASE WHEN urls IS NULL THEN url ELSE json_extract(urls, '$[0]') END
                    FROM tasks WHERE NOT \(TaskCondition.isEnded) OR chore IS NOT NULL
                    ORDER BY position, id
                    """)
            let found = try Row.fetchCursor(statement)
            // Parsing each URL would take longest.
            var hosts: [Substring: String] = [:]
            while let row = try found.next() {
                var reader = ColumnReader(row)
                let id = try reader.id()
                let status = try rows.status(&reader)
                let chore: QueueTask.Chore? = try rows.read(reader.optionalText())
                let url = try reader.text()
                let authority = Self.authority(url)
                let host = hosts[authority] ?? DownloadSession.origin(of: url)
                hosts[authority] = host
                body(id, status, host, chore)
            }
        }
    }

    /// The place of a task among those that have not ended, from 1; `nil` where it has ended, or
    /// there is none.
    ///
    /// - Throws: `QueueError`.
    package func place(of id: QueueTask.ID) throws(QueueError) -> Int? {
        try read { db in
            let found = try Int.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT count(*) FROM tasks WHERE NOT \(TaskCondition.isEnded)
                            AND (position, id) <= (SELECT position, id FROM tasks
                                WHERE id = ? AND NOT \(TaskCondition.isEnded))
                        """), arguments: [id.description])
            return found.flatMap { $0 > 0 ? $0 : nil }
        }
    }

    /// Returns the totals of all tasks, as far as they are recorded.
    ///
    /// The worker's store counts only again after it has changed something: nobody else changes its
    /// records, and a subscriber that asks ten times a second must not have all of them read as
    /// often.
    ///
    /// - Parameter isWorked: Whether this process is the worker; if not, no task runs, whatever the
    ///   records say.
    /// - Returns: The totals, without running tasks.
    /// - Throws: `QueueError`.
    package func view(isWorked: Bool = true) throws(QueueError) -> QueueView {
        let changes = try read { $0.totalChangesCount }
        if isWorked, let counted, counted.changes == changes { return counted.view }
        var view = QueueView()
        var (bytesDone, size) = (0.0, 0.0)
        try read { db in
            let found = try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT CASE WHEN \(TaskCondition.isPaused)
                            THEN '\(TaskStatus.Word.paused)' ELSE state END AS word, count(*),
                            total(NOT seen), total(bytes_done), total(size)
                            FROM tasks GROUP BY word
                        """))
            while let row = try found.next() {
                var reader = ColumnReader(row)
                let word = TaskStatus.Word(rawValue: try reader.text())
                view.counts[word] = Int(clamping: try reader.integer())
                let unseen = Int(try reader.number())
                if [.completed, .failed].contains(word), unseen > 0 { view.unseen[word] = unseen }
                guard ![.cancelled, .failed].contains(word) else { continue }
                bytesDone += try reader.number()
                size += try reader.number()
            }
        }
        // Servers may state any size.
        (view.bytesDone, view.size) = (Int64(min(bytesDone, 4e18)), Int64(min(size, 4e18)))
        guard isWorked else {
            let stopped = TaskStatus.Word.withSlot.compactMap {
                view.counts.removeValue(forKey: $0)
            }
            if !stopped.isEmpty { view.counts[.waiting, default: 0] += stopped.reduce(0, +) }
            return view
        }
        counted = (changes, view)
        return view
    }

    /// Returns the tasks whose files may be newer than their records: tasks with a chore, and
    /// started tasks that have not ended.
    ///
    /// - Throws: `QueueError`.
    package func begun() throws(QueueError) -> [QueueTask.ID] {
        try read { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT id FROM tasks
                        WHERE chore IS NOT NULL OR file IS NOT NULL AND NOT \(TaskCondition.isEnded)
                    """)
            return try rows.map { row in
                var reader = ColumnReader(row)
                return try reader.id()
            }
        }
    }

    static func counts(_ db: Database, _ sql: String) throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for row in try Row.fetchAll(db.cachedStatement(sql: sql)) {
            var reader = ColumnReader(row)
            counts[try reader.text()] = Int(clamping: try reader.integer())
        }
        return counts
    }

    private func find(_ condition: TaskCondition) throws(QueueError) -> [QueueTask] {
        var tasks: [QueueTask] = []
        try forEach(condition, TaskRow.select) { tasks.append($0) }
        return tasks
    }

    func forEach(
        _ condition: TaskCondition, _ select: String, tagsOf ids: Set<QueueTask.ID>? = nil,
        _ body: (QueueTask) -> Void
    ) throws(QueueError) {
        try read { db in
            var tags: [String: [String]] = [:]
            let tagged =
                if let ids {
                    // Reads no tags of other tasks.
                    try Row.fetchCursor(
                        db.cachedStatement(
                            sql: """
                                SELECT task, tag FROM tags
                                    WHERE task IN (SELECT value FROM json_each(?))
                                    ORDER BY task, place
                                """),
                        arguments: [TaskCondition.list(Set(ids.map(\.description)))])
                } else {
                    try Row.fetchCursor(
                        db.cachedStatement(
                            sql: """
                                SELECT task, tag FROM tags CROSS JOIN tasks ON tasks.id = tags.task
                                    CROSS JOIN roots ON roots.id = tasks.root_id
                                    WHERE \(condition.sql) ORDER BY task, place
                                """), arguments: condition.arguments)
                }
            while let row = try tagged.next() {
                var reader = ColumnReader(row)
                tags[try reader.text(), default: []].append(try reader.text())
            }
            let order = """
                 WHERE \(condition.sql) ORDER BY \(TaskCondition.order.joined(separator: ", "))
                """
            let found = try Row.fetchCursor(
                db.cachedStatement(sql: select + order), arguments: condition.arguments)
            while let row = try found.next() {
                var task = try rows.task(row)
                if !tags.isEmpty { task.tags = tags[task.id.description] ?? [] }
                body(task)
            }
        }
    }

    /// Returns a URL up to the end of its authority (RFC 3986 §3.2).
    private static func authority(_ url: String) -> Substring {
        let start = url.utf8.firstRange(of: "://".utf8)?.upperBound ?? url.startIndex
        let isEnd: (UInt8) -> Bool = {
            $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#")
        }
        return url[..<(url.utf8[start...].firstIndex(where: isEnd) ?? url.endIndex)]
    }

    /// The path of a task's folder, like ``QueueTask/Place/folderPath``.
    static let folderPath = """
        CASE WHEN tasks.folder = '' THEN roots.path
            ELSE CASE WHEN roots.path LIKE '%/' THEN roots.path ELSE roots.path || '/' END
                || tasks.folder END
        """
}

/// A condition on the rows of tasks, joined with their roots.
struct TaskCondition {
    var sql: String
    var arguments: StatementArguments

    // The indexes have the same expression, word for word.
    static let isEnded =
        "(state IN (\(TaskStatus.Word.ended.map { "'\($0)'" }.joined(separator: ", "))))"
    // The database stores `held` for a paused task, as every version of segget did.
    static let isPaused = "(wanted = 'held' AND NOT \(isEnded))"

    init(sql: String, arguments: StatementArguments) {
        (self.sql, self.arguments) = (sql, arguments)
    }

    /// Returns the condition for ids that begin with a text: all digits of an id are before `g`.
    static func prefix(_ prefix: String) -> TaskCondition {
        TaskCondition(
            sql: "(tasks.id >= ? AND tasks.id < ? || 'g')", arguments: [prefix, prefix])
    }

    /// Creates the condition of a filter.
    ///
    /// - Throws: `invalid`, for a filter that is too long.
    init(_ filter: TaskFilter) throws(QueueError) {
        try filter.check()
        let selection = filter.selection
        var parts: [TaskCondition] = []
        if !selection.isAll, !selection.ids.isEmpty || !selection.tags.isEmpty {
            // One expression for any number of ids, each of which is looked up in the index.
            parts.append(
                TaskCondition(
                    sql: """
                        (tasks.id IN (SELECT named.id FROM json_each(?) AS prefix
                            CROSS JOIN tasks AS named
                            ON named.id >= prefix.value AND named.id < prefix.value || 'g')
                        OR tasks.id IN (SELECT task FROM tags WHERE \(Self.isIn("tag"))))
                        """,
                    arguments: [
                        Self.list(Set(selection.ids.map { $0.lowercased() })),
                        Self.list(Set(selection.tags)),
                    ]))
        }
        if !selection.states.isEmpty {
            let orPaused = selection.states.contains(.paused) ? "OR" : "AND NOT"
            parts.append(
                TaskCondition(
                    sql: "(\(Self.isIn("state")) \(orPaused) \(Self.isPaused))",
                    arguments: [Self.list(Set(selection.states.map(\.rawValue)))]))
        }
        if let text = filter.text, !text.isEmpty { parts.append(Self.containing(text)) }
        if filter.isUnseen {
            parts.append(TaskCondition(sql: "(\(Self.isEnded) AND NOT seen)", arguments: []))
        }
        self =
            parts.isEmpty
            ? TaskCondition(sql: "TRUE", arguments: []) : Self.joined(parts, by: " AND ")
    }

    /// Returns the condition for a text in URL, name or folder, in any case.
    private static func containing(_ text: String) -> TaskCondition {
        let columns = [
            "tasks.url", "tasks.urls", "tasks.name", "roots.path || '/' || tasks.folder",
        ]
        // SQLite's LIKE ignores case for ASCII only; GRDB's function does so for all letters, and
        // is slower.
        guard text.utf8.contains(where: { $0 >= 0x80 }) else {
            let pattern = text.reduce(into: "") { pattern, character in
                if "\\%_".contains(character) { pattern.append("\\") }
                pattern.append(character)
            }
            return TaskCondition(
                sql: "(\(columns.map { "\($0) LIKE ? ESCAPE '\\'" }.joined(separator: " OR ")))",
                arguments: StatementArguments(columns.map { _ in "%\(pattern)%" }))
        }
        return TaskCondition(
            sql: "("
                + columns.map { "instr(\(DatabaseFunction.lowercase.name)(\($0)), ?) > 0" }
                .joined(separator: " OR ") + ")",
            arguments: StatementArguments(columns.map { _ in text.lowercased() }))
    }

    static func joined(_ parts: [TaskCondition], by word: String) -> TaskCondition {
        TaskCondition(
            sql: "(\(parts.map(\.sql).joined(separator: word)))",
            arguments: parts.reduce(into: StatementArguments()) { $0 += $1.arguments })
    }

    /// Whether a column has one of the texts of a ``list(_:)``.
    private static func isIn(_ column: String) -> String {
        "\(column) IN (SELECT value FROM json_each(?))"
    }

    /// Texts as one argument.
    static func list(_ texts: Set<String>) -> String {
        guard let json = try? JSONEncoder().encode(texts) else {
            preconditionFailure("texts always have a form in JSON")
        }
        return String(decoding: json, as: UTF8.self)
    }
}
