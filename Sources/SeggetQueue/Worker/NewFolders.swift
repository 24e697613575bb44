import Glibc

/// The folders that are made on the way to a task's file, and their mode.
///
/// They are made by the process's mask, which is everybody's, and get the mode of the task's afterwards.
struct NewFolders: Sendable {
    private let umask: mode_t
    private let missing: [String]

    /// Looks what is missing, before anything is made.
    ///
    /// - Parameters:
    ///   - folder: Path of the folder that the file goes to.
    ///   - umask: File mode creation mask of the task.
    init(_ folder: String, umask: UInt32) {
        self.umask = mode_t(umask)
        var (missing, path): ([String], Substring) = ([], folder[...])
        while path.count > 1, access(String(path), F_OK) != 0, errno == ENOENT {
            missing.append(String(path))
            path = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
        }
        self.missing = missing
    }

    /// Gives those that are there by now their mode.
    func apply() { for folder in missing { chmod(folder, 0o777 & ~umask) } }
}
