/// The destination of a file: a folder and a name in it.
///
/// Pure: does not check whether the file exists.
package struct FileTarget: Sendable, Hashable {
    /// The path of the folder, never empty; `.` for the current folder.
    package var folder: String
    /// The name of the file in the folder.
    package var name: String

    /// Creates a target from a folder and a name; an empty path is the current folder.
    package init(folder: String, name: String) {
        self.folder = Self.folder(folder)
        self.name = name
    }

    /// Splits a path into folder and name; without a slash, the folder is the current one.
    package init(path: String) {
        // The kernel splits paths by bytes, too.
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else {
            self.init(folder: ".", name: path)
            return
        }
        let folder = path[..<slash]
        self.init(
            folder: folder.isEmpty ? "/" : String(folder),
            name: String(path[path.utf8.index(after: slash)...]))
    }

    /// The path for messages and results, without a leading `./`.
    package var path: String {
        folder == "." ? name : folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
    }

    /// Returns the path of a folder for system calls, which need `.` instead of an empty path.
    package static func folder(_ path: String) -> String { path.isEmpty ? "." : path }
}
