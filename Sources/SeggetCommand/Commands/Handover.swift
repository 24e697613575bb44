import CLinux
import Glibc
import SeggetReports

/// How `segget` becomes `segget-manager`, which has the queue's commands and all of its own.
///
/// SQLite and full Foundation, which the queue needs, would cost the start of every download.
package enum Handover {
    /// For whom a command line is.
    enum Reader: Equatable {
        /// The lean program.
        case segget
        /// The manager, if it is there: it knows more to say.
        case managerIfThere
        /// The manager alone, for one of its commands.
        case manager(QueueCommandName)
    }

    /// Where the manager may stand, and how it stands there.
    struct Place {
        var path: [UInt8]

        /// The path, for people.
        var text: String { Diagnostic.quote(String(decoding: path, as: UTF8.self)) }
    }

    private static let manager = "segget-manager"

    /// Becomes the manager, where the command line is for it; returns where it is not.
    ///
    /// Arguments, environment and working folder stay what they are. Where the manager is needed and
    /// cannot be started, the process ends.
    ///
    /// - Parameter arguments: What was typed, without the program's name.
    package static func run(_ arguments: [String]) {
        switch reader(of: arguments, program: .segget) {
        case .segget: break
        case .managerIfThere: _ = become(CommandLine.unsafeArgv)
        case .manager(let command): run(command, CommandLine.unsafeArgv)
        }
    }

    /// Becomes the manager for `segget get --enqueue`, which is `segget add --attach` there.
    ///
    /// - Parameter arguments: What was typed, without the program's name.
    static func runQueued(_ arguments: [String]) -> Never {
        let words = [CommandLine.arguments[0]] + queued(arguments)
        var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        run(.add, &pointers)
    }

    /// Becomes the manager for `segget-aria2c --enable-rpc`, whose command line that takes as it is.
    static func runAria2() -> Never { run(.serve, CommandLine.unsafeArgv) }

    /// The same command line for `segget add --attach`.
    static func queued(_ arguments: [String]) -> [String] {
        let typed = Invocation.commandFirst(arguments, of: .segget)
        let rest = typed.first == "get" ? typed.dropFirst() : typed[...]
        let flag: Set = ["--enqueue", "--enqueue=true", "--enqueue=false"]
        let options = rest.prefix { $0 != "--" }.filter { !flag.contains($0) }
        return ["add", "--attach"] + options + rest.drop { $0 != "--" }
    }

    /// Becomes the manager, or ends the process.
    private static func run(
        _ command: QueueCommandName,
        _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    ) -> Never {
        let problem = become(arguments)
        let places = ownPath().map(places) ?? []
        let message: String
        let hint: String
        if let (place, code) = problem {
            message = "\(place.text) cannot be started: \(Diagnostic.describe(errno: code))"
            hint = "reinstall segget with all of its files"
        } else if places.isEmpty {
            message = "cannot find `\(manager)`: the path of this program is unknown"
            hint = "check that /proc is mounted"
        } else {
            message =
                "`segget \(command.rawValue)` needs the program `\(manager)`, which is missing"
            hint =
                "segget looked for \(places.map(\.text).joined(separator: " and ")); reinstall "
                + "segget with all of its files"
        }
        let colour = Terminal.standardError.colour
        for message in [Message(.error, message), Message(.hint, hint)] {
            StandardStreams.write(message.line(colour: colour) + "\n", to: STDERR_FILENO)
        }
        Glibc.exit(ExitStatus.unavailable.rawValue)
    }

    /// Becomes the manager, where it is; returns where it cannot be started.
    ///
    /// - Parameter arguments: The command line, with the program's name.
    /// - Returns: Why not, where something is in its place.
    private static func become(
        _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    ) -> (place: Place, code: Int32)? {
        var problem: (place: Place, code: Int32)?
        for place in ownPath().map(places) ?? [] {
            execv((place.path + [0]).map { CChar(bitPattern: $0) }, arguments)
            // It is not there, or cannot be started.
            let code = errno
            if problem == nil, ![ENOENT, ENOTDIR].contains(code) { problem = (place, code) }
        }
        return problem
    }

    /// For whom a command line is.
    ///
    /// - Parameters:
    ///   - arguments: What was typed, without the program's name.
    ///   - program: The lean program.
    /// - Returns: Who reads it.
    static func reader(of arguments: [String], program: Program) -> Reader {
        guard let first = arguments.first else { return .segget }
        if let command = QueueCommandName(rawValue: first) { return .manager(command) }
        if first == "help" {
            return arguments.dropFirst().first.flatMap(QueueCommandName.init).map(Reader.manager)
                ?? .managerIfThere
        }
        guard first.hasPrefix("-") else { return .segget }
        let questions: Set = [
            "--help", "-h", "--help-hidden", "---completion", "--experimental-dump-help",
        ]
        if questions.contains(first) || first.hasPrefix("--generate-completion-script") {
            return .managerIfThere
        }
        // As in `segget --no-config list`.
        for (index, argument) in arguments.enumerated() {
            guard let command = QueueCommandName(rawValue: argument) else { continue }
            switch Invocation.judge(arguments[..<index], by: program.tree) {
            case .options: return .manager(command)
            case .unknownOption: return .managerIfThere
            case .others: return .segget
            }
        }
        return .segget
    }

    /// Where the manager is looked for: beside the program, as it is built, and as it is installed.
    ///
    /// - Parameter own: The program's own path, without symbolic links.
    /// - Returns: The one that counts first in front.
    static func places(_ own: [UInt8]) -> [Place] {
        func parent(_ path: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
            path[..<(path.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex)]
        }
        let folder = parent(own[...])
        return [
            Place(path: folder + Array("/\(manager)".utf8)),
            Place(path: parent(folder) + Array("/libexec/segget/\(manager)".utf8)),
        ]
    }

    private static func ownPath() -> [UInt8]? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = segget_own_path(&buffer, buffer.count)
        guard count > 0 else { return nil }
        return buffer[..<count].map { UInt8(bitPattern: $0) }
    }
}
