import Assembler
import Foundation
internal import GRDB
import SeggetReports
import Segmenter

/// Converts tasks to rows of the database, and back.
///
/// Options that consecutive tasks have in common are encoded and decoded only once.
struct TaskRow {
    /// The columns in the order in which they are read and written; roots are another table.
    static let columns = [
        "id", "url", "urls", "folder", "name", "name_given", "wanted", "state", "state_time",
        "position", "attempts", "problem", "chore", "seen", "secret_parts", "keeps_no_secrets",
        "umask", "added", "started", "finished", "last_byte", "size",
        "bytes_done", "content_type", "verified", "file", "options", "file_set",
    ]
    /// The query for all columns of tasks with the paths of their roots; conditions may follow.
    static let select =
        "SELECT \(columns.map { "tasks.\($0)" }.joined(separator: ", ")), roots.path"
        + " FROM tasks JOIN roots ON roots.id = tasks.root_id"
    /// The same query with default options, because options are most of a row.
    static let selectWithoutOptions = select.replacing("tasks.options", with: "'{}'")
    /// Inserts a row; the root's number is the argument after the columns.
    static let insert =
        "INSERT INTO tasks (\(columns.joined(separator: ", ")), root_id)"
        + " VALUES (\(Array(repeating: "?", count: columns.count + 1).joined(separator: ", ")))"
    /// Changes a row; the root's number and the id are the arguments after the columns.
    static let update =
        "UPDATE tasks SET \(columns.map { "\($0) = ?" }.joined(separator: ", ")), root_id = ?"
        + " WHERE id = ?"

    private let encoder: JSONEncoder
    private let decoder = JSONDecoder()
    private var encodedOptions: (options: DownloadOptions, json: String)?
    private var decodedOptions: (json: String, options: DownloadOptions)?

    init() {
        encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.userInfo[.leavesOutSecrets] = true
    }

    /// Returns the values of the columns.
    ///
    /// - Parameter task: A record of ``QueueTask/split()``.
    /// - Returns: The arguments for ``insert`` and ``update``.
    /// - Throws: The errors of the encoder.
    mutating func values(of task: QueueTask) throws -> [(any DatabaseValueConvertible)?] {
        let status = task.status
        return [
            task.id.description, task.url,
            task.urls == [task.url] ? nil : try json(task.urls),
            task.place.folder, task.place.name, task.place.isNameGiven,
            status.wanted.stored, status.state.word.rawValue, status.state.time, status.position,
            status.attempts, try status.problem.map { try json($0) },
            try task.chore.map { try json($0) }, task.isSeen, task.secretParts.rawValue,
            task.keepsNoSecrets, Int64(task.umask),
            task.added, task.started, task.finished, task.lastByte, task.size, task.bytesDone,
            task.contentType, task.verified.isEmpty ? nil : try json(task.verified),
            try task.file.map { try json($0) }, try options(task.options),
            try task.fileSet.map { try json($0) },
        ]
    }

    /// Returns the task of a row of ``select``, without its tags.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - index: The index of its first column.
    /// - Returns: The task.
    /// - Throws: `QueueDamage`, with the id of the task.
    mutating func task(_ row: Row, from index: Int = 0) throws -> QueueTask {
        var reader = ColumnReader(row, from: index)
        let id = try reader.id()
        do {
            let url = try reader.text()
            let urls: [String] = try read(reader.optionalText()) ?? [url]
            let folder = try reader.text()
            let name = reader.optionalText()
            let isNameGiven = try reader.flag()
            let status = try status(&reader)
            var task = QueueTask(
                id: id, url: url, urls: urls,
                place: QueueTask.Place(
                    root: "", folder: folder, name: name, isNameGiven: isNameGiven),
                options: DownloadOptions())
            task.status = status
            task.chore = try read(reader.optionalText())
            task.isSeen = try reader.flag()
            task.secretParts = try .init(rawValue: reader.integer())
            task.keepsNoSecrets = try reader.flag()
            task.umask = try UInt32(clamping: reader.integer())
            task.added = try reader.number()
            task.started = reader.optionalNumber()
            task.finished = reader.optionalNumber()
            task.lastByte = reader.optionalNumber()
            task.size = reader.optionalInteger()
            task.bytesDone = try reader.integer()
            task.contentType = reader.optionalText()
            task.verified = try read(reader.optionalText()) ?? []
            task.file = try read(reader.optionalText())
            task.options = try options(reader.text())
            task.fileSet = try read(reader.optionalText())
            task.place.root = try reader.text()
            return task
        } catch let damage as QueueDamage {
            throw QueueDamage.task(id, damage)
        }
    }

