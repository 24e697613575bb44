import Glibc
import SeggetQueue
import SeggetReports

/// A temporary folder for a queue, which only this user can access, and which the process removes.
struct Aria2Folder: Sendable {
    private static let prefix = "segget-aria2c-"
    private let path: String

    /// The path of the queue's file.
    var queue: String { path + "/queue.sqlite" }

    /// Creates the folder, and removes those of processes that were killed.
    ///
    /// - Throws: `QueueError`.
    init() throws(QueueError) {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        Self.clean(base)
        var template = Array("\(base)/\(Self.prefix)XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw QueueError(
                .unavailable,
                "cannot create a folder in \(Diagnostic.quote(base)): \(Diagnostic.describe(errno: errno))",
                hint: "set `TMPDIR` to a writable folder")
        }
        path = String(
            decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes the folder and all files in it.
    func remove() { Self.remove(path) }

    private static func remove(_ path: String) {
        for name in names(path) { unlink("\(path)/\(name)") }
        rmdir(path)
    }

    /// Removes the folders of processes that have ended.
    private static func clean(_ base: String) {
        for name in names(base) where name.hasPrefix(prefix) {
            let path = "\(base)/\(name)"
            var status = stat()
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
                status.st_uid == geteuid(), status.st_mode & 0o077 == 0,
                // A new folder may not contain a locked queue yet.
                time(nil) - status.st_mtim.tv_sec > 60,
                !isHeld(QueueFiles("\(path)/queue.sqlite"))
            else { continue }
            remove(path)
        }
    }

    /// Returns whether a process has locked a queue; `true` also if that is unknown.
    private static func isHeld(_ files: QueueFiles) -> Bool {
        do throws(QueueError) { return try QueueLock.holder(files) != nil } catch { return true }
    }

    private static func names(_ path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
