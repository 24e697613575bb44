import CLinux
import Glibc

/// Who is at the other end of a connection.
enum Peer {
    /// Whether it is the user that this process acts as.
    ///
    /// - Parameter descriptor: a connected Unix socket.
    /// - Returns: Whether the kernel says so.
    static func isSameUser(_ descriptor: Int32) -> Bool {
        var user = uid_t.max
        return segget_peer_user(descriptor, &user) == 0 && user == geteuid()
    }
}
