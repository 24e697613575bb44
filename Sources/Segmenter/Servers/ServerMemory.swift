import Assembler
import FoundationEssentials
import Glibc

/// What earlier runs learned of servers: how many requests at a time they serve, and which dates and tags
/// they have sent for which sizes, as hashes.
///
/// A file that is read when a session begins, and written anew soon after dates and tags were seen for the
/// first time, and when a session ends that has learned something.
/// It can be removed at any time, and what is wrong with it is no error: a server's limit is only learned
/// once more. Any thread.
///
/// This folder knows what is remembered of servers, and never decides what follows from it.
public struct ServerMemory: Sendable {
    /// Seconds after which what was learned is forgotten: a week.
    static let lifetime = 604_800.0
    /// Most servers that are remembered, those that were learned last.
    private static let most = 1000
    /// Most bytes of the file that are read.
    private static let longest: Int64 = 1 << 20

    /// What is known of one server.
    struct Server: Codable, Sendable, Hashable {
        /// Requests that it serves at a time.
        var limit: Int
        /// When that was learned, in seconds since 1970.
        var learned: Double
    }

    fileprivate struct Content: Codable {
        var version = 1
        /// By origin: scheme, host, and port when it is not the scheme's own.
        var servers: [String: Server] = [:]
        /// Dates and tags: a hash, the size or `-` for several, and when that was learned.
        var validators: [String]?
    }

    /// What is remembered.
    struct Memories: Sendable, Hashable {
        /// Requests that servers serve at a time, by origin.
        var limits: [String: Int] = [:]
        /// Dates and tags that hosts have sent, by hash.
        var validators: [UInt64: ValidatorBook.Sighting] = [:]

        /// Whether there is nothing.
        var isEmpty: Bool { limits.isEmpty && validators.isEmpty }
    }

    /// Path of the file; its folder is made when it is missing.
    public let path: String

    /// - Parameter path: Path of the file.
    public init(path: String) { self.path = path }

    /// `$XDG_STATE_HOME/segget/servers.json`, or `~/.local/state/segget/servers.json`; `nil` without a
    /// home.
    ///
    /// By the XDG Base Directory Specification a relative path there is to be ignored.
    ///
    /// - Parameter variable: A variable of the environment.
    public init?(variable: (String) -> String?) {
        if let folder = variable("XDG_STATE_HOME"), folder.hasPrefix("/") {
            path = folder + "/segget/servers.json"
        } else if let home = variable("HOME"), home.hasPrefix("/"), access(home, F_OK) == 0 {
            path = home + "/.local/state/segget/servers.json"
        } else {
            return nil
        }
    }

    /// The limits that are not forgotten yet, by origin.
    func limits(now: Double) -> [String: Int] { memories(now: now).limits }

    /// All that is not forgotten yet.
    func memories(now: Double) -> Memories {
        let content = read(now: now)
        return Memories(
            limits: content.servers.mapValues(\.limit), validators: content.sightings(now: now))
    }

    private func read(now: Double) -> Content {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_size <= Self.longest, let data = FileManager.default.contents(atPath: path),
            var content = try? JSONDecoder().decode(Content.self, from: data)
        else { return Content() }
        content.servers = content.servers.filter { _, server in
            (1...64).contains(server.limit) && Self.isKept(server.learned, now: now)
        }
        return content
    }

    /// Whether what was learned then still counts.
    fileprivate static func isKept(_ learned: Double, now: Double) -> Bool {
        learned <= now && now - learned < lifetime
    }

    /// Adds what was learned; what another process has added meanwhile stays.
    ///
    /// - Parameters:
    ///   - limits: By origin.
    ///   - validators: By hash.
    ///   - now: In seconds since 1970.
    ///   - patience: Seconds to wait at the most for another process that is writing: one that was stopped
    ///     meanwhile must not keep this one from ending.
    /// - Returns: Whether it was written.
    @discardableResult
    func add(
        _ limits: [String: Int] = [:], validators: [UInt64: ValidatorBook.Sighting] = [:],
        now: Double, patience: Double = 1
    ) -> Bool {
        guard !limits.isEmpty || !validators.isEmpty else { return true }
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        try? FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        // Two that end at once wait for each other.
        let lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0 else { return false }
        defer { close(lock) }
        let deadline = monotonicSeconds() + patience
        while flock(lock, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR, monotonicSeconds() < deadline else {
                return false
            }
            usleep(10_000)
        }
        var content = read(now: now)
        for (origin, limit) in limits {
            content.servers[origin] = Server(limit: limit, learned: now)
        }
        let latest = content.servers.sorted { $0.value.learned > $1.value.learned }
        content.servers = Dictionary(uniqueKeysWithValues: Array(latest.prefix(Self.most)))
        let sightings = content.sightings(now: now)
            .merging(validators, uniquingKeysWith: ValidatorBook.joined)
        content.validators = ValidatorBook.latest(sightings).map(Content.line).sorted()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(content) else { return false }
        let temporary = path + "~"
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        guard writeFully(descriptor, Array(data)) == 0, rename(temporary, path) == 0 else {
            unlink(temporary)
            return false
        }
        return true
    }
}

extension ServerMemory.Content {
    /// Dates and tags that are not forgotten yet, by hash.
    fileprivate func sightings(now: Double) -> [UInt64: ValidatorBook.Sighting] {
        (validators ?? []).reduce(into: [:]) { all, line in
            let words = line.split(separator: " ")
            guard words.count == 3, let key = UInt64(words[0], radix: 16),
                let learned = Int64(words[2]).map(Double.init),
                ServerMemory.isKept(learned, now: now)
            else { return }
            let size = Int64(words[1])
            guard size.map({ $0 >= 0 }) ?? (words[1] == "-") else { return }
            all[key] = ValidatorBook.Sighting(size: size, learned: learned)
        }
    }

    fileprivate static func line(_ key: UInt64, _ sighting: ValidatorBook.Sighting) -> String {
        let hex = String(key, radix: 16)
        let zeros = String(repeating: "0", count: 16 - hex.count)
        let size = sighting.size.map(String.init) ?? "-"
        return "\(zeros)\(hex) \(size) \(Int64(sighting.learned))"
    }
}
