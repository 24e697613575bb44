import FoundationEssentials
import Glibc

// The file of a `ServerMemory`. This code stores facts about servers, and decides nothing.
extension ServerMemory {
    /// The seconds after which facts are forgotten: a week.
    static let lifetime = 604_800.0
    /// The maximum number of servers; those that were learned last are kept.
    private static let most = 1000
    /// The maximum size of the file in bytes; a larger one is ignored.
    private static let longest: Int64 = 1 << 20

    /// The facts about one server.
    package struct Server: Codable, Sendable, Hashable {
        /// The number of requests that the server serves at a time.
        package var limit: Int
        /// The time at which the limit was learned, in seconds since 1970.
        package var learned: Double

        package init(limit: Int, learned: Double) {
            self.limit = limit
            self.learned = learned
        }
    }

    fileprivate struct Content: Codable {
        var version = 1
        /// The servers by origin: scheme, host, and the port unless it is the scheme's default.
        var servers: [String: Server] = [:]
        /// The dates and tags: a hash, the size (`-` for several), and the time at which they were
        /// learned.
        var validators: [String]?
    }

    /// The facts that have not been forgotten.
    struct Memories: Sendable, Hashable {
        /// The number of requests that servers serve at a time, by origin.
        var limits: [String: Int] = [:]
        /// The dates and tags that hosts have sent, by hash.
        var validators: [UInt64: ValidatorBook.Sighting] = [:]

        var isEmpty: Bool { limits.isEmpty && validators.isEmpty }
    }

    /// Returns the limits that have not been forgotten, by origin.
    package func limits(now: Double) -> [String: Int] { memories(now: now).limits }

    /// Returns all facts that have not been forgotten.
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

    /// Returns whether a fact that was learned at this time has not been forgotten.
    fileprivate static func isKept(_ learned: Double, now: Double) -> Bool {
        learned <= now && now - learned < lifetime
    }

    /// Adds facts to the file, and keeps those that another process has added.
    ///
    /// - Parameters:
    ///   - limits: The limits by origin.
    ///   - validators: The dates and tags by hash.
    ///   - now: The time in seconds since 1970.
    ///   - patience: The seconds to wait for another process that writes. If that process is
    ///     stopped, it must not keep this one from ending.
    /// - Returns: Whether the file was written.
    @discardableResult
    package func add(
        _ limits: [String: Int] = [:], validators: [UInt64: ValidatorBook.Sighting] = [:],
        now: Double, patience: Double = 1
    ) -> Bool {
        guard !limits.isEmpty || !validators.isEmpty else { return true }
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        try? FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        // Two sessions that end at the same time wait for each other.
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
    /// Returns the dates and tags that have not been forgotten, by hash.
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
