import Foundation
internal import GRDB
import SeggetReports
import Segmenter

extension QueueStore {
    /// Maximum number of events of a task.
    package static let mostEvents = 200

    /// Records events of a task; the last 200 are kept.
    ///
    /// - Parameters:
    ///   - events: The events, the oldest first.
    ///   - id: The task; if it was removed meanwhile, nothing is recorded.
    /// - Throws: `QueueError`.
    package func addEvents(_ events: [TaskEvent], of id: QueueTask.ID) throws(QueueError) {
        guard !events.isEmpty else { return }
        try write { db in
            let insert = try db.cachedStatement(
                sql: """
                    INSERT INTO events (task, time, event, message)
                        SELECT id, ?, ?, ? FROM tasks WHERE id = ?
                    """)
            for event in events.suffix(Self.mostEvents) {
                try insert.execute(
                    arguments: [event.time, event.event, event.message, id.description])
            }
            let prune = try db.cachedStatement(
                sql: """
                    DELETE FROM events WHERE task = ? AND id <= (
                        SELECT id FROM events WHERE task = ? ORDER BY id DESC LIMIT 1 OFFSET ?)
                    """)
            try prune.execute(arguments: [id.description, id.description, Self.mostEvents])
        }
    }

    /// Returns the events of a task, the oldest first.
    ///
    /// - Throws: `QueueError`.
    package func events(of id: QueueTask.ID) throws(QueueError) -> [TaskEvent] {
        try read { db in
            let rows = try Row.fetchAll(
                db.cachedStatement(
                    sql: "SELECT time, event, message FROM events WHERE task = ? ORDER BY id"),
                arguments: [id.description])
            return try rows.map { row in
                var reader = ColumnReader(row)
                return TaskEvent(
                    time: try reader.number(), event: FirstNames.currentNotice(try reader.text()),
                    message: try reader.text())
            }
        }
    }

    /// Returns the settings of the queue, with defaults for those that were never set.
    ///
    /// - Throws: `QueueError`.
    package func settings() throws(QueueError) -> QueueSettings {
        try read { db in
            var settings = QueueSettings()
            for row in try Row.fetchAll(db, sql: "SELECT key, value FROM settings") {
                var reader = ColumnReader(row)
                let key = try reader.text()
                // Settings of a later version remain unchanged.
                guard let field = SettingsField.all.first(where: { $0.key == key }) else {
                    continue
                }
                try field.read(&settings, try reader.text(), self.rows)
            }
            return settings
        }
    }

    /// Changes the settings of the queue.
    ///
    /// - Throws: `QueueError`.
    package func setSettings(_ settings: QueueSettings) throws(QueueError) {
        try write { db in
            for field in SettingsField.all {
                if let json = try field.write(settings, rows) {
                    try db.execute(
                        sql: "INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)",
                        arguments: [field.key, json])
                } else {
                    try db.execute(
                        sql: "DELETE FROM settings WHERE key = ?", arguments: [field.key])
                }
            }
        }
    }
}

/// A setting with the key by which it is stored, which never changes.
private struct SettingsField: Sendable {
    let key: String
    let read: @Sendable (inout QueueSettings, String, TaskRow) throws -> Void
    let write: @Sendable (QueueSettings, TaskRow) throws -> String?

    static let all: [SettingsField] = [
        .init("max_running", \.maxRunning),
        .init(optional: "rate_limit", \.rateLimit),
        .init(optional: "rate_schedule", \.rateSchedule),
        .init(optional: "max_requests", \.maxRequests),
        .init("retry_delays", \.retryDelays),
        .init("rules", \.rules),
        .init("metered", \.metered),
    ]

    private init<Value: Codable & Sendable>(
        _ key: String, _ path: any WritableKeyPath<QueueSettings, Value> & Sendable
    ) {
        self.key = key
        read = { settings, json, rows in
            if let value: Value = try rows.read(json) { settings[keyPath: path] = value }
        }
        write = { settings, rows in try rows.json(settings[keyPath: path]) }
    }

    private init<Value: Codable & Sendable>(
        optional key: String, _ path: any WritableKeyPath<QueueSettings, Value?> & Sendable
    ) {
        self.key = key
        read = { settings, json, rows in settings[keyPath: path] = try rows.read(json) }
        write = { settings, rows in try settings[keyPath: path].map { try rows.json($0) } }
    }
}
