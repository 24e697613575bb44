package import ArgumentParser
import Assembler
import Glibc
import SeggetReports

/// A program that is run from a command line: `segget`, or `segget-manager`, which has more commands.
package final class Program: Sendable {
    /// A command with others below it.
    package typealias Root = any (ParsableCommand & SendableMetatype).Type

    /// What the commands stand below.
    let root: Root
    private let known = Monitor<CommandTree?>(nil)

    /// - Parameter root: What the commands stand below.
    package init(_ root: Root) { self.root = root }

    /// The lean one, which has the commands that need no queue.
    package static let segget = Program(Segget.self)

    /// The commands and their options; read at their first use, which most runs do without.
    package var tree: CommandTree {
        known.withLock { known in
            if let known { return known }
            let tree = CommandTree(of: root)
            known = tree
            return tree
        }
    }

    private static let configured = Monitor<Set<String>>([])

    /// Notes the options whose values come from the environment or the configuration file, by their long names.
    static func note(configured names: [String]) { configured.withLock { $0 = Set(names) } }

    /// Whether the value of an option was not typed, but comes from the environment or the configuration file.
    package static func isConfigured(_ name: String) -> Bool {
        configured.withLock { $0.contains(name) }
    }

    /// Keeps libdispatch from telling the system's log at each of its threads that it may not raise the priority,
    /// which it tries as any user.
    ///
    /// It looks at this variable when it has something to tell, so this comes before there are other threads.
    package static func silenceDispatch() { setenv("LIBDISPATCH_LOG", "NO", 0) }

    /// Reads the environment and the configuration file once more.
    ///
    /// - Returns: The command that the process was started with, as it is set now.
    /// - Throws: What is wrong with the settings.
    package func reread() throws(Refusal) -> any ParsableCommand {
        do {
            return try Invocation(Array(CommandLine.arguments.dropFirst()), of: self).command()
        } catch let problem as Settings.Problem {
            throw Refusal(description: problem.message)
        } catch {
            throw Refusal(description: root.message(for: error))
        }
    }

    /// Why settings cannot be used.
    package struct Refusal: Error, CustomStringConvertible {
        package let description: String
    }

    /// Runs what the process was started with, and ends it.
    package func run() -> Never {
        // What Swift would make of other bytes is another name, or another password.
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
