// Commands: the commands, and how each of them uses the library. They know the command line and
// signals, but no requests, ranges or bytes of files.

package import ArgumentParser
import Segmenter

/// The command `segget`, with the commands that need no queue.
package struct Segget: ParsableCommand {
    package static let configuration: CommandConfiguration = root([
        GetCommand.self, PlanCommand.self, ProbeCommand.self, VerifyCommand.self,
        RepairCommand.self, StatusCommand.self, FleetCommand.self, BenchCommand.self,
    ])

    package init() {}

    /// Returns the configuration of the root command.
    ///
    /// - Parameter subcommands: The commands, those of ``Segget`` first.
    /// - Returns: The configuration, which is the same for each program except for the commands.
    package static func root(_ subcommands: [any ParsableCommand.Type]) -> CommandConfiguration {
        CommandConfiguration(
            commandName: "segget",
            abstract: "Download files over HTTP(S) in segments; resumable and verified.",
            usage: "segget [get] <url>... [<options>]\nsegget probe <url> [<options>]"
                + "\nsegget plan <url>... [<options>]\nsegget status [<folder>]\nsegget verify <file> [<options>]\nsegget repair <file> <url> [<options>]"
                + "\nsegget bench <url> [<options>]",
            discussion: "`segget URL` is short for `segget get URL`; `segget help` shows more.",
            version: "segget \(seggetVersion)", subcommands: subcommands,
            defaultSubcommand: GetCommand.self)
    }
}
