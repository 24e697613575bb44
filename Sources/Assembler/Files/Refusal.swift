import Glibc

/// Returns whether an `errno` means that the file system or a sandbox does not support a call.
///
/// A disk that fails or is full reports EIO, ENOSPC, EDQUOT, EROFS or ESTALE instead. EPERM is
/// included: file systems return it for modes and links, and sandboxes for any call.
///
/// Pure.
package func isUnsupported(errno code: Int32) -> Bool {
    [ENOSYS, EOPNOTSUPP, EINVAL, ENOTTY, EPERM, ENOLCK].contains(code)
}
