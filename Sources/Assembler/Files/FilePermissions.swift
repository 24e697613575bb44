import CLinux
import Glibc

/// The mode and the access control list of a finished file.
struct FilePermissions: Sendable, Hashable {
    private static let accessList = "system.posix_acl_access"
    private static let defaultList = "system.posix_acl_default"

    /// Mode bits, as of chmod(2).
    var mode: mode_t
    /// The value of `system.posix_acl_access`; `nil` if the file has no list
    /// beyond its mode.
    var list: [UInt8]?

    /// Gives an open file these permissions.
    ///
    /// - Returns: `nil` on success, else the `errno` of the call that failed.
    func apply(to descriptor: Int32) -> Int32? {
        // The list includes the mode. With a list, the mode's group bits are the list's mask, and
        // fchmod(2) alone would grant that mask to the owning group.
        if let list, segget_set_attribute(descriptor, Self.accessList, list, list.count) == 0 {
            return nil
        }
        return fchmod(descriptor, mode) == 0 ? nil : errno
    }

    /// Returns whether new files in an open folder inherit its default access control list (acl(5)).
    static func areInherited(in folder: Int32) -> Bool {
        segget_get_attribute(folder, defaultList, nil, 0) > 0
    }

    /// Reads the permissions of an open file; `nil` with `errno` set on failure.
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
    /// Returns the permissions of a new file that is created in the folder with mode 0666.
    ///
    /// If the folder has a default access control list, the kernel ignores the umask. In that case
    /// this method creates an empty file and reads the permissions that the kernel gave it.
    ///
    /// - Parameter umask: The file mode creation mask; `nil` for the mask of the process.
    /// - Returns: The permissions; those from the umask if no file can be created.
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

/// The attributes of a finished file that the file system refused to set.
package struct RefusedAttributes: Sendable, Hashable {
    /// The `errno` of setting the mode; `nil` on success.
    package var mode: Int32?
    /// The `errno` of setting the time; `nil` on success.
    package var time: Int32?
}
