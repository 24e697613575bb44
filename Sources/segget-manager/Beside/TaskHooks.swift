import Assembler
import SeggetCommand
import SeggetQueue
import SeggetReports
import Segmenter

/// Runs a worker's commands for tasks that end, and for an idle queue.
///
/// The commands run in the background, a few at a time. Only ``finish(within:)`` waits for them.
final class TaskHooks: Sendable {
    /// The most commands that run at a time.
    private static let most = 4

    /// A command to run.
    private struct Job: Sendable {
        var option: String
        var command: [String]
        var facts: [String: String]
        var input: String
        /// Whether it starts only after all commands before it have ended.
        var isLast = false
    }

    /// The numbers of tasks that have ended since the queue was last idle.
    private struct Counts {
        var (completed, failed) = (0, 0)
    }

    private let hooks: Hooks
    private let onIdle: [String]?
    private let begun = monotonicSeconds()
    private let counts = Monitor(Counts())
    private let jobs: AsyncStream<Job>.Continuation
    /// Whether all commands have ended; set after ``finish(within:)`` only.
    private let isOver = Monitor(false)
    private let say: @Sendable (String) async -> Void

    /// Creates the runner.
    ///
    /// - Parameters:
    ///   - hooks: The commands for tasks that end.
    ///   - onIdle: The command for an idle queue.
    ///   - say: Prints a message about a failed command.
    init(_ hooks: Hooks, onIdle: [String]?, say: @escaping @Sendable (String) async -> Void) {
        (self.hooks, self.onIdle, self.say) = (hooks, onIdle, say)
        let (stream, continuation) = AsyncStream.makeStream(of: Job.self)
        jobs = continuation
        Task { [isOver] in
            await Self.run(stream, say)
            isOver.withLock { $0 = true }
        }
    }

    /// Whether any command is set.
    var areWanted: Bool { hooks.areWanted || onIdle != nil }

    private static func run(
        _ jobs: AsyncStream<Job>, _ say: @escaping @Sendable (String) async -> Void
    ) async {
        await withTaskGroup(of: Void.self) { group in
            var running = 0
            for await job in jobs {
                while running >= (job.isLast ? 1 : most) {
                    await group.next()
                    running -= 1
                }
                running += 1
                group.addTask {
                    let problem = await Hooks.carryOut(
                        job.command, facts: job.facts, input: job.input)
                    if let problem { await say("the command of `\(job.option)` \(problem)") }
                }
            }
        }
    }

    /// Runs the command for a task that has ended.
    func ended(_ end: TaskEnd) {
        let isCompleted = end.task.state == .completed
        counts.withLock { counts in
            if isCompleted { counts.completed += 1 } else { counts.failed += 1 }
        }
        guard let command = isCompleted ? hooks.onComplete : hooks.onError else { return }
        jobs.yield(
            Job(
                option: isCompleted ? "--on-complete" : "--on-error", command: command,
                facts: Self.facts(end), input: Self.input(end, time: monotonicSeconds() - begun)))
    }

    /// Runs the command for an idle queue: all tasks are paused or have ended.
    func idle() {
        let ended = counts.withLock { counts in
            defer { counts = Counts() }
            return counts
        }
        guard let onIdle else { return }
        let facts = [
            "EVENT": "idle", "COMPLETED": "\(ended.completed)", "FAILED": "\(ended.failed)",
        ]
        let line = JSONLine(
            event: "idle", time: monotonicSeconds() - begun,
            payload: ["completed": ended.completed, "failed": ended.failed])
        jobs.yield(
            Job(
                option: "--on-idle", command: onIdle,
                facts: Dictionary(
                    uniqueKeysWithValues: facts.map { (Hooks.prefix + $0, $1) }),
                input: (JSONText.line(line) ?? "{}") + "\n", isLast: true))
    }

    /// Waits for the end of all commands, but not longer than `seconds`; the others continue.
    func finish(within seconds: Double) async {
        jobs.finish()
        let isOver = isOver
        let areDone = await offLoop("hooks") { () throws(Never) in
            isOver.wait(timeout: seconds) { $0 ? true : nil } ?? false
        }
        if !areDone {
            await say("hook commands are still running; they continue in the background")
        }
    }

    /// Returns the environment variables that describe a task: those of a file, the id and the
    /// tags.
    static func facts(_ end: TaskEnd) -> [String: String] {
        var facts: [String: String]
        if let result = end.result {
            facts = Hooks.facts(result, url: end.task.url, status: ExitStatus(result))
        } else {
            let problem = end.task.error
            facts = [
                "STATUS": "\(problem?.code ?? 0)", "EVENT": "error", "URL": end.task.url,
                "PATH": path(of: end.task) ?? "", "KEPT": "\(end.task.bytesDone)",
                "KIND": problem?.kind ?? "",
                "MESSAGE": PrintableText.escape(problem?.message ?? ""),
            ]
            facts = Dictionary(uniqueKeysWithValues: facts.map { (Hooks.prefix + $0, $1) })
        }
        facts[Hooks.prefix + "ID"] = end.task.id.description
        facts[Hooks.prefix + "TAGS"] = end.task.tags.joined(separator: " ")
        return facts
    }

    /// Returns the path of the file, or of the folder of a data set.
    private static func path(of task: TaskReport) -> String? {
        task.files == nil ? task.path : task.folder
    }

    private static func input(_ end: TaskEnd, time: Double) -> String {
        if let result = end.result { return Hooks.input(result, time: time) }
        let problem = end.task.error
        let failure = JSONEvents.Failure(
            code: problem?.code ?? 0, kind: problem?.kind ?? "", message: problem?.message ?? "",
            hint: problem?.queueHint(end.task.id) ?? "", url: end.task.url,
            path: path(of: end.task),
            bytesKept: end.task.bytesDone)
        return (JSONText.line(JSONLine(event: "error", time: time, payload: failure)) ?? "{}")
            + "\n"
    }
}
