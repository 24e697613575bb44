import SeggetReports
internal import GRDB
import Segmenter

extension QueueStore {
    /// Adds a task.
    ///
    /// - Parameter task: The task with all its secrets.
    /// - Returns: Its secrets, which are not stored for a task that keeps none.
    /// - Throws: `QueueError`, `invalid` if a task has its id.
    @discardableResult
    package func insert(_ task: QueueTask) throws(QueueError) -> TaskSecrets {
        try insert([task])[0]
    }

    /// Adds all tasks, or none if it throws.
    ///
    /// - Parameter tasks: The tasks with all their secrets.
    /// - Returns: The secrets of each task, which are not stored for tasks that keep none.
    /// - Throws: `QueueError`, `invalid` if a task has one of the ids.
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

    /// Replaces the record of a task; its stored secrets remain unchanged.
    ///
    /// - Parameter task: The new record.
    /// - Throws: `QueueError`, `noTask` if the task no longer exists.
    package func update(_ task: QueueTask) throws(QueueError) {
        try write { db in try writeRecord(task.split().record, db) }
    }

    /// Changes the record of a task; its stored secrets remain unchanged.
    ///
    /// - Parameters:
    ///   - id: The task.
    ///   - body: Changes its record.
    /// - Throws: `QueueError`, `noTask` if the task no longer exists.
    package func update(
        _ id: QueueTask.ID, _ body: (inout QueueTask) -> Void
    ) throws(QueueError) {
        try transaction { () throws(QueueError) in
            guard var task = try task(id) else { throw QueueError(.noTask(id)) }
            body(&task)
            try update(task)
        }
    }

    /// Replaces the record and the secrets of a task.
    ///
    /// - Parameter task: The task with all its secrets.
    /// - Returns: Its secrets, which are not stored for a task that keeps none.
    /// - Throws: `QueueError`, `noTask` if the task no longer exists.
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

    /// Changes the status and the chore of a task.
    ///
    /// - Throws: `QueueError`, `noTask` if the task no longer exists.
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

    /// Marks the results of tasks as seen; unfinished tasks remain unchanged.
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

    /// Removes tasks with their tags, events and secrets; unknown ids are ignored.
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
            outdatedPlans += ids
            try removeUnusedRoots(db)
        }
    }

    /// Returns the record of a task; `nil` if it does not exist.
    ///
    /// - Throws: `QueueError`.
    package func task(_ id: QueueTask.ID) throws(QueueError) -> QueueTask? {
        try tasks([id]).first
    }

    /// Returns the records of the existing tasks, in the order of `ids`.
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

    /// Returns the stored secrets of a task.
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

    /// Removes secrets without a task, which remain if a process was killed between two steps.
    ///
    /// - Returns: The number of removed secrets.
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
            // The secrets of the present transaction are removed when it has succeeded.
            let orphans = try store.keys()
                .filter { !used.contains($0) && !outdatedSecrets.contains($0) }
            try store.remove(orphans)
            return orphans.count
        }
    }

    /// Notes that the secrets of a task are removed once the transaction has succeeded.
    private func outdateSecrets(of id: QueueTask.ID, _ db: Database) throws {
        let version = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT secrets_version FROM tasks WHERE id = ?"),
            arguments: [id.description])
        guard let version, version > 0 else { return }
        outdatedSecrets.append(SecretStore.Key(task: id.description, version: version))
    }

    /// Writes secrets, and their versions into the records.
    private func writeSecrets(_ secrets: [(id: QueueTask.ID, secrets: TaskSecrets)], _ db: Database)
        throws
    {
        guard !secrets.isEmpty, let store = try secretStore(make: true) else { return }
        let update = try db.cachedStatement(
            sql: "UPDATE tasks SET secrets_version = ? WHERE id = ?")
        let entries = try secrets.map { id, secrets in
            // A new version, because an earlier one may still be valid, or about to be removed.
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

    /// Returns the number of a root, and adds the root if necessary.
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

    /// Finds few tasks by an index, and reads the tags of each, not those of all tasks.
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
