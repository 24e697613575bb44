import SeggetReports

/// A command in JSON: an object with its word as `command`, and the keys of the command.
extension QueueCommand: Codable {
    /// The words of commands.
    private enum Word: String, CaseIterable {
        case add, start, pause, resume, cancel, retry, remove, move, rename, set, tag
        case markSeen = "mark_seen"

        /// The keys of the command, without those of its selection.
        var keys: Set<String> {
            switch self {
            case .add: NewTask.keys
            case .remove: ["files"]
            case .cancel: ["keep_part"]
            case .move: ["to"]
            case .rename: ["name", "folder"]
            case .set: TaskChanges.keys
            case .tag: ["add", "remove"]
            case .start, .pause, .resume, .retry, .markSeen: []
            }
        }
    }

    /// Decodes a command.
    ///
    /// - Throws: `DecodingError`, also for an unknown word or key, and if no task is selected.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: WireKey.self)
        guard let word = Word(rawValue: try fields.decode(String.self, forKey: "command")) else {
            throw fields.wrong("command", .command(Word.allCases.map(\.rawValue)))
        }
        if word == .add {
            self = .add(try NewTask(from: decoder))
            return
        }
        try fields.refuseOthers(than: word.keys.union(TaskSelection.keys).union(["command"]))
        let tasks = try TaskSelection(reading: fields)
        guard tasks != TaskSelection() else {
            throw fields.wrong(nil, .noSelection)
        }
        switch word {
        case .add: preconditionFailure("it was read before")
        case .start: self = .start(tasks)
        case .pause: self = .pause(tasks)
        case .resume: self = .resume(tasks)
        case .cancel:
            self = .cancel(tasks, keepsPart: try fields.decode("keep_part", else: false))
        case .retry: self = .retry(tasks)
        case .remove: self = .remove(tasks, files: try fields.decode("files", else: false))
        case .move: self = .move(tasks, to: try fields.decode(QueuePosition.self, forKey: "to"))
        case .rename:
            self = .rename(
                tasks, name: try fields.decodeIfPresent(String.self, forKey: "name"),
                folder: try fields.decodeIfPresent(String.self, forKey: "folder"))
        case .set: self = .set(tasks, try TaskChanges(reading: fields))
        case .tag:
            self = .tag(
                tasks, add: try fields.decode("add", else: []),
                remove: try fields.decode("remove", else: []))
        case .markSeen: self = .markSeen(tasks)
        }
    }

    /// Encodes the command.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: WireKey.self)
        try fields.encode(word.rawValue, forKey: "command")
        switch self {
        case .add(let task): try task.encode(to: encoder)
        case .start(let tasks), .pause(let tasks), .resume(let tasks), .retry(let tasks),
            .markSeen(let tasks):
            try tasks.write(to: &fields)
        case .cancel(let tasks, let keepsPart):
            try tasks.write(to: &fields)
            try fields.encode(keepsPart, as: "keep_part", unless: false)
        case .remove(let tasks, let files):
            try tasks.write(to: &fields)
            try fields.encode(files, as: "files", unless: false)
        case .move(let tasks, let position):
            try tasks.write(to: &fields)
            try fields.encode(position, forKey: "to")
        case .rename(let tasks, let name, let folder):
            try tasks.write(to: &fields)
            try fields.encodeIfPresent(name, forKey: "name")
            try fields.encodeIfPresent(folder, forKey: "folder")
        case .set(let tasks, let changes):
            try tasks.write(to: &fields)
            try changes.write(to: &fields)
        case .tag(let tasks, let added, let removed):
            try tasks.write(to: &fields)
            try fields.encode(added, as: "add", unless: [])
            try fields.encode(removed, as: "remove", unless: [])
        }
    }

    private var word: Word {
        switch self {
        case .add: .add
        case .start: .start
        case .pause: .pause
        case .resume: .resume
        case .cancel: .cancel
        case .retry: .retry
        case .remove: .remove
        case .move: .move
        case .rename: .rename
        case .set: .set
        case .tag: .tag
        case .markSeen: .markSeen
        }
    }
}

/// A place in the order in JSON: `"first"`, `"last"`, or a number from 1 on.
extension QueuePosition: Codable {
    /// Decodes a place.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let place = try? container.decode(Int.self), place >= 1 {
            self = .at(place)
            return
        }
        switch try? container.decode(String.self) {
        case "first": self = .first
        case "last": self = .last
        default:
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: MemberFault.position.text)
        }
    }

    /// Encodes the place.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .first: try container.encode("first")
        case .last: try container.encode("last")
        case .at(let place): try container.encode(place)
        }
    }
}

/// A selection in JSON: `ids`, `tags`, `all` and `states`, of which those that say nothing are left
/// out.
extension TaskSelection: Codable {
    /// The keys.
    static let keys: Set<String> = ["ids", "tags", "all", "states"]

    /// Decodes a selection.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: WireKey.self)
        try fields.refuseOthers(than: Self.keys)
        try self.init(reading: fields)
    }

    /// Encodes the selection.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: WireKey.self)
        try write(to: &fields)
    }

    init(reading fields: KeyedDecodingContainer<WireKey>) throws {
        self.init(
            ids: try fields.decode("ids", else: []), tags: try fields.decode("tags", else: []),
            isAll: try fields.decode("all", else: false))
        let given: [String] = try fields.decode("states", else: [])
        states = given.compactMap(TaskStatus.Word.init(given:))
        guard states.count == given.count else {
            throw fields.wrong("states", .state(TaskStatus.Word.all.map(\.rawValue)))
        }
    }

    func write(to fields: inout KeyedEncodingContainer<WireKey>) throws {
        try fields.encode(ids, as: "ids", unless: [])
        try fields.encode(tags, as: "tags", unless: [])
        try fields.encode(isAll, as: "all", unless: false)
        try fields.encode(states, as: "states", unless: [])
    }
}
