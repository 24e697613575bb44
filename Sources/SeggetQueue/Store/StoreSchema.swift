internal import GRDB

/// The format of a database, and its migrations.
struct StoreSchema: Sendable {
    /// The id that distinguishes the file from databases of other programs (`PRAGMA
    /// application_id`).
    var applicationID: Int32
    /// The migrations; each has the name of the version that it produces.
    var migrator: DatabaseMigrator
    /// Whether the copy from before a migration is kept after its success.
    var keepsBackup: Bool

    /// The newest version.
    var version: Int { migrator.migrations.count }

    /// The database of a queue.
    static let queue = StoreSchema(
        applicationID: 0x5347_5151,
        migrator: migrator { migrator in
            migrator.registerMigration("1") { db in
                try db.execute(sql: "PRAGMA application_id = \(0x5347_5151)")
                try db.execute(sql: queueVersion1)
            }
            migrator.registerMigration("2") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE client_tasks (
                            task TEXT NOT NULL PRIMARY KEY REFERENCES tasks (id) ON DELETE CASCADE
                        ) STRICT
                        """)
            }
            migrator.registerMigration("3") { db in
                try db.execute(sql: "ALTER TABLE tasks ADD COLUMN file_set TEXT")
            }
        }, keepsBackup: true)

    /// The database of secrets, which are not kept longer than their tasks, not even in copies.
    static let secrets = StoreSchema(
        applicationID: 0x5347_5153,
        migrator: migrator { migrator in
            migrator.registerMigration("1") { db in
                try db.execute(sql: "PRAGMA application_id = \(0x5347_5153)")
                try db.execute(
                    sql: """
                        CREATE TABLE secrets (
                            task TEXT NOT NULL, version INTEGER NOT NULL, json TEXT NOT NULL,
                            PRIMARY KEY (task, version)
                        ) STRICT
                        """)
            }
        }, keepsBackup: false)

    private static func migrator(_ register: (inout DatabaseMigrator) -> Void) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        register(&migrator)
        return migrator
    }

    /// The first format, as in docs/queue.md; it never changes, because each further format is
    /// another migration.
    ///
    /// `tasks_order` is the queue order; `tasks_state` has all sort keys of tasks, so that sorting
    /// does not read their long rows.
    private static let queueVersion1 = """
        CREATE TABLE roots (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE) STRICT;
        CREATE TABLE tasks (
            id TEXT NOT NULL PRIMARY KEY, url TEXT NOT NULL, urls TEXT,
            root_id INTEGER NOT NULL REFERENCES roots (id), folder TEXT NOT NULL, name TEXT,
            name_given INTEGER NOT NULL,
            wanted TEXT NOT NULL, state TEXT NOT NULL, state_time REAL, position INTEGER NOT NULL,
            attempts INTEGER NOT NULL, problem TEXT, chore TEXT, seen INTEGER NOT NULL,
            secret_parts INTEGER NOT NULL, keeps_no_secrets INTEGER NOT NULL,
            umask INTEGER NOT NULL,
            added REAL NOT NULL, started REAL, finished REAL, last_byte REAL,
            size INTEGER, bytes_done INTEGER NOT NULL, content_type TEXT, verified TEXT, file TEXT,
            options TEXT NOT NULL, secrets_version INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX tasks_url ON tasks (url);
        CREATE INDEX tasks_name ON tasks (name, folder, root_id);
        CREATE INDEX tasks_root ON tasks (root_id);
        CREATE INDEX tasks_position ON tasks (position, id)
            WHERE NOT (state IN ('completed', 'failed', 'cancelled'));
        CREATE INDEX tasks_order ON tasks (
            (state IN ('completed', 'failed', 'cancelled')),
            (CASE WHEN (state IN ('completed', 'failed', 'cancelled')) THEN finished END),
            position, id);
        CREATE INDEX tasks_state ON tasks (
            state, wanted, seen, finished, position, id, name, size, bytes_done, added, root_id);
        CREATE TABLE tags (
            task TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE, tag TEXT NOT NULL,
            place INTEGER NOT NULL, PRIMARY KEY (task, tag)
        ) STRICT;
        CREATE INDEX tags_tag ON tags (tag, task);
        CREATE TABLE events (
            id INTEGER PRIMARY KEY,
            task TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
            time REAL NOT NULL, event TEXT NOT NULL, message TEXT NOT NULL
        ) STRICT;
        CREATE INDEX events_task ON events (task, id);
        CREATE TABLE settings (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT;
        """
}
