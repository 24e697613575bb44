import ArgumentParser
import Glibc
import SeggetCommand
import SeggetQueue
import SeggetReports
import SeggetService
import Segmenter

/// The arguments that select tasks.
struct TaskArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "Ids of tasks, or unique prefixes of them.",
            valueName: "id"),
        completion: .custom(Completions.ids))
    var ids: [String] = []

    @Option(
        help: ArgumentHelp("Select all tasks with this tag; repeatable.", valueName: "tag"),
        completion: .custom(Completions.tags))
    var tag: [String] = []

    @Flag(help: "Select all tasks.")
    var all = false

    func validate() throws {
        guard !ids.isEmpty || !tag.isEmpty || all else {
            throw ValidationError("Missing expected argument: the id of a task, `--tag` or `--all`")
        }
        guard ids.isEmpty || !all else {
            throw ValidationError("ids and `--all` cannot be used together")
        }
    }

    /// The library's selection.
    var selection: TaskSelection { TaskSelection(ids: ids, tags: tag, isAll: all) }
}

/// Words for shell completion.
enum Completions {
    /// Returns the ids of tasks that start with `prefix`.
    @Sendable static func ids(_ arguments: [String], _ index: Int, _ prefix: String) -> [String] {
        reports().map(\.id.description).filter { $0.hasPrefix(prefix) }
    }

    /// Returns the tags that start with `prefix`.
    @Sendable static func tags(_ arguments: [String], _ index: Int, _ prefix: String) -> [String] {
        Set(reports().flatMap(\.tags)).filter { $0.hasPrefix(prefix) }.sorted()
    }

    /// Returns the tasks of the default queue; none if it cannot be read.
    ///
    /// Shell completion cannot show an error.
    private static func reports() -> [TaskReport] {
        guard let path = try? QueueOptions.parse([]).path else { return [] }
        return (try? QueueAccess.recorded(TaskFilter(), at: path).tasks) ?? []
    }
}

extension QueueAccess {
    /// Runs a command, and prints its results and whether a worker is running.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - done: The word for a success, such as `paused`.
    /// - Returns: The exit code.
    /// - Throws: `QueueError`.
    func carryOut(
        _ command: QueueCommand, done: String
    ) async throws(QueueError) -> ExitStatus {
        let results = try await door.perform([command]).joined()
        let status = Results.say(Array(results), done: done)
        Results.sayLeft(results.compactMap(\.left))
        sayWhetherWorked()
        return status
    }

    /// Prints a note if no worker is running.
    func sayWhetherWorked() {
        if worker == nil { Voice.say(.note, Self.notWorked) }
    }

    /// Prints a note if no worker is running and one of these tasks needs it.
    func sayWhetherWorked(_ tasks: [TaskReport]) {
        if tasks.contains(where: \.waitsForWorker) { sayWhetherWorked() }
    }

    /// The note for a queue without a worker.
    static let notWorked = "no worker is running: start one with `segget run`"
}

/// Prints the results of commands.
enum Results {
    /// Prints the parts that remain after tasks were removed: each one, or the sum of more than
    /// three.
    static func sayLeft(_ parts: [CommandResult.LeftPart]) {
        guard let first = parts.first else { return }
        guard parts.count > 3 else {
            for part in parts {
                Voice.say(
                    .note,
                    "the part \(Diagnostic.quote(part.path)) remains, \(Units.size(part.bytes)); "
                        + "`segget remove --files` deletes parts too")
            }
            return
        }
        let bytes = parts.reduce(0) { $0 + $1.bytes }
        Voice.say(
            .note,
            "\(parts.count) parts remain, \(Units.size(bytes)) in total, such as "
                + "\(Diagnostic.quote(first.path)); `segget remove --files` deletes parts too")
    }

    /// Prints the result of a command for each task, and returns the exit code.
    ///
    /// - Parameters:
    ///   - results: The results.
    ///   - done: The word for a success, such as `paused`; `nil` prints no successes.
    /// - Returns: The code of the first refusal; otherwise `done`.
    static func say(_ results: [CommandResult], done: String?) -> ExitStatus {
        var worst = ExitStatus.done
        for result in results {
            let id = result.id?.description
            switch result.outcome {
            case .done:
                guard let done else { break }
                StandardStreams.write(
                    "\(id ?? "") \(result.message ?? done)\n", to: STDOUT_FILENO)
            case .unchanged:
                let hint = result.queueHint.map { " (\($0))" } ?? ""
                StandardStreams.write(
                    "\(id ?? "") \(result.message ?? "unchanged")\(hint): unchanged\n",
                    to: STDOUT_FILENO)
            case .refused:
                Voice.say(.error, (id.map { "task \($0): " } ?? "") + (result.message ?? "refused"))
                if let hint = result.queueHint { Voice.say(.hint, hint) }
                if worst == .done { worst = ExitStatus(rawValue: result.code) ?? .usage }
            }
        }
        return worst
    }
}
