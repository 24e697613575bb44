import Foundation
import GRDB
import Segmenter

@testable import SeggetQueue

/// A queue of the first version; it must never change.
enum FirstVersion {
    static let sql = """
        PRAGMA application_id = 1397182801;
        CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
        INSERT INTO grdb_migrations VALUES ('1');
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
        INSERT INTO roots VALUES (1, '/data');
        INSERT INTO tasks VALUES (
            '00000000000000a1', 'https://h/f?q', '["https://m/f"]', 1, 'sub', 'f', 1,
            'held', 'retrying', 1700000000.5, 4, 2,
            '{"code":69,"hint":"h","kind":"reset","message":"m"}',
            '{"move":{"from":{"folder":"old","isNameGiven":false,"root":"/data"}}}', 0,
            0, 0, 18, 1600000000.25, 1600000001.0, NULL, 1600000002.0,
            1099511627776, 7, 'text/plain', '["crc32:00000007"]',
            '{"device":18446744073709551615,"inode":5}',
            '{"connections":"auto:7","retry_wait":1.5}', 0);
        INSERT INTO tags VALUES ('00000000000000a1', 'z', 0), ('00000000000000a1', 'a', 1);
        INSERT INTO events (task, time, event, message) VALUES ('00000000000000a1', 1.5, 'e', 'm');
        INSERT INTO settings VALUES ('max_running', '5'), ('rate_limit', '1000.5'),
            ('retry_delays', '[1,2]');
        """

    static func make(_ path: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA journal_mode = WAL")
            try db.execute(sql: sql)
        }
    }

    /// The task of that queue.
    static var task: QueueTask {
        var task = QueueTask(
            id: QueueTask.ID("00000000000000a1") ?? QueueTask.ID(), url: "https://h/f?q",
            urls: ["https://m/f"], place: .init(root: "/data", folder: "sub", name: "f"),
            options: DownloadOptions())
        task.options.connections = .upTo(7)
        task.options.retryWait = .seconds(1.5)
        task.status.wanted = .paused
        task.status.state = .retrying(at: 1_700_000_000.5)
        task.status.position = 4
        task.status.attempts = 2
        task.status.problem = TaskProblem(kind: "reset", message: "m", hint: "h", code: 69)
        task.chore = .move(from: .init(root: "/data", folder: "old"))
        task.umask = 0o022
        task.tags = ["z", "a"]
        (task.added, task.started, task.lastByte) = (1_600_000_000.25, 1_600_000_001, 1_600_000_002)
        (task.size, task.bytesDone, task.contentType) = (1 << 40, 7, "text/plain")
        task.verified = [.init(crc32: 7)]
        task.file = .init(device: .max, inode: 5)
        return task
    }
}
