import ArgumentParser
import SeggetCommand

/// The command `segget` with all commands: those of the program `segget`, and the queue's.
struct Manager: ParsableCommand {
    static let configuration: CommandConfiguration = Segget.root(
        Segget.configuration.subcommands + queue + [OptionsCommand.self])

    /// The commands of the queue, whose files are in the folder `Commands`.
    static let queue: [any ParsableCommand.Type] = [
        AddCommand.self, AttachCommand.self, ListCommand.self, ShowCommand.self, StartCommand.self,
        PauseCommand.self,
        ResumeCommand.self, CancelCommand.self, RetryCommand.self, RemoveCommand.self,
        ClearCommand.self, MoveCommand.self, RenameCommand.self, SetCommand.self, TagCommand.self,
        SettingsCommand.self, RunCommand.self, ServeCommand.self, OpenCommand.self,
    ]
}
