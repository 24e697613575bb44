import ArgumentParser
import Glibc
import SeggetCommand
import SeggetQueue
import SeggetReports
import SeggetService
import Segmenter

/// A command that changes the selected tasks.
protocol TaskCommand: ParsableCommand {
    var tasks: TaskArguments { get }
    var queue: QueueOptions { get }
    /// The command for the queue.
    var command: QueueCommand { get }
    /// The word for a success, such as `paused`.
    static var done: String { get }
}

extension TaskCommand {
    func run() throws {
        let (command, done) = (command, Self.done)
        try queue.run { access in try await access.carryOut(command, done: done) }
    }
}

/// `segget start`: starts tasks immediately.
struct StartCommand: TaskCommand {
    static let configuration = QueueCommandName.start.configuration(
        discussion: """
            If all slots are taken, the task that has run longest gives up its slot. That task continues later, \
            before all other waiting tasks.
            """)
    static let done = "started"
    @OptionGroup var tasks: TaskArguments
    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions
    var command: QueueCommand { .start(tasks.selection) }
}

/// `segget pause`: pauses tasks.
struct PauseCommand: TaskCommand {
    static let configuration = QueueCommandName.pause.configuration(
        discussion: """
            A paused task keeps its bytes and closes its connections. It stays paused until `segget resume` or \
            `segget start`, even if the machine restarts.
            """)
    static let done = "paused"
    @OptionGroup var tasks: TaskArguments
    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions
    var command: QueueCommand { .pause(tasks.selection) }
}

/// `segget resume`: resumes tasks.
struct ResumeCommand: TaskCommand {
    static let configuration = QueueCommandName.resume.configuration(
        discussion: "Failed and cancelled tasks start again.")
    static let done = "resumed"
    @OptionGroup var tasks: TaskArguments
    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions
    var command: QueueCommand { .resume(tasks.selection) }
}

/// `segget cancel`: cancels tasks, and deletes their parts.
struct CancelCommand: TaskCommand {
    static let configuration = QueueCommandName.cancel.configuration(
        discussion: """
            The task stays in the list, marked as cancelled; its part and manifest are deleted. `segget retry` \
            starts the download over.
            """)
    static let done = "cancelled"
    @OptionGroup var tasks: TaskArguments
    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions
    var command: QueueCommand { .cancel(tasks.selection) }
}

/// `segget retry`: retries tasks.
struct RetryCommand: TaskCommand {
    static let configuration = QueueCommandName.retry.configuration(
        discussion: """
            Skips the retry delay of a task that waits. Received bytes are kept. A finished task whose file is gone is \
            downloaded again, if its id is given.
            """)
    static let done = "waiting again"
    @OptionGroup var tasks: TaskArguments
    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions
    var command: QueueCommand { .retry(tasks.selection) }
}

/// `segget remove`: removes tasks from the queue.
struct RemoveCommand: TaskCommand {
    static let configuration = QueueCommandName.remove.configuration(
        discussion: """
            Keeps the files. With `--files`, also deletes the finished file, or the part and its manifest, but \
            never a file that is not this task's. Prints the path and size of each part that remains.
            """)
    static let done = "removed"
    @OptionGroup var tasks: TaskArguments
    @Flag(help: "Also delete the finished file, or the part and its manifest.")
    var files = false
    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions
    var command: QueueCommand { .remove(tasks.selection, files: files) }
}

/// `segget clear`: removes ended tasks from the list.
struct ClearCommand: ParsableCommand {
    static let configuration = QueueCommandName.clear.configuration(
        discussion: "Keeps the files.")
    @Option(
        help: ArgumentHelp(
            "Remove only tasks in this state: completed, failed or cancelled; repeatable.",
            valueName: "state"))
    var state: [EndedState] = []
    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions

    enum EndedState: String, CaseIterable, ExpressibleByArgument {
        case completed, failed, cancelled
    }

    func run() throws {
        let states = (state.isEmpty ? EndedState.allCases : state).map {
            TaskStatus.Word(rawValue: $0.rawValue)
        }
        try queue.run { access in
            let command = QueueCommand.remove(TaskSelection(states: states), files: false)
            let results = Array(try await access.door.perform([command]).joined())
            let status = Results.say(results.filter { $0.outcome == .refused }, done: nil)
            let count = results.count { $0.outcome == .done }
            StandardStreams.write(
                "\(Units.count(Int64(count), "task")) removed from the list\n",
                to: STDOUT_FILENO)
            Results.sayLeft(results.compactMap(\.left))
            access.sayWhetherWorked()
            return status
        }
    }
}