    /// Returns the status, whose columns are next.
    func status(_ reader: inout ColumnReader) throws -> TaskStatus {
        var status = TaskStatus()
        guard let wanted = TaskStatus.Wanted(stored: try reader.text()) else {
            throw QueueDamage.wanted
        }
        let word = TaskStatus.Word(rawValue: try reader.text())
        guard let state = TaskStatus.State(word: word, time: reader.optionalNumber()) else {
            throw QueueDamage.state
        }
        (status.wanted, status.state) = (wanted, state)
        status.position = try reader.integer()
        status.attempts = Int(clamping: try reader.integer())
        status.problem = try read(reader.optionalText())
        return status
    }

    /// Returns a value as JSON.
    func json(_ value: some Encodable) throws -> String {
        String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// Returns the value of JSON.
    func read<Value: Decodable>(_ json: String?) throws -> Value? {
        guard let json else { return nil }
        do {
            return try decoder.decode(Value.self, from: Data(json.utf8))
        } catch {
            throw QueueDamage.json
        }
    }

    private mutating func options(_ options: DownloadOptions) throws -> String {
        if let encodedOptions, encodedOptions.options == options { return encodedOptions.json }
        let text = try json(options)
        encodedOptions = (options, text)
        return text
    }

    private mutating func options(_ json: String) throws -> DownloadOptions {
        // The placeholder of `selectWithoutOptions` must not replace the decoded options.
        guard json != "{}" else { return DownloadOptions() }
        if let decodedOptions, decodedOptions.json == json { return decodedOptions.options }
        let options: DownloadOptions = try read(json) ?? DownloadOptions()
        decodedOptions = (json, options)
        return options
    }
}

/// Reads the columns of a row in order; GRDB's conversions would end the program if a value has
/// another type, as in a damaged file.
struct ColumnReader {
    /// A value of SQLite, which GRDB reads without a conversion.
    private struct Cell: DatabaseValueConvertible, StatementColumnConvertible {
        let databaseValue: DatabaseValue

        init(sqliteStatement: SQLiteStatement, index: CInt) {
            databaseValue = DatabaseValue(sqliteStatement: sqliteStatement, index: index)
        }

        private init(_ value: DatabaseValue) { databaseValue = value }

        static func fromDatabaseValue(_ value: DatabaseValue) -> Cell? { Cell(value) }
    }

    private let row: Row
    private var index: Int

    init(_ row: Row, from index: Int = 0) { (self.row, self.index) = (row, index) }

    private mutating func next() -> DatabaseValue {
        defer { index += 1 }
        return (row[index] as Cell?)?.databaseValue ?? .null
    }

    mutating func text() throws -> String {
        guard let text = optionalText() else { throw missing }
        return text
    }
    mutating func optionalText() -> String? { String.fromDatabaseValue(next()) }

    mutating func integer() throws -> Int64 {
        guard let integer = optionalInteger() else { throw missing }
        return integer
    }
    mutating func optionalInteger() -> Int64? { Int64.fromDatabaseValue(next()) }

    mutating func number() throws -> Double {
        guard let number = optionalNumber() else { throw missing }
        return number
    }
    mutating func optionalNumber() -> Double? { Double.fromDatabaseValue(next()) }

    mutating func flag() throws -> Bool { try integer() != 0 }

    mutating func id() throws -> QueueTask.ID {
        guard let id = QueueTask.ID(try text()) else {
            throw QueueDamage.id
        }
        return id
    }

    private var missing: QueueDamage { .missing(column: index) }
}

extension TaskStatus.Wanted {
    /// The word in the database: `run`, or `held` for a paused task, as every version of segget
    /// stored it.
    var stored: String { self == .paused ? "held" : rawValue }

    fileprivate init?(stored word: String) {
        switch word {
        case Self.run.stored: self = .run
        case Self.paused.stored: self = .paused
        default: return nil
        }
    }
}
