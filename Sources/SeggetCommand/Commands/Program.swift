package import ArgumentParser
import Assembler
import Glibc
import SeggetReports

/// A program with a command line: `segget`, or `segget-manager`, which has more commands.
package final class Program: Sendable {
    /// A root command, which has subcommands.
    package typealias Root = any (ParsableCommand & SendableMetatype).Type

    /// The root command.
    let root: Root
    private let known = Monitor<CommandTree?>(nil)

    /// Creates a program.
    ///
    /// - Parameter root: The root command.
    package init(_ root: Root) { self.root = root }

    /// The program `segget`, with the commands that need no queue.
    package static let segget = Program(Segget.self)

    /// The commands and their options, read on first use because most runs do not need them.
    package var tree: CommandTree {
        known.withLock { known in
            if let known { return known }
            let tree = CommandTree(of: root)
            known = tree
            return tree
        }
    }

    private static let configured = Monitor<Set<String>>([])

    /// Records the long names of options that the environment or the configuration file sets.
    static func note(configured names: [String]) { configured.withLock { $0 = Set(names) } }

    /// Whether the value of an option comes from the environment or the configuration file.
    package static func isConfigured(_ name: String) -> Bool {
        configured.withLock { $0.contains(name) }
    }

    /// Keeps libdispatch from logging that its threads may not raise their priority.
    ///
    /// libdispatch tries to raise it as any user. It reads this variable when it logs, so call this
    /// before other threads start.
    package static func silenceDispatch() { setenv("LIBDISPATCH_LOG", "NO", 0) }

    /// Reads the environment and the configuration file again.
    ///
    /// - Returns: The command of this process's command line, with the new settings.
    /// - Throws: `Refusal` if the settings are invalid.
    package func reread() throws(Refusal) -> any ParsableCommand {
        do {
            return try Invocation(Array(CommandLine.arguments.dropFirst()), of: self).command()
        } catch let problem as Settings.LoadError {
            throw Refusal(description: problem.message)
        } catch {
            throw Refusal(description: root.message(for: error))
        }
    }

    /// The reason why settings cannot be used.
    package struct Refusal: Error, CustomStringConvertible {
        package let description: String
    }

    /// Runs the command line of the process, and ends the process.
    package func run() -> Never {
        // Swift would replace bytes that are not UTF-8, and so change a name or a password.
        if let place = CommandLineSecrets.firstNotUTF8 {
            Invocation.refuse(
                "argument \(place) is not UTF-8",
                hint: "segget takes names and options in UTF-8 only")
        }
        if let name = EnvironmentText.firstUnreadableOption {
            Invocation.refuse(
                "the environment variable \(Diagnostic.quote(name)) is not UTF-8",
                hint: "segget takes names and options in UTF-8 only")
        }
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == BenchWorker.name { BenchWorker.run() }
        Invocation(arguments, of: self).run()
    }
}
