import CLinux
import Glibc

/// The mode and the access control list of a finished file.
struct FilePermissions: Sendable, Hashable {
    private static let accessList = "system.posix_acl_access"
    private static let defaultList = "system.posix_acl_default"

    /// Mode bits, as of chmod(2).
    var mode: mode_t
    /// The value of `system.posix_acl_access`; `nil` where the mode says all.
    var list: [UInt8]?

    /// Gives an open file these permissions.
    ///
    /// - Returns: The `errno` of what failed; `nil` when it has them.
    func apply(to descriptor: Int32) -> Int32? {
        // The list first, which holds the mode too: with the mode alone the owning group would have what its mask is to
        // allow to others.
        if let list, segget_set_attribute(descriptor, Self.accessList, list, list.count) == 0 {
            return nil
        }
        return fchmod(descriptor, mode) == 0 ? nil : errno
    }

    /// Whether new files in an open folder get an access control list of the folder's (acl(5)).
    static func areInherited(in folder: Int32) -> Bool {
        segget_get_attribute(folder, defaultList, nil, 0) > 0
    }

    /// Those that the kernel has given an open file; `nil` with `errno` set.
    init?(of descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        mode = status.st_mode & 0o777
        var value = [UInt8](repeating: 0, count: 65_536)
        let count = segget_get_attribute(descriptor, Self.accessList, &value, value.count)
        list = count > 0 ? Array(value.prefix(count)) : nil
    }

    init(mode: mode_t) { self.mode = mode }
}

extension Folder {
    /// The permissions that a file of mode 0666 gets in the folder.
    ///
    /// Where the folder has a default access control list, the umask counts for nothing, and an empty file is made to
    /// see what the kernel gives it.
    ///
    /// - Parameter umask: File mode creation mask; `nil` for the process's.
    /// - Returns: The permissions.
    func permissions(umask: mode_t?) -> FilePermissions {
        let plain = FilePermissions(mode: 0o666 & ~(umask ?? processUmask()))
        return withDescriptor { here in
            guard FilePermissions.areInherited(in: here) else { return plain }
            let name = ".segget-" + String(UInt64.random(in: 0...UInt64.max), radix: 16)
            var sample = segget_nameless_file(here, 0o666)
            if sample < 0 {
                sample = openat(here, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
                if sample >= 0 { unlinkat(here, name, 0) }
            }
            guard sample >= 0 else { return plain }
            defer { close(sample) }
            return FilePermissions(of: sample) ?? plain
        }
    }
}

/// What a file system did not take of a finished file's mode and time.
package struct RefusedAttributes: Sendable, Hashable {
    /// `errno` of setting the mode; `nil` when it was set.
    package var mode: Int32?
    /// `errno` of setting the time; `nil` when it was set.
    package var time: Int32?
}
