import ArgumentParser
import SeggetCommand

/// What a worker does beside fetching.
struct WorkerOptions: ParsableArguments {
    @OptionGroup var ends: EndOptions

    @Option(
        help: ArgumentHelp(
            "Run this command when nothing is left to do, in the same way.",
            discussion: """
                Once each time, when the end of a task leaves nothing but tasks that are held or have ended, and after \
                the commands for these ends. The environment has how many there were (`SEGGET_TASK_COMPLETED`, \
                `_FAILED`).
                """,
            valueName: "cmd"))
    var onIdle: String?

    @Flag(help: "Let the machine go to sleep while tasks are fetched.")
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
