// Remote: what clients over TCP may do: the secret, and where files of theirs may go. It knows tasks and folders; it
// never knows a request.

import SeggetFormats
import SeggetQueue
import SeggetReports
import Segmenter
package import SeggetAria2

/// What clients of aria2's JSON-RPC may do, and what they do without.
package struct RPCPolicy: Sendable {
    /// The secret that tokens are compared with; `nil` where there is none.
    package var secret: String?
    /// Whether calls need no token, but for those that browsers make without asking.
    package var isOpen = false
    /// The download folder, absolute.
    package var folder: String
    /// The folders that are open to clients, absolute: they know of tasks in these only.
    package var folders: [String]
    /// Judges where a client wants a file to go; both paths are absolute, the name may be missing.
    ///
    /// - Throws: `RPCPolicy.Forbidden`.
    package var judge: @Sendable (_ folder: String, _ name: String?) throws(Forbidden) -> Void
    /// Whether what clients have fetched must not come from private addresses.
    package var deniesPrivate = false
    /// The options that hold for tasks that do not say otherwise.
    package var options = Aria2Options()
    /// Whether it stands in for aria2, whose clients are this user's own programs: then options of a task mean what
    /// they mean there, files of this machine included.
    package var isDropIn = false
    /// The home folder, where files of this machine count.
    package var home = ""
    /// Whether a file stands at a path that can be read.
    package var exists: @Sendable (String) -> Bool = { _ in false }
    /// Ends the service, in order; `nil` where clients may not.
    package var shutdown: (@Sendable () -> Void)?
    /// Writes what is unfinished to the file at a path; `nil` where clients may not.
    package var saveSession: (@Sendable (_ path: String) async -> Bool)?

    /// A place that clients may not use.
    package struct Forbidden: Error {
        /// Why not, in words.
        package var message: String
        /// The member of the command that is at fault: `folder`, `name`; `nil` where no one member is.
        package var member: String?

        /// Makes a reason.
        package init(_ message: String) { self.message = message }
    }

    /// Makes a policy that lets files go below one folder.
    package init(secret: String?, folder: String) {
        (self.secret, self.folder, folders) = (secret, folder, [folder])
        judge = { path, _ throws(Forbidden) in
            guard path == folder || path.hasPrefix(folder.hasSuffix("/") ? folder : folder + "/")
            else { throw Forbidden("\(Diagnostic.quote(path)) is not in the download folder") }
        }
    }
}

extension RPCPolicy {
    /// Judges where a file is to go.
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

    /// Judges options, by their stored keys: clients over TCP may set those that the catalogue says.
    private func check(_ keys: [String]) throws(Forbidden) {
        for key in keys where TransferOption[key]?.places.contains(.tcp) != true {
            let member = TransferOption[key].map { "options.\($0.key)" } ?? "options"
            var forbidden = Forbidden(
                "\(Diagnostic.quote(member)) has a value that clients over TCP may not set")
            forbidden.member = member
            throw forbidden
        }
    }

    /// Judges commands of clients of the API over TCP: they name no command and no file of this machine, and put files
    /// only where clients may have them.
    ///
    /// - Throws: `RPCPolicy.Forbidden`, for the first one that is not for them.
    func check(_ commands: [QueueCommand]) throws(Forbidden) {
        for command in commands {
            switch command {
            case .add(let task):
                guard task.refreshCommand.isEmpty else {
                    throw Forbidden("clients over TCP may not set a command")
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
