import Glibc

/// The facts about servers that earlier runs have learned.
///
/// These are the number of requests that servers serve at a time, and hashes of the dates and
/// entity tags that they have sent, with file sizes.
///
/// They are in a file that is read at the start of a session. The file is written soon after new
/// dates and tags were seen, and at the end of a session that has learned something. It can be
/// removed at any time. Errors in it are ignored, because a server's limit can be learned again.
/// May be used from any thread.
public struct ServerMemory: Sendable {
    /// The path of the file; its folder is created if it is missing.
    public let path: String

    /// Uses the file at a path.
    ///
    /// - Parameter path: The path of the file.
    public init(path: String) { self.path = path }

    /// Uses the default file; `nil` without a home folder.
    ///
    /// This is `$XDG_STATE_HOME/segget/servers.json`, or `~/.local/state/segget/servers.json`. A
    /// relative path in the variable is ignored, as required by the XDG Base Directory
    /// Specification.
    ///
    /// - Parameter variable: Returns the value of an environment variable.
    public init?(variable: (String) -> String?) {
        if let folder = variable("XDG_STATE_HOME"), folder.hasPrefix("/") {
            path = folder + "/segget/servers.json"
        } else if let home = variable("HOME"), home.hasPrefix("/"), access(home, F_OK) == 0 {
            path = home + "/.local/state/segget/servers.json"
        } else {
            return nil
        }
    }
}
