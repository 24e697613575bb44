// Commands: the commands, and how each of them runs the library. They know the command line and
// signals; they never know a request, a range or a file's bytes.

import ArgumentParser
import Segmenter

/// The command `segget`.
@main struct Segget: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "segget",
        abstract: "Download files over HTTP(S) in segments; resumable and verified.",
        usage: "segget [get] <url>... [<options>]\nsegget probe <url> [<options>]"
            + "\nsegget verify <file> [<options>]\nsegget repair <file> <url> [<options>]"
            + "\nsegget bench <url> [<options>]",
        discussion: "`segget URL` is short for `segget get URL`; `segget help` shows more.",
        version: "segget \(seggetVersion)",
        subcommands: [
            GetCommand.self, ProbeCommand.self, VerifyCommand.self, RepairCommand.self,
            BenchCommand.self,
        ],
        defaultSubcommand: GetCommand.self)

    static func main() {
        if Aria2Command.isMeant(by: CommandLine.arguments[0]) {
            Aria2Command.run(Array(CommandLine.arguments.dropFirst()))
        }
        // What Swift would make of other bytes is another name, or another password.
        if let place = CommandLineSecrets.firstNotUTF8 {
            Invocation.refuse(
                "argument \(place) is not UTF-8",
                hint: "segget takes names and options in UTF-8 only")
        }
        if CommandLine.arguments.dropFirst().first == BenchWorker.name { BenchWorker.run() }
        Invocation(Array(CommandLine.arguments.dropFirst())).run()
    }
}
