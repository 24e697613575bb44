import CLinux
import Glibc
import SeggetReports

/// The folders in which clients may store files.
package struct AllowedFolders: Sendable {
    /// The paths of the root folders, absolute and without symbolic links.
    package let roots: [String]

    /// Creates a set of root folders.
    ///
    /// - Parameters:
    ///   - roots: Absolute paths without symbolic links.
    ///   - home: The user's home folder, which cannot be a root; nor can `/`.
    /// - Throws: `RPCPolicy.Forbidden`.
    package init(_ roots: [String], home: String) throws(RPCPolicy.Forbidden) {
        for root in roots where root == "/" || root == home {
            throw RPCPolicy.Forbidden(
                "\(Diagnostic.quote(root)) cannot be opened to clients: name a folder inside it")
        }
        self.roots = roots
    }

    /// Checks whether clients may store a file at a path.
    ///
    /// The existing folders are opened relative to the root without following symbolic links
    /// (openat2(2), `RESOLVE_BENEATH`, `RESOLVE_NO_SYMLINKS`). Blocks on the disk.
    ///
    /// - Parameters:
    ///   - folder: An absolute path without `.` and `..`.
    ///   - name: The name of the file; `nil` if it is not known yet.
    /// - Throws: `RPCPolicy.Forbidden`.
    package func judge(_ folder: String, _ name: String?) throws(RPCPolicy.Forbidden) {
        let path = Diagnostic.quote(folder)
        guard let root = roots.first(where: { folder == $0 || folder.hasPrefix($0 + "/") }) else {
            throw RPCPolicy.Forbidden("\(path) is not in a folder that is open to clients")
        }
        let below = folder.dropFirst(root.count).split(separator: "/").map(String.init)
        guard !below.contains(where: { $0.hasPrefix(".") }), name?.hasPrefix(".") != true else {
            throw RPCPolicy.Forbidden("\(path): clients may not use names that begin with a dot")
        }
        let base = open(root, segget_path_only | O_DIRECTORY | O_CLOEXEC)
        // If the root does not exist, nothing below it exists.
        guard base >= 0 else { return }
        defer { close(base) }
        for count in stride(from: below.count, to: 0, by: -1) {
            let found = segget_open_beneath(
                base, below.prefix(count).joined(separator: "/"), segget_path_only | O_DIRECTORY)
            let code = errno
            if found >= 0 {
                close(found)
                return
            }
            guard code == ENOENT else {
                throw RPCPolicy.Forbidden(
                    "\(path) cannot be used: \(Diagnostic.describe(errno: code)) (symbolic links are not "
                        + "followed)")
            }
        }
    }
}
