import Assembler
import Glibc
import SeggetReports

/// Makes paths of the command line absolute, for programs that run in another folder.
package enum Paths {
    /// Returns an absolute path without `.`, `..` and double slashes.
    ///
    /// Symbolic links are resolved in the part of the path that exists.
    package static func absolute(_ path: String) -> String {
        let path = fromRoot(path)
        // The kernel resolves the existing part, because `..` after a symbolic link leads
        // elsewhere.
        var (head, tail): (String, [Substring]) = (path, [])
        while !head.isEmpty, head != "/" {
            if let real = realpath(head, nil) {
                defer { free(real) }
                let real = text(real, "the folder that \(Diagnostic.quote(head)) leads to")
                return tail.isEmpty ? real : join(real, tail)
            }
            let parts = head.split(separator: "/")
            tail.insert(parts.last ?? "", at: 0)
            head = "/" + parts.dropLast().joined(separator: "/")
        }
        return join("/", tail)
    }

    /// Makes a relative path absolute, without resolving links or `..`.
    package static func fromRoot(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return FileTarget(folder: text(folder, "the current folder"), name: path).path
    }

    /// Returns a path as text.
    ///
    /// Ends the process if the path is not UTF-8. Swift would replace the invalid bytes, so that
    /// the queue would use another folder.
    private static func text(_ path: UnsafePointer<CChar>, _ what: String) -> String {
        guard let text = String(validatingCString: path) else {
            Invocation.refuse(
                "the path of \(what) is not UTF-8",
                hint:
                    "the path is stored, in UTF-8 only: use another folder, or rename it; "
                    + "`segget get` can download to such a current folder")
        }
        return text
    }

    private static func join(_ head: String, _ tail: [Substring]) -> String {
        var parts = head.split(separator: "/")
        for part in tail {
            switch part {
            case "", ".": break
            case "..": _ = parts.popLast()
            default: parts.append(part)
            }
        }
        return "/" + parts.joined(separator: "/")
    }
}
