// Socket: where the socket of a queue is, who listens on it, and who may connect. It knows folders and descriptors;
// it never knows what is said.

import Glibc
import SeggetQueue

/// Where the socket of a queue can be.
struct SocketPlace: Sendable, Hashable {
    /// Most bytes of a path: `sun_path` of unix(7), less the zero at the end.
    static let longestPath = 107

    /// The folder, which is this user's alone, or is to be made so.
    var folder: String
    /// The name of the socket in it.
    var name: String
    /// Whether the folder is made when it is missing; it is for the sockets of all queues.
    var isMade = false

    /// Path of the socket.
    var path: String { "\(folder)/\(name)" }

    /// The places for the socket of a queue, the best first.
    ///
    /// They are the folder `segget` in `$XDG_RUNTIME_DIR`, the same in `/run/user/UID`, the queue's own folder, and
    /// `/tmp/segget-UID`, as far as nobody else can reach them and the path is not too long.
    ///
    /// - Parameters:
    ///   - queue: path of the queue's database, which exists.
    ///   - runtime: what `XDG_RUNTIME_DIR` says.
    ///   - users: the folder in which each user that is logged in has one, named as the user's number.
    ///   - base: the folder of the last resort, in which everybody may make folders.
    /// - Returns: The places.
    /// - Throws: `QueueError`, when there is no such database.
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

    /// Makes the folder, where that is to be done; it has to be this user's alone.
    ///
    /// - Returns: Whether it is.
    func prepare() -> Bool {
        guard isMade else { return true }
        if mkdir(folder, 0o700) == 0 { return true }
        guard errno == EEXIST, Self.isOurs(folder, closedTo: 0, followsLinks: false) else {
            return false
        }
        return Self.isOurs(folder, closedTo: 0o077) || chmod(folder, 0o700) == 0
    }

    /// A name that no other queue has: the number of its file.
    private static func name(_ queue: String) throws(QueueError) -> String {
        var status = stat()
        guard stat(queue, &status) == 0 else {
            throw .noSocket("no queue exists at \(queue)", errno)
        }
        let numbers = [UInt64(status.st_dev), UInt64(status.st_ino)]
        return "queue-" + numbers.map { String($0, radix: 16) }.joined(separator: "-") + ".sock"
    }

    /// Whether a folder is this user's, and closed to others so far.
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
    /// The socket of a queue cannot be had.
    static func noSocket(_ what: String, _ code: Int32 = 0) -> QueueError {
        let reason = code == 0 ? "" : ": \(String(cString: strerror(code)))"
        return QueueError(
            .unavailable, "cannot create the queue's socket: \(what)\(reason)",
            hint: "make sure that only this user can access XDG_RUNTIME_DIR or the queue's folder")
    }
}
