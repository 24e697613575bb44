import Assembler
import SeggetCommand
import SeggetQueue
import SeggetReports
import Segmenter

/// The commands that a worker runs when a task has ended, and when nothing is left to do.
///
/// A few run at a time, and nobody waits for them but ``finish(within:)``.
final class TaskHooks: Sendable {
    /// Most commands that run at a time.
    private static let most = 4

    /// A command that is to be run.
    private struct Job: Sendable {
        var option: String
        var command: [String]
        var facts: [String: String]
        var input: String
        /// Whether it waits for those before it.
        var isLast = false
    }

    /// How many tasks have ended since nothing was left to do.
    private struct Counts {
        var (completed, failed) = (0, 0)
    }

    private let hooks: Hooks
    private let onIdle: [String]?
    private let begun = monotonicSeconds()
    private let counts = Monitor(Counts())
    private let jobs: AsyncStream<Job>.Continuation
    /// Whether all have ended, after which there are no more.
    private let isOver = Monitor(false)
    private let say: @Sendable (String) async -> Void

    /// - Parameters:
    ///   - hooks: The commands for the ends of tasks.
    ///   - onIdle: The command for when nothing is left to do.
    ///   - say: Takes what went wrong with one.
    init(_ hooks: Hooks, onIdle: [String]?, say: @escaping @Sendable (String) async -> Void) {
        (self.hooks, self.onIdle, self.say) = (hooks, onIdle, say)
        let (stream, continuation) = AsyncStream.makeStream(of: Job.self)
        jobs = continuation
        Task { [isOver] in
            await Self.run(stream, say)
            isOver.withLock { $0 = true }
        }
    }

    /// Whether there is any command.
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

    /// A task has ended.
    func ended(_ end: TaskEnd) {
        let isCompleted = end.task.state == "completed"
        counts.withLock { counts in
            if isCompleted { counts.completed += 1 } else { counts.failed += 1 }
        }
        guard let command = isCompleted ? hooks.onComplete : hooks.onError else { return }
        jobs.yield(
            Job(
                option: isCompleted ? "--on-complete" : "--on-error", command: command,
                facts: Self.facts(end), input: Self.input(end, time: monotonicSeconds() - begun)))
    }

    /// Nothing is left to do.
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

    /// Waits until all commands have ended, or for so long; then those that run go on by themselves.
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

    /// What the environment says of a task: what it says of a file, and its id and tags.
    static func facts(_ end: TaskEnd) -> [String: String] {
        var facts: [String: String]
        if let result = end.result {
            facts = Hooks.facts(result, url: end.task.url, status: ExitStatus(result))
        } else {
            let problem = end.task.error
            facts = [
                "STATUS": "\(problem?.code ?? 0)", "EVENT": "error", "URL": end.task.url,
                "PATH": end.task.path ?? "", "KEPT": "\(end.task.bytesDone)",
                "KIND": problem?.kind ?? "",
                "MESSAGE": PrintableText.escape(problem?.message ?? ""),
            ]
            facts = Dictionary(uniqueKeysWithValues: facts.map { (Hooks.prefix + $0, $1) })
        }
        facts[Hooks.prefix + "ID"] = end.task.id.description
        facts[Hooks.prefix + "TAGS"] = end.task.tags.joined(separator: " ")
        return facts
    }

    private static func input(_ end: TaskEnd, time: Double) -> String {
        if let result = end.result { return Hooks.input(result, time: time) }
        let problem = end.task.error
        let failure = JSONEvents.Failure(
            code: problem?.code ?? 0, kind: problem?.kind ?? "", message: problem?.message ?? "",
            hint: problem?.queueHint(end.task.id) ?? "", url: end.task.url, path: end.task.path,
            bytesKept: end.task.bytesDone)
        return (JSONText.line(JSONLine(event: "error", time: time, payload: failure)) ?? "{}")
            + "\n"
    }
}
