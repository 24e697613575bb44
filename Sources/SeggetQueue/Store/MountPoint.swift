import Foundation
import Glibc

/// The mount of a path.
struct MountPoint: Hashable {
    /// The path at which it is mounted.
    var path: String
    /// The type of the file system, such as `nfs4` or `fuse.rclone`.
    var type: String

    /// Creates the mount of an existing path; `nil` if the system does not report it.
    init?(of path: String) {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        guard let table = FileManager.default.contents(atPath: "/proc/self/mountinfo") else {
            return nil
        }
        self.init(of: String(cString: real), in: String(decoding: table, as: UTF8.self))
    }

    /// Creates the mount of a path from a table as in `/proc/self/mountinfo`
    /// (proc_pid_mountinfo(5)).
    ///
    /// Pure.
    init?(of path: String, in table: String) {
        var found: MountPoint?
        for line in table.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 6, let dash = fields.firstIndex(of: "-"), dash + 1 < fields.count
            else { continue }
            let place = Self.plain(fields[4])
            let isAbove = place == "/" || path == place || path.hasPrefix(place + "/")
            // Of two mounts at one path, the later one hides the other.
            guard isAbove, place.utf8.count >= found?.path.utf8.count ?? 0 else { continue }
            found = MountPoint(path: place, type: String(fields[dash + 1]))
        }
        guard let found else { return nil }
        self = found
    }

    private init(path: String, type: String) { (self.path, self.type) = (path, type) }

    /// Decodes blanks, tabs, line feeds and backslashes, which are three octal digits.
    private static func plain(_ text: Substring) -> String {
        [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")].reduce(String(text)) {
            $0.replacingOccurrences(of: $1.0, with: $1.1)
        }
    }
}