/// `segget move`: changes the position of tasks in the queue.
struct MoveCommand: ParsableCommand {
    static let configuration = QueueCommandName.move.configuration(
        discussion: "Tasks that are moved together keep their order.")
    @OptionGroup var tasks: TaskArguments
    @OptionGroup var position: PositionOptions
    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions

    func validate() throws {
        guard position.given != nil else {
            throw ValidationError("Missing expected argument: `--first`, `--last` or `--at N`")
        }
    }

    func run() throws {
        guard let given = position.given else { return }
        let command = QueueCommand.move(tasks.selection, to: given)
        try queue.run { access in try await access.carryOut(command, done: "moved") }
    }
}

/// The options for a position in the queue.
struct PositionOptions: ParsableArguments {
    @Flag(help: "Move to the front of the queue.") var first = false
    @Flag(help: "Move to the end of the queue.") var last = false
    @Option(help: ArgumentHelp("Move to this position, counted from 1.", valueName: "n"))
    var at: Int?

    func validate() throws {
        guard [first, last, at != nil].count(where: { $0 }) <= 1 else {
            throw ValidationError("only one of `--first`, `--last` and `--at` can be given")
        }
        if let at, at < 1 {
            throw ValidationError("`--at` takes a number of at least 1, not \(at)")
        }
    }

    /// The position, if one is given.
    var given: QueuePosition? {
        first ? .first : last ? .last : at.map { .at($0) }
    }
}

/// `segget rename`: changes the name or folder of a task's file.
struct RenameCommand: ParsableCommand {
    static let configuration = QueueCommandName.rename.configuration(
        usage:
            "segget rename <id> <name> [<options>]\nsegget rename <id> --directory <dir> [<options>]",
        discussion: "Also renames the file on the disk, or the part of an active download.")
    @Argument(help: "The id of the task.", completion: .custom(Completions.ids)) var id: String
    @Argument(help: "The new name of the file.") var name: String?
    @Option(
        name: [.long, .customShort("d", allowingJoined: true)],
        help: ArgumentHelp("Move the file to this folder.", valueName: "dir"),
        completion: .directory, transform: PathArgument.folder)
    var directory: String?
    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions

    func validate() throws {
        guard name != nil || directory != nil else {
            throw ValidationError("Missing expected argument: a name, or `--directory`")
        }
        guard directory != "" else { throw ValidationError("an empty path cannot be used") }
        try PathArgument.checkTilde(directory, "directory")
    }

    func run() throws {
        let folder = directory.map(Paths.absolute)
        let command = QueueCommand.rename(TaskSelection(ids: [id]), name: name, folder: folder)
        try queue.run { access in try await access.carryOut(command, done: "renamed") }
    }
}

/// `segget tag`: adds and removes tags of a task.
struct TagCommand: ParsableCommand {
    static let configuration = QueueCommandName.tag.configuration(
        usage: "segget tag <id> +<tag>... -<tag>... [<options>]",
        discussion: "`+TAG` adds a tag, `-TAG` removes it.")
    @Argument(help: "The id of the task.", completion: .custom(Completions.ids)) var id: String
    @Argument(
        parsing: .allUnrecognized,
        help: ArgumentHelp("`+TAG` or `-TAG`.", valueName: "change"))
    var changes: [String]
    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions

    func validate() throws {
        guard !changes.isEmpty else {
            throw ValidationError("Missing expected argument: `+TAG` or `-TAG`")
        }
        for change in changes {
            let sign = change.first
            guard sign == "+" || sign == "-", change.count > 1, !change.hasPrefix("--") else {
                throw ValidationError("`\(change)` is neither `+TAG` nor `-TAG`")
            }
            try Tags.check(String(change.dropFirst()))
        }
    }

    func run() throws {
        func tags(_ sign: Character) -> [String] {
            changes.filter { $0.first == sign }.map { String($0.dropFirst()) }
        }
        let command = QueueCommand.tag(
            TaskSelection(ids: [id]), add: tags("+"), remove: tags("-"))
        try queue.run { access in try await access.carryOut(command, done: "tagged") }
    }
}

/// The rules for tags.
enum Tags {
    /// Throws an error for an invalid tag.
    static func check(_ tag: String) throws {
        let isFit = tag.unicodeScalars.allSatisfy {
            $0.value > 0x20 && $0.value != 0x7f && $0 != ","
        }
        guard !tag.isEmpty, tag.utf8.count <= 64, isFit, !tag.hasPrefix("-"), !tag.hasPrefix("+")
        else {
            throw ValidationError(
                "a tag is a word of at most 64 bytes without spaces and commas, and begins with neither `+` nor `-`"
            )
        }
    }
}
