import Glibc

/// A small file system in memory that tests can fill up.
///
/// Mounting needs root.
public final class Tmpfs: Sendable {
    /// Absolute path of the mount point.
    public let path: String
    private let sandbox: Sandbox

    /// Mounts an empty file system of `size` bytes, rounded up to whole pages.
    ///
    /// - Parameters:
    ///   - size: its size; a `ramfs` has no limit.
    ///   - kind: `tmpfs`, or `ramfs`, which has no extended attributes.
    /// - Throws: ``SystemCallError``, also where mounting is not allowed.
    public init(size: Int64, kind: String = "tmpfs") throws {
        sandbox = try Sandbox("segget-tmpfs")
        path = sandbox.path
        guard mount(kind, path, kind, UInt(MS_NOSUID), "size=\(size)") == 0 else {
            throw SystemCallError("mount \(kind) at \(path)")
        }
    }

    deinit { close() }

    /// Path of `name` in the file system.
    public func path(_ name: String) -> String { "\(path)/\(name)" }

    /// Changes the size to `size` bytes; what is stored stays.
    ///
    /// - Throws: ``SystemCallError``.
    public func resize(to size: Int64) throws {
        guard mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT), "size=\(size)") == 0 else {
            throw SystemCallError("remount \(path)")
        }
    }

    /// Unmounts the file system now, even when a file on it is still open.
    public func close() {
        _ = umount2(path, Int32(MNT_DETACH))
        sandbox.close()
    }
}
