import SeggetReports
internal import GRDB
import Segmenter

extension QueueStore {
    /// Adds a task.
    ///
    /// - Parameter task: The task with all its secrets.
    /// - Returns: What of it is secret; that of a task that keeps none is stored nowhere.
    /// - Throws: `QueueError`, `invalid` when there is a task of its id already.
    @discardableResult
    package func insert(_ task: QueueTask) throws(QueueError) -> TaskSecrets {
        try insert([task])[0]
    }

    /// Adds tasks, all or, when it throws, none.
    ///
    /// - Parameter tasks: The tasks with all their secrets.
    /// - Returns: What of each is secret; that of tasks that keep none is stored nowhere.
    /// - Throws: `QueueError`, `invalid` when there is a task of one of the ids already.
    @discardableResult
    package func insert(_ tasks: [QueueTask]) throws(QueueError) -> [TaskSecrets] {
        try write { db in
            touch(tasks.map(\.id))
            let statement = try db.cachedStatement(sql: TaskRow.insert)
            var stored: [(QueueTask.ID, TaskSecrets)] = []
            let all = try tasks.map { task in
                let (record, secrets) = task.split()
                let values = try rows.values(of: record)
                let root = try number(ofRoot: record.place.root, db)
                try statement.execute(arguments: StatementArguments(values + [root]))
                try insertTags(record, db)
                if !secrets.isEmpty, !record.keepsNoSecrets { stored.append((record.id, secrets)) }
                return secrets
            }
            try writeSecrets(stored, db)
            return all
        }
    }

    /// Changes all that is recorded of a task; the secrets that are stored stay as they are.
    ///
    /// - Parameter task: Its record.
    /// - Throws: `QueueError`, `noTask` when there is none of its id any more.
    package func update(_ task: QueueTask) throws(QueueError) {
        try write { db in try writeRecord(task.split().record, db) }
    }

    /// Changes what is recorded of a task; the secrets that are stored stay as they are.
    ///
    /// - Parameters:
    ///   - id: The task.
    ///   - body: Changes its record.
    /// - Throws: `QueueError`, `noTask` when there is none of its id any more.
    package func update(
        _ id: QueueTask.ID, _ body: (inout QueueTask) -> Void
    ) throws(QueueError) {
        try transaction { () throws(QueueError) in
            guard var task = try task(id) else { throw QueueError(.noTask(id)) }
            body(&task)
            try update(task)
        }
    }

    /// Changes all that is recorded of a task, and its secrets.
    ///
    /// - Parameter task: The task with all its secrets.
    /// - Returns: What of it is secret; that of a task that keeps none is stored nowhere.
    /// - Throws: `QueueError`, `noTask` when there is none of its id any more.
    @discardableResult
    package func replace(_ task: QueueTask) throws(QueueError) -> TaskSecrets {
        try write { db in
            let (record, secrets) = task.split()
            try writeRecord(record, db)
            try outdateSecrets(of: task.id, db)
            if secrets.isEmpty || record.keepsNoSecrets {
                try db.execute(
                    sql: "UPDATE tasks SET secrets_version = 0 WHERE id = ?",
                    arguments: [task.id.description])
            } else {
                try writeSecrets([(task.id, secrets)], db)
            }
            return secrets
        }
    }

    /// Changes what is wanted of a task and what is so, its place in the order, its attempts, its problem, and what is
    /// still to be done about it.
    ///
    /// - Throws: `QueueError`, `noTask` when there is none of its id any more.
    package func updateStatus(
        _ id: QueueTask.ID, _ status: TaskStatus, chore: QueueTask.Chore?
    ) throws(QueueError) {
        try write { db in
            touch([id])
            let statement = try db.cachedStatement(
                sql: """
                    UPDATE tasks SET wanted = ?, state = ?, state_time = ?, position = ?, attempts = ?,
                        problem = ?, chore = ? WHERE id = ?
                    """)
            try statement.execute(arguments: [
                status.wanted.stored, status.state.word.rawValue, status.state.time,
                status.position,
                status.attempts, try status.problem.map { try rows.json($0) },
                try chore.map { try rows.json($0) }, id.description,
            ])
            guard db.changesCount == 1 else { throw QueueError(.noTask(id)) }
        }
    }

    /// Notes that somebody was told of the ends of tasks; those that have not ended stay as they are.
    ///
    /// - Throws: `QueueError`.
    package func markSeen(_ ids: [QueueTask.ID]) throws(QueueError) {
        try write { db in
            touch(ids)
            let statement = try db.cachedStatement(
                sql: "UPDATE tasks SET seen = 1 WHERE id = ? AND \(TaskCondition.isEnded)")
            for id in ids { try statement.execute(arguments: [id.description]) }
        }
    }

    /// Removes tasks with their tags, events and secrets; ids of none are nothing to be done.
    ///
    /// - Throws: `QueueError`.
    package func delete(_ ids: [QueueTask.ID]) throws(QueueError) {
        try write { db in
            touch(ids)
            let statement = try db.cachedStatement(sql: "DELETE FROM tasks WHERE id = ?")
            for id in ids {
                try outdateSecrets(of: id, db)
                try statement.execute(arguments: [id.description])
            }
            try removeUnusedRoots(db)
        }
    }

    /// The record of a task; `nil` when there is none.
    ///
    /// - Throws: `QueueError`.
    package func task(_ id: QueueTask.ID) throws(QueueError) -> QueueTask? {
        try tasks([id]).first
    }

