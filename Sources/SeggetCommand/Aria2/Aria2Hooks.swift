import CLinux
import Glibc
package import SeggetFormats
package import SeggetReports
package import Segmenter

/// The commands that are run at what happens to a download, as aria2c runs them: with its GID, the number
/// of its files and the path of the file, and without waiting for them.
package struct Aria2Hooks {
    private let commands: [Aria2Settings.Hook: String]
    /// Commands that were started and perhaps have not ended.
    private var running: [pid_t] = []

    package init(_ commands: [Aria2Settings.Hook: String]) { self.commands = commands }

    /// Runs the command for the beginning of a download, if there is one.
    ///
    /// - Parameters:
    ///   - gid: The download.
    ///   - path: Where the file is to stand; empty while that is not known.
    /// - Returns: What went wrong, in words.
    package mutating func started(_ gid: Download.ID, path: String) -> String? {
        run([.start], gid, path)
    }

    /// Runs the command for the pause of a download, if there is one.
    ///
    /// - Returns: What went wrong, in words.
    package mutating func paused(_ gid: Download.ID, path: String) -> String? {
        run([.pause], gid, path)
    }

    /// Runs the command for the end of a download: the one for such an end, else the one for any.
    ///
    /// - Returns: What went wrong, in words.
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
