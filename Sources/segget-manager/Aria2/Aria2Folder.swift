import Glibc
import SeggetQueue
import SeggetReports

/// The folder of a queue that ends with its process: for this user only, and taken away in the end.
struct Aria2Folder: Sendable {
    private static let prefix = "segget-aria2c-"
    private let path: String

    /// Path of the queue's file.
    var queue: String { path + "/queue.sqlite" }

    /// Makes the folder, and takes away those of processes that were killed.
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

    /// Takes it away with all that is in it.
    func remove() { Self.remove(path) }

    private static func remove(_ path: String) {
        for name in names(path) { unlink("\(path)/\(name)") }
        rmdir(path)
    }

    /// Takes away the folders of processes that are gone.
    private static func clean(_ base: String) {
        for name in names(base) where name.hasPrefix(prefix) {
            let path = "\(base)/\(name)"
            var status = stat()
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
                status.st_uid == geteuid(), status.st_mode & 0o077 == 0,
                // One that was made just now may not be locked yet.
                time(nil) - status.st_mtim.tv_sec > 60,
                !isHeld(QueueFiles("\(path)/queue.sqlite"))
            else { continue }
            remove(path)
        }
    }

    /// Whether a process has a queue; also where that cannot be told.
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
