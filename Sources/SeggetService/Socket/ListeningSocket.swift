import Glibc
import SeggetQueue

/// A Unix socket that listens at a path, for this user only.
struct ListeningSocket {
    /// The open descriptor; the caller has to close it.
    let descriptor: Int32
    /// The path of the socket.
    let path: String
    /// The socket's file; `nil` if another process owns it, which then keeps it.
    let entry: SocketEntry?

    /// Listens at a path; replaces a socket on which no process listens.
    ///
    /// The caller holds the queue's lock, so that no other process does the same.
    ///
    /// - Parameter path: An absolute path, in a folder that only this user can access.
    /// - Throws: `QueueError`, of code `hasWorker` if a process listens there.
    init(at path: String) throws(QueueError) {
        var address = try SocketAddressBytes(path)
        try Self.clear(path, address)
        let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw .noSocket(path, errno) }
        // The folder is private, so that no other user can connect before chmod(2).
        guard address.with({ bind(socket, $0, $1) }) == 0, chmod(path, 0o600) == 0,
            listen(socket, 512) == 0, let entry = SocketEntry(path)
        else {
            let code = errno
            close(socket)
            throw .noSocket(path, code)
        }
        (descriptor, self.path, self.entry) = (socket, path, entry)
    }

    /// Takes over a socket that another process listens on for this one.
    ///
    /// - Parameter descriptor: The socket.
    /// - Throws: `QueueError`, if the socket has no path.
    init(inherited descriptor: Int32) throws(QueueError) {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor, $0, &length)
            }
        }
        let path = withUnsafeBytes(of: &address.sun_path) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        guard result == 0, address.sun_family == sa_family_t(AF_UNIX), path.hasPrefix("/") else {
            throw .noSocket(
                "the passed file descriptor is not a socket with a path", result == 0 ? 0 : errno)
        }
        (self.descriptor, self.path, entry) = (descriptor, path, nil)
    }

    /// Removes a socket on which no process listens; throws for any other file.
    private static func clear(_ path: String, _ address: SocketAddressBytes) throws(QueueError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw .noSocket("\(path) exists and is not a socket")
        }
        var address = address
        let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let probe = socket(AF_UNIX, Int32(type), 0)
        guard probe >= 0 else { throw .noSocket(path, errno) }
        defer { close(probe) }
        let result = address.with { connect(probe, $0, $1) }
        // EAGAIN: a process listens, and its backlog is full.
        if result == 0 || errno == EAGAIN {
            throw QueueError(
                .hasWorker, "another process is already listening at \(path)",
                hint: "`ss -xlp` shows the process; end it first")
        }
        guard errno == ECONNREFUSED || errno == ENOENT else { throw .noSocket(path, errno) }
        guard unlink(path) == 0 || errno == ENOENT else { throw .noSocket(path, errno) }
    }
}

/// The file at the path of a socket, which is removed only while it is the same file.
struct SocketEntry: Sendable {
    let path: String
    private let device: dev_t
    private let inode: ino_t

    fileprivate init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        (self.path, device, inode) = (path, status.st_dev, status.st_ino)
    }

    /// Removes the socket's file, unless another file has replaced it.
    func remove() {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_dev == device, status.st_ino == inode else {
            return
        }
        unlink(path)
    }
}

/// The address of a Unix socket, in the kernel's format.
struct SocketAddressBytes {
    private var address = sockaddr_un()

    /// Creates the address of a path.
    ///
    /// - Throws: `QueueError`, if the path is empty or too long.
    init(_ path: String) throws(QueueError) {
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count <= SocketPlace.longestPath, !bytes.contains(0) else {
            throw .noSocket("\(path) is longer than \(SocketPlace.longestPath) bytes, or empty")
        }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    }

    /// Passes the address to a system call.
    mutating func with(_ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                call($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
