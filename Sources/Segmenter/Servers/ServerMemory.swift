import Assembler
import FoundationEssentials
import Glibc

/// What earlier runs learned of servers: how many requests at a time they serve.
///
/// A file that is read when a session begins, and written anew when one ends that has learned something.
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

    private struct Content: Codable {
        var version = 1
        /// By origin: scheme, host, and port when it is not the scheme's own.
        var servers: [String: Server]
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
    func limits(now: Double) -> [String: Int] { read(now: now).mapValues(\.limit) }

    private func read(now: Double) -> [String: Server] {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_size <= Self.longest, let data = FileManager.default.contents(atPath: path),
            let content = try? JSONDecoder().decode(Content.self, from: data)
        else { return [:] }
        return content.servers.filter { _, server in
            (1...64).contains(server.limit) && server.learned <= now
                && now - server.learned < Self.lifetime
        }
    }

    /// Adds what was learned; what another process has added meanwhile stays.
    ///
    /// - Parameters:
    ///   - limits: By origin.
    ///   - now: In seconds since 1970.
    ///   - patience: Seconds to wait at the most for another process that is writing: one that was stopped
    ///     meanwhile must not keep this one from ending.
    /// - Returns: Whether it was written.
    @discardableResult
    func add(_ limits: [String: Int], now: Double, patience: Double = 1) -> Bool {
        guard !limits.isEmpty else { return true }
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
        var servers = read(now: now)
        for (origin, limit) in limits { servers[origin] = Server(limit: limit, learned: now) }
        let latest = servers.sorted { $0.value.learned > $1.value.learned }.prefix(Self.most)
        let content = Content(servers: Dictionary(uniqueKeysWithValues: Array(latest)))
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
