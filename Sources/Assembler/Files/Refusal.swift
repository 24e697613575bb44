import Glibc

/// Whether an `errno` says that a file system, or a sandbox around the process, does not offer a call.
///
/// A disk that fails or is full reports something else: EIO, ENOSPC, EDQUOT, EROFS, ESTALE. EPERM is among these:
/// file systems return it for modes and links, sandboxes for any call.
///
/// Pure.
package func isUnsupported(errno code: Int32) -> Bool {
    [ENOSYS, EOPNOTSUPP, EINVAL, ENOTTY, EPERM, ENOLCK].contains(code)
}