    /// The records of tasks, in the order of their ids here; those that there are.
    ///
    /// - Throws: `QueueError`.
    package func tasks(_ ids: [QueueTask.ID]) throws(QueueError) -> [QueueTask] {
        try read { db in
            let statement = try db.cachedStatement(sql: TaskRow.select + " WHERE tasks.id = ?")
            return try ids.compactMap { id in
                guard let row = try Row.fetchOne(statement, arguments: [id.description]) else {
                    return nil
                }
                var task = try rows.task(row)
                task.tags = try tags(of: id, db)
                return task
            }
        }
    }

    // MARK: - Secrets

    /// The secrets of a task, as far as they are stored.
    ///
    /// - Throws: `QueueError`.
    package func secrets(of id: QueueTask.ID) throws(QueueError) -> TaskSecrets? {
        let version = try read { db in
            try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT secrets_version FROM tasks WHERE id = ?"),
                arguments: [id.description])
        }
        guard let version, version > 0 else { return nil }
        return try secretStore()?.read(SecretStore.Key(task: id.description, version: version))
    }

    /// Removes secrets that belong to no task: a process was killed between two steps.
    ///
    /// - Returns: How many there were.
    /// - Throws: `QueueError`.
    @discardableResult
    package func removeOrphanedSecrets() throws(QueueError) -> Int {
        try write { db in
            guard let store = try secretStore() else { return 0 }
            let rows = try Row.fetchAll(
                db, sql: "SELECT id, secrets_version FROM tasks WHERE secrets_version > 0")
            let used = try Set(
                rows.map { row in
                    var reader = ColumnReader(row)
                    return SecretStore.Key(task: try reader.text(), version: try reader.integer())
                })
            // Those of a transaction that goes on are removed when it has gone well.
            let orphans = try store.keys()
                .filter { !used.contains($0) && !outdatedSecrets.contains($0) }
            try store.remove(orphans)
            return orphans.count
        }
    }

    /// Notes that the secrets of a task are to go once the transaction has gone well.
    private func outdateSecrets(of id: QueueTask.ID, _ db: Database) throws {
        let version = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT secrets_version FROM tasks WHERE id = ?"),
            arguments: [id.description])
        guard let version, version > 0 else { return }
        outdatedSecrets.append(SecretStore.Key(task: id.description, version: version))
    }

    /// Writes secrets, and then which ones are the tasks'.
    private func writeSecrets(_ secrets: [(id: QueueTask.ID, secrets: TaskSecrets)], _ db: Database)
        throws
    {
        guard !secrets.isEmpty, let store = try secretStore(make: true) else { return }
        let update = try db.cachedStatement(
            sql: "UPDATE tasks SET secrets_version = ? WHERE id = ?")
        let entries = try secrets.map { id, secrets in
            // Never one that there was before: that may still hold, or be about to go.
            let version = Int64.random(in: 1 ... .max)
            try update.execute(arguments: [version, id.description])
            return (key: SecretStore.Key(task: id.description, version: version), secrets: secrets)
        }
        draftedSecrets += entries.map(\.key)
        try store.write(entries)
    }

    // MARK: - Rows

    private func writeRecord(_ task: QueueTask, _ db: Database) throws {
        touch([task.id])
        let earlierRoot = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT root_id FROM tasks WHERE id = ?"),
            arguments: [task.id.description])
        guard let earlierRoot else { throw QueueError(.noTask(task.id)) }
        let root = try number(ofRoot: task.place.root, db)
        let values = try rows.values(of: task)
        try db.cachedStatement(sql: TaskRow.update).execute(
            arguments: StatementArguments(values + [root, task.id.description]))
        if try tags(of: task.id, db) != task.tags {
            try db.execute(
                sql: "DELETE FROM tags WHERE task = ?", arguments: [task.id.description])
            try insertTags(task, db)
        }
        if root != earlierRoot { try removeUnusedRoots(db) }
    }

    /// The number of a root, which gets one where it has none.
    private func number(ofRoot path: String, _ db: Database) throws -> Int64 {
        let select = try db.cachedStatement(sql: "SELECT id FROM roots WHERE path = ?")
        if let number = try Int64.fetchOne(select, arguments: [path]) { return number }
        try db.execute(sql: "INSERT INTO roots (path) VALUES (?)", arguments: [path])
        return db.lastInsertedRowID
    }

    private func removeUnusedRoots(_ db: Database) throws {
        try db.cachedStatement(
            sql: """
                DELETE FROM roots WHERE NOT EXISTS (SELECT 1 FROM tasks WHERE root_id = roots.id)
                """
        ).execute()
    }

    private func insertTags(_ task: QueueTask, _ db: Database) throws {
        guard !task.tags.isEmpty else { return }
        let statement = try db.cachedStatement(
            sql: "INSERT INTO tags (task, tag, place) VALUES (?, ?, ?)")
        for (place, tag) in task.tags.enumerated() {
            try statement.execute(arguments: [task.id.description, tag, place])
        }
    }

    /// Finds tasks by what has an index, where they are few: the tags of each are read for it, and not those of all.
    func findFew(_ condition: TaskCondition) throws(QueueError) -> [QueueTask] {
        try read { db in
            let order = TaskCondition.order.joined(separator: ", ")
            let statement = try db.cachedStatement(
                sql: TaskRow.select + " WHERE \(condition.sql) ORDER BY \(order)")
            return try Row.fetchAll(statement, arguments: condition.arguments).map { row in
                var task = try rows.task(row)
                task.tags = try tags(of: task.id, db)
                return task
            }
        }
    }

    func tags(of id: QueueTask.ID, _ db: Database) throws -> [String] {
        try String.fetchAll(
            db.cachedStatement(sql: "SELECT tag FROM tags WHERE task = ? ORDER BY place"),
            arguments: [id.description])
    }
}
