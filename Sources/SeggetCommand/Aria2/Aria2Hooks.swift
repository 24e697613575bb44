import CLinux
import Glibc
import SeggetFormats
import SeggetReports
package import Segmenter
package import SeggetAria2

/// The commands for events of downloads, which run as in aria2c.
///
/// Each command gets the GID, the number of files and the path of the file. segget does not wait
/// for it.
package struct Aria2Hooks {
    private let commands: [Aria2Settings.Hook: String]
    /// The started commands, some of which may have ended.
    private var running: [pid_t] = []

    package init(_ commands: [Aria2Settings.Hook: String]) { self.commands = commands }

    /// Runs the command for the start of a download, if there is one.
    ///
    /// - Parameters:
    ///   - gid: The download.
    ///   - path: The destination of the file; empty while it is unknown.
    /// - Returns: A description of the failure, or `nil`.
    package mutating func started(_ gid: Download.ID, path: String) -> String? {
        run([.start], gid, path)
    }

    /// Runs the command for the pause of a download, if there is one.
    ///
    /// - Returns: A description of the failure, or `nil`.
    package mutating func paused(_ gid: Download.ID, path: String) -> String? {
        run([.pause], gid, path)
    }

    /// Runs the command for the result of a download, otherwise the one for any result.
    ///
    /// - Returns: A description of the failure, or `nil`.
    package mutating func ended(_ gid: Download.ID, _ code: Aria2ErrorCode, path: String) -> String?
    {
        switch code {
        case .finished: run([.complete, .stop], gid, path)
        case .inProgress, .removed: run([.stop], gid, path)
        default: run([.error, .stop], gid, path)
        }
    }

    private mutating func run(
        _ hooks: [Aria2Settings.Hook], _ gid: Download.ID, _ path: String
    ) -> String? {
        running.removeAll { waitpid($0, nil, WNOHANG) != 0 }
        guard let command = hooks.compactMap({ commands[$0] }).first else { return nil }
        var pid: pid_t = 0
        let code = Hooks.withCStrings([command, gid.description, "1", path]) { arguments in
            Hooks.withCStrings(Hooks.environment(with: [:])) {
                segget_spawn(arguments, $0, STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, 0, &pid)
            }
        }
        guard code == 0 else {
            return "Could not execute user command: \(command): \(Diagnostic.describe(errno: code))"
        }
        running.append(pid)
        return nil
    }
}
