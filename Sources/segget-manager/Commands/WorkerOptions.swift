import ArgumentParser
import SeggetCommand

/// The options for a worker's commands and for sleep.
struct WorkerOptions: ParsableArguments {
    @OptionGroup var ends: EndOptions

    @Option(
        help: ArgumentHelp(
            "Run this command when every task is paused or has ended, in the same way.",
            discussion: """
                Runs once each time the last remaining task ends, after the commands for ended tasks. The environment \
                has the number of completed and failed tasks (`SEGGET_TASK_COMPLETED`, `_FAILED`).
                """,
            valueName: "cmd"))
    var onIdle: String?

    @Flag(help: "Allow the machine to sleep during downloads.")
    var noInhibit = false

    func validate() throws { _ = try idleCommand }

    private var idleCommand: [String]? {
        get throws { try ScriptOptions.words(onIdle, "--on-idle") }
    }

    /// Returns the worker's other duties.
    ///
    /// - Parameter say: Prints a message for the user.
    /// - Returns: The commands and the sleep inhibitor, for a worker that is not opened yet.
    /// - Throws: `ValidationError`.
    func companions(say: @escaping @Sendable (String) async -> Void) throws -> WorkerCompanions {
        WorkerCompanions(
            hooks: TaskHooks(try ends.hooks, onIdle: try idleCommand, say: say),
            inhibitor: noInhibit ? nil : SleepInhibitor(say: say))
    }
}
