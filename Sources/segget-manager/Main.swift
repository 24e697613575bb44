import SeggetCommand

/// The program `segget-manager`, which `segget` becomes for the commands of the queue.
@main enum Main {
    static func main() {
        Program.silenceDispatch()
        if Aria2Command.isMeant(by: CommandLine.arguments[0]) {
            Aria2Daemon.run(Array(CommandLine.arguments.dropFirst()))
        }
        Program(Manager.self).run()
    }
}
