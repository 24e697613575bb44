// Socket: the paths of sockets, who listens on them, and who may connect. This folder knows folders
// and descriptors, but no messages.

import Glibc
import SeggetQueue

/// A possible path for the socket of a queue.
struct SocketPlace: Sendable, Hashable {
    /// The most bytes of a path: `sun_path` of unix(7), less the terminating zero.
    static let longestPath = 107

    /// The folder, which is private to this user, or will be.
    var folder: String
    /// The name of the socket in it.
    var name: String
    /// Whether to create a missing folder, which is shared by the sockets of all queues.
    var isMade = false

    /// The path of the socket.
    var path: String { "\(folder)/\(name)" }

    /// Returns the paths for the socket of a queue, the best first.
    ///
    /// They are in the folder `segget` in `$XDG_RUNTIME_DIR`, the same in `/run/user/UID`, the
    /// queue's folder, and `/tmp/segget-UID`. Folders that other users can access, and paths that
    /// are too long, are omitted.
    ///
    /// - Parameters:
    ///   - queue: The path of the queue's database, which exists.
    ///   - runtime: The value of `XDG_RUNTIME_DIR`.
    ///   - users: The folder with one folder for each user who is logged in, named by the user's
    ///     id.
    ///   - base: The last resort: a folder in which all users may create folders.
    /// - Returns: The paths.
    /// - Throws: `QueueError`, if the database does not exist.
    static func candidates(
        queue: String, runtime: String?, users: String = "/run/user", base: String = "/tmp"
    ) throws(QueueError) -> [SocketPlace] {
        let name = try name(queue)
        var runtimes = ["\(users)/\(geteuid())"]
        if let runtime, runtime.hasPrefix("/"), runtime != runtimes[0] {
            runtimes.insert(runtime, at: 0)
        }
        var places: [SocketPlace] = []
        for folder in runtimes where isOurs(folder, closedTo: 0o022) {
            let own = folder.hasSuffix("/") ? "\(folder)segget" : "\(folder)/segget"
            places.append(SocketPlace(folder: own, name: name, isMade: true))
        }
        let home = queue.lastIndex(of: "/").map { String(queue[..<$0]) } ?? "."
        if isOurs(home.isEmpty ? "/" : home, closedTo: 0o077) {
            places.append(SocketPlace(folder: home, name: name))
        }
        let last = "\(base)/segget-\(geteuid())"
        places.append(SocketPlace(folder: last, name: name, isMade: true))
        return places.filter { $0.path.utf8.count <= longestPath }
    }

    /// Creates the folder if necessary, and makes it private.
    ///
    /// - Returns: Whether the folder is private to this user.
    func prepare() -> Bool {
        guard isMade else { return true }
        if mkdir(folder, 0o700) == 0 { return true }
        guard errno == EEXIST, Self.isOurs(folder, closedTo: 0, followsLinks: false) else {
            return false
        }
        return Self.isOurs(folder, closedTo: 0o077) || chmod(folder, 0o700) == 0
    }

    /// Returns a name that no other queue has: the device and inode numbers of its file.
    private static func name(_ queue: String) throws(QueueError) -> String {
        var status = stat()
        guard stat(queue, &status) == 0 else {
            throw .noSocket("no queue exists at \(queue)", errno)
        }
        let numbers = [UInt64(status.st_dev), UInt64(status.st_ino)]
        return "queue-" + numbers.map { String($0, radix: 16) }.joined(separator: "-") + ".sock"
    }

    /// Returns whether a folder belongs to this user, and others have none of the permissions in
    /// `mask`.
    private static func isOurs(
        _ folder: String, closedTo mask: mode_t, followsLinks: Bool = true
    ) -> Bool {
        var status = stat()
        let result = followsLinks ? stat(folder, &status) : lstat(folder, &status)
        return result == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid()
            && status.st_mode & mask == 0
    }
}

extension QueueError {
    /// Creates the error for a socket that cannot be created.
    static func noSocket(_ what: String, _ code: Int32 = 0) -> QueueError {
        let reason = code == 0 ? "" : ": \(String(cString: strerror(code)))"
        return QueueError(
            .unavailable, "cannot create the queue's socket: \(what)\(reason)",
            hint: "make sure that only this user can access XDG_RUNTIME_DIR or the queue's folder")
    }
}
