// Commands: the commands, and how each of them runs the library. They know the command line and
// signals; they never know a request, a range or a file's bytes.

package import ArgumentParser
import Segmenter

/// The command `segget`, with the commands that need no queue.
package struct Segget: ParsableCommand {
    package static let configuration: CommandConfiguration = root([
        GetCommand.self, ProbeCommand.self, VerifyCommand.self, RepairCommand.self,
        BenchCommand.self,
    ])

    package init() {}

    /// What `segget` says of itself, whichever commands it has.
    ///
    /// - Parameter subcommands: The commands, those of ``Segget`` first.
    /// - Returns: The same for each program, but for the commands.
    package static func root(_ subcommands: [any ParsableCommand.Type]) -> CommandConfiguration {
        CommandConfiguration(
            commandName: "segget",
            abstract: "Download files over HTTP(S) in segments; resumable and verified.",
            usage: "segget [get] <url>... [<options>]\nsegget probe <url> [<options>]"
                + "\nsegget verify <file> [<options>]\nsegget repair <file> <url> [<options>]"
                + "\nsegget bench <url> [<options>]",
            discussion: "`segget URL` is short for `segget get URL`; `segget help` shows more.",
            version: "segget \(seggetVersion)", subcommands: subcommands,
            defaultSubcommand: GetCommand.self)
    }
}
