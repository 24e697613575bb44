// Remote: the limits of clients over TCP: the secret, and the folders for their files. This folder
// knows tasks and folders, but no requests.

import SeggetFormats
import SeggetQueue
import SeggetReports
import Segmenter
package import SeggetAria2

/// The limits and the defaults of clients over TCP.
package struct RPCPolicy: Sendable {
    /// The secret that tokens are compared with; `nil` if none is required.
    package var secret: String?
    /// Whether calls need no token; a `GET` that any page can cause still needs one.
    package var isOpen = false
    /// The download folder, absolute.
    package var folder: String
    /// The folders that clients may use, absolute; clients learn only of tasks in these.
    package var folders: [String]
    /// Checks whether a client may store a file; both paths are absolute, `name` may be missing.
    ///
    /// - Throws: `RPCPolicy.Forbidden`.
    package var judge: @Sendable (_ folder: String, _ name: String?) throws(Forbidden) -> Void
    /// Whether downloads of clients may not connect to private addresses.
    package var deniesPrivate = false
    /// The defaults for options that a task does not set.
    package var options = Aria2Options()
    /// Whether the service replaces aria2 for this user's own programs.
    ///
    /// Options of tasks then have aria2's meaning, and may name files of this machine.
    package var isDropIn = false
    /// The home folder, if options may name files of this machine.
    package var home = ""
    /// Returns whether a path has a readable file.
    package var exists: @Sendable (String) -> Bool = { _ in false }
    /// Shuts the service down; `nil` if clients may not.
    package var shutdown: (@Sendable () -> Void)?
    /// Writes the unfinished tasks to the file at a path; `nil` if clients may not.
    package var saveSession: (@Sendable (_ path: String) async -> Bool)?

    /// The error for a request that clients may not send.
    package struct Forbidden: Error {
        /// The reason, for people.
        package var message: String
        /// The member of the command: `folder`, `name`; `nil` if it is not one member.
        package var member: String?

        /// Creates the error.
        package init(_ message: String) { self.message = message }
    }

    /// Creates a policy that allows files in one folder and its subfolders.
    package init(secret: String?, folder: String) {
        (self.secret, self.folder, folders) = (secret, folder, [folder])
        judge = { path, _ throws(Forbidden) in
            guard path == folder || path.hasPrefix(folder.hasSuffix("/") ? folder : folder + "/")
            else { throw Forbidden("\(Diagnostic.quote(path)) is not in the download folder") }
        }
    }
}

extension RPCPolicy {
    /// Checks whether a client may store a file.
    ///
    /// - Throws: `RPCPolicy.Forbidden`.
    func check(_ place: QueueTask.Place) throws(Forbidden) {
        let parts = place.folderPath.split(separator: "/")
        guard place.root.hasPrefix("/"), !parts.contains(".."), place.name != ".." else {
            var forbidden = Forbidden(
                "\(Diagnostic.quote(place.folderPath)) cannot be used: write paths without `..`")
            forbidden.member = place.name == ".." ? "name" : "folder"
            throw forbidden
        }
        do throws(Forbidden) {
            try judge("/" + parts.filter { $0 != "." }.joined(separator: "/"), place.name)
        } catch {
            var forbidden = error
            forbidden.member = place.name?.hasPrefix(".") == true ? "name" : "folder"
            throw forbidden
        }
    }

    /// Checks options by their stored keys: the catalogue says which ones clients over TCP may set.
    private func check(_ keys: [String]) throws(Forbidden) {
        for key in keys where TransferOption[key]?.places.contains(.tcp) != true {
            let member = TransferOption[key].map { "options.\($0.key)" } ?? "options"
            var forbidden = Forbidden(
                "\(Diagnostic.quote(member)) has a value that clients over TCP may not set")
            forbidden.member = member
            throw forbidden
        }
    }

    /// Checks the commands of clients of the API over TCP.
    ///
    /// They may not name a command or a file of this machine, and may store files in the allowed
    /// folders only.
    ///
    /// - Throws: `RPCPolicy.Forbidden`, for the first command that is not allowed.
    func check(_ commands: [QueueCommand]) throws(Forbidden) {
        for command in commands {
            switch command {
            case .add(let task):
                guard task.refreshCommand.isEmpty else {
                    throw Forbidden("clients over TCP may not set a command")
                }
                guard task.plan == nil else {
                    var forbidden = Forbidden(
                        "clients over TCP may not name a plan, which is a file of this machine")
                    forbidden.member = "plan"
                    throw forbidden
                }
                try check(task.options.changedKeys)
                try check(task.place)
            case .set(_, let changes): try check(changes.options.keys.sorted())
            case .rename(_, let name, let folder):
                try check(QueueTask.Place(root: folder ?? self.folder, name: name))
            default: break
            }
        }
    }
}
