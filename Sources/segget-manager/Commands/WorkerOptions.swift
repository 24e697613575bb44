import ArgumentParser
import SeggetCommand

/// What a worker does beside fetching.
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

    /// What goes with a worker.
    ///
    /// - Parameter say: Takes what a person should know.
    /// - Returns: Commands and whatever keeps the machine awake, for a worker that is about to be opened.
    /// - Throws: `ValidationError`.
    func companions(say: @escaping @Sendable (String) async -> Void) throws -> WorkerCompanions {
        WorkerCompanions(
            hooks: TaskHooks(try ends.hooks, onIdle: try idleCommand, say: say),
            inhibitor: noInhibit ? nil : SleepInhibitor(say: say))
    }
}
