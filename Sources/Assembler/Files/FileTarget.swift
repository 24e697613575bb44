/// Where a file is to be: a folder, and a name in it.
///
/// Pure: whether anything stands there is somebody else's question.
package struct FileTarget: Sendable, Hashable {
    /// Path of the folder, never empty: the current one is `.`.
    package var folder: String
    /// Name of the file in the folder.
    package var name: String

    /// Makes the place of `name` in `folder`, whose path may be empty for the current one.
    package init(folder: String, name: String) {
        self.folder = Self.folder(folder)
        self.name = name
    }

    /// Takes a path apart; without a slash it is a name in the current folder.
    package init(path: String) {
        guard let slash = path.lastIndex(of: "/") else {
            self.init(folder: ".", name: path)
            return
        }
        let folder = path[..<slash]
        self.init(
            folder: folder.isEmpty ? "/" : String(folder),
            name: String(path[path.index(after: slash)...]))
    }

    /// The path for messages and results, without a leading `./`.
    package var path: String {
        folder == "." ? name : folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
    }

    /// Returns the path of a folder for system calls, which need `.` instead of an empty path.
    package static func folder(_ path: String) -> String { path.isEmpty ? "." : path }
}
