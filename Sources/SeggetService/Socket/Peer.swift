import CLinux
import Glibc

/// Facts about the process at the other end of a connection.
enum Peer {
    /// Returns whether the peer's user is the effective user of this process.
    ///
    /// - Parameter descriptor: A connected Unix socket.
    /// - Returns: `false` also if the kernel does not report the peer's user.
    static func isSameUser(_ descriptor: Int32) -> Bool {
        var user = uid_t.max
        return segget_peer_user(descriptor, &user) == 0 && user == geteuid()
    }
}
