import SeggetCommand

/// The program `segget`.
@main enum Main {
    static func main() {
        Program.silenceDispatch()
        let arguments = Array(CommandLine.arguments.dropFirst())
        if Aria2Command.isMeant(by: CommandLine.arguments[0]) { Aria2Command.run(arguments) }
        Handover.run(arguments)
        Program.segget.run()
    }
}
