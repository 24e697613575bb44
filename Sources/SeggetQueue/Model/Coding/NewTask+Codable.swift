import SeggetReports
import Segmenter

/// A task to add in JSON: an object whose keys are in `docs/api.md`; all but `url` or `plan`, and
/// `root`, may be missing.
extension NewTask: Codable {
    /// The keys; `command` is among them, because the command `add` has them all in one object.
    static let keys: Set<String> = [
        "command", "id", "url", "plan", "root", "folder", "name", "name_given", "options", "umask",
        "refresh_command", "tags", "paused", "position", "again", "known_anywhere",
        "store_secrets",
    ]

    /// Decodes a task.
    ///
    /// - Throws: `DecodingError`, also for unknown keys.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: WireKey.self)
        try fields.refuseOthers(than: Self.keys)
        let folder = try fields.decode("folder", else: "")
        if folder.hasPrefix("/") {
            throw fields.wrong("folder", .absolutePath)
        }
        let plan = try fields.decodeIfPresent(String.self, forKey: "plan")
        if let plan {
            guard plan.hasPrefix("/") else { throw fields.wrong("plan", .relativePath) }
            for key in ["url", "name"] as [WireKey] where fields.contains(key) {
                throw fields.wrong(key, .ofPlan)
            }
        }
        self.init(
            plan == nil ? try fields.decode(String.self, forKey: "url") : "",
            to: QueueTask.Place(
                root: try fields.decode(String.self, forKey: "root"), folder: folder,
                name: try fields.decodeIfPresent(String.self, forKey: "name"),
                isNameGiven: try fields.decodeIfPresent(Bool.self, forKey: "name_given")),
            options: try fields.decode("options", else: DownloadOptions()))
        self.plan = plan
        id = try fields.decodeIfPresent(QueueTask.ID.self, forKey: "id")
        if let text = try fields.decodeIfPresent(String.self, forKey: "umask") {
            guard let mask = UInt32(text, radix: 8), mask <= 0o777 else {
                throw fields.wrong("umask", .umask)
            }
            umask = mask
        }
        refreshCommand = try fields.decode("refresh_command", else: refreshCommand)
        tags = try fields.decode("tags", else: tags)
        isPaused = try fields.decode("paused", else: isPaused)
        position = try fields.decode("position", else: position)
        isAgain = try fields.decode("again", else: isAgain)
        isKnownAnywhere = try fields.decode("known_anywhere", else: isKnownAnywhere)
        keepsNoSecrets = !(try fields.decode("store_secrets", else: !keepsNoSecrets))
    }

    /// Encodes the task with its secrets.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: WireKey.self)
        try fields.encodeIfPresent(id, forKey: "id")
        if let plan {
            try fields.encode(plan, forKey: "plan")
        } else {
            try fields.encode(url, forKey: "url")
        }
        try fields.encode(place.root, forKey: "root")
        try fields.encode(place.folder, as: "folder", unless: "")
        try fields.encodeIfPresent(place.name, forKey: "name")
        try fields.encode(
            place.isNameGiven, as: "name_given", unless: place.name != nil)
        try fields.encode(options, as: "options", unless: DownloadOptions())
        let digits = String(umask, radix: 8)
        try fields.encode(
            String(repeating: "0", count: max(0, 3 - digits.utf8.count)) + digits, forKey: "umask")
        try fields.encode(refreshCommand, as: "refresh_command", unless: [])
        try fields.encode(tags, as: "tags", unless: [])
        try fields.encode(isPaused, as: "paused", unless: false)
        try fields.encode(position, as: "position", unless: .last)
        try fields.encode(isAgain, as: "again", unless: false)
        try fields.encode(isKnownAnywhere, as: "known_anywhere", unless: false)
        try fields.encode(!keepsNoSecrets, as: "store_secrets", unless: true)
    }
}

/// Changes in JSON: `urls` and `options`, and the keys of the first version; missing keys change
/// nothing.
extension TaskChanges: Codable {
    /// The keys.
    static let keys: Set<String> = [
        "urls", "options", "connections", "rate_limit", "headers", "user", "retries",
    ]

    /// Decodes changes.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: WireKey.self)
        try fields.refuseOthers(than: Self.keys)
        try self.init(reading: fields)
    }

    /// Encodes the changes with their secrets.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: WireKey.self)
        try write(to: &fields)
    }

    init(reading fields: KeyedDecodingContainer<WireKey>) throws {
        self.init()
        urls = try fields.decodeIfPresent([String].self, forKey: "urls")
        options = try fields.decode("options", else: OptionChanges())
        if let count = try fields.decodeIfPresent(ConnectionCount.self, forKey: "connections") {
            options.set("connections") { $0.connections = count }
        }
        if let rate = try fields.decodeIfPresent(Double.self, forKey: "rate_limit") {
            options.set("limits.rate") { $0.limits.rate = rate > 0 ? rate : nil }
        }
        if let headers = try fields.decodeIfPresent([String].self, forKey: "headers") {
            options.set("headers") { $0.headers = headers }
        }
        if let user = try fields.decodeIfPresent(String.self, forKey: "user") {
            options.set("access.credentials") { $0.access.credentials = .init(text: user) }
        }
        if let retries = try fields.decodeIfPresent(Int.self, forKey: "retries") {
            options.set("retries") { $0.retries = retries }
        }
    }

    /// Encodes them for a worker of 0.2.0, as far as it knows the options.
    func write(to fields: inout KeyedEncodingContainer<WireKey>) throws {
        try fields.encodeIfPresent(urls, forKey: "urls")
        let (keys, values) = (options.keys, options.values)
        var rest = options
        if keys.contains("connections") {
            try fields.encode(values.connections, forKey: "connections")
            rest.remove("connections")
        }
        if keys.contains("limits.rate") {
            try fields.encode(values.limits.rate ?? 0, forKey: "rate_limit")
            rest.remove("limits.rate")
        }
        if keys.contains("headers") {
            try fields.encode(values.headers, forKey: "headers")
            rest.remove("headers")
        }
        if keys.contains("access.credentials"), let user = values.access.credentials {
            try fields.encode(user.text, forKey: "user")
            rest.remove("access.credentials")
        }
        if keys.contains("retries"), let retries = values.givenRetries {
            try fields.encode(retries, forKey: "retries")
            rest.remove("retries")
        }
        if !rest.isEmpty { try fields.encode(rest, forKey: "options") }
    }
}
