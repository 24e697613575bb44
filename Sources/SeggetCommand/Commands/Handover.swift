import CLinux
import Glibc
import SeggetReports

/// Replaces `segget` by `segget-manager`, which has the commands of both.
///
/// The queue needs SQLite and full Foundation, which would slow the start of every download.
package enum Handover {
    /// The program that handles a command line.
    enum Reader: Equatable {
        /// `segget` itself.
        case segget
        /// The manager if it is installed, because its help covers more commands.
        case managerIfThere
        /// The manager, for one of its own commands.
        case manager(QueueCommandName)
    }

    /// A path where the manager may be installed.
    struct Place {
        var path: [UInt8]

        /// The path, quoted for messages.
        var text: String { Diagnostic.quote(String(decoding: path, as: UTF8.self)) }
    }

    private static let manager = "segget-manager"

    /// Becomes the manager if the command line is for it; otherwise returns.
    ///
    /// Arguments, environment and working directory stay the same. If the manager is required and
    /// cannot be started, the process ends.
    ///
    /// - Parameter arguments: The command line without the program's name.
    package static func run(_ arguments: [String]) {
        switch reader(of: arguments, program: .segget) {
        case .segget: break
        case .managerIfThere: _ = become(CommandLine.unsafeArgv)
        case .manager(let command): run(command, CommandLine.unsafeArgv)
        }
    }

    /// Becomes the manager for `segget get --enqueue`, which runs `segget add --attach`.
    ///
    /// - Parameter arguments: The command line without the program's name.
    static func runQueued(_ arguments: [String]) -> Never {
        let words = [CommandLine.arguments[0]] + queued(arguments)
        var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        run(.add, &pointers)
    }

    /// Becomes the manager for `segget-aria2c --enable-rpc`, with the same command line.
    static func runAria2() -> Never { run(.serve, CommandLine.unsafeArgv) }

    /// Returns the command line of `segget add --attach` for that of `segget get --enqueue`.
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

    /// Replaces the process by the manager; returns only if that fails.
    ///
    /// - Parameter arguments: The command line with the program's name.
    /// - Returns: The path and `errno` of a manager that exists but cannot be started; `nil` if
    ///   there is none.
    private static func become(
        _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    ) -> (place: Place, code: Int32)? {
        var problem: (place: Place, code: Int32)?
        for place in ownPath().map(places) ?? [] {
            execv((place.path + [0]).map { CChar(bitPattern: $0) }, arguments)
            // execv(2) returns only if the file is missing or cannot be started.
            let code = errno
            if problem == nil, ![ENOENT, ENOTDIR].contains(code) { problem = (place, code) }
        }
        return problem
    }

    /// Returns the program that handles a command line.
    ///
    /// - Parameters:
    ///   - arguments: The command line without the program's name.
    ///   - program: `segget`, whose options are known.
    /// - Returns: The program that handles the command line.
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
        // Options may precede the command, as in `segget --no-config list`.
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

    /// Returns the paths of the manager: beside the program (build folder), and as installed.
    ///
    /// - Parameter own: The path of this program, with symbolic links resolved.
    /// - Returns: The paths in the order in which they are tried.
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
