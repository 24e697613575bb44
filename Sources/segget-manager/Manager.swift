import ArgumentParser
import SeggetCommand

/// The command `segget` with all of its commands: those of the lean program, and the queue's.
struct Manager: ParsableCommand {
    static let configuration: CommandConfiguration = Segget.root(
        Segget.configuration.subcommands + queue + [OptionsCommand.self])

    /// The commands about the queue, each of which is in a file of `Commands`.
    static let queue: [any ParsableCommand.Type] = [
        AddCommand.self, AttachCommand.self, ListCommand.self, ShowCommand.self, StartCommand.self,
        PauseCommand.self,
        ResumeCommand.self, CancelCommand.self, RetryCommand.self, RemoveCommand.self,
        ClearCommand.self, MoveCommand.self, RenameCommand.self, SetCommand.self, TagCommand.self,
        SettingsCommand.self, RunCommand.self, ServeCommand.self, OpenCommand.self,
    ]
}
