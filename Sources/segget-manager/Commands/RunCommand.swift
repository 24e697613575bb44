import ArgumentParser
import Glibc
import SeggetCommand
import SeggetQueue
import SeggetReports
import SeggetService
import Segmenter

/// `segget run`: runs the queue in the foreground.
struct RunCommand: ParsableCommand {
    static let configuration = QueueCommandName.run.configuration(
        discussion: """
            Ends when every task is paused or has ended, with the exit code of the worst failure, like `segget get`. \
            If it is stopped or killed, the next run continues. While it runs, the other commands connect to it. A \
            queue has one worker at a time.

            The commands for ended tasks (`--on-complete`, `--on-error`) also get `SEGGET_TASK_ID` and \
            `SEGGET_TASK_TAGS` in their environment. They run in the background, 4 at a time; before segget exits, it \
            waits up to a minute for them. If logind allows it, the machine does not go to sleep during downloads.
            """)

    @Flag(help: "Keep waiting for new tasks when all have ended.") var keepRunning = false
    @Flag(name: .shortAndLong, help: "Print errors only.") var quiet = false
    @OptionGroup(title: "Scripts and sleep") var worker: WorkerOptions
    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions

    func run() throws {
        StandardStreams.prepare()
        // Files are private until they get the mode that the umask of `segget add` determines.
        umask(0o077)
        let path = try queue.path
        let keepRunning = keepRunning
        let report = RunReport(isQuiet: quiet)
        let companions = try worker.companions { await report.note($0) }
        let interrupts = Interrupts()
        let stop = AsyncStream.makeStream(of: Void.self)
        Task {
            do throws(QueueError) {
                let status = try await Self.work(
                    path, keepRunning: keepRunning, report, companions, interrupts, stop.stream)
                Glibc.exit(status.rawValue)
            } catch {
                Voice.refuse(error)
            }
        }
        interrupts.wait {
            stop.continuation.finish()
            return true
        }
    }

    /// Runs the queue until it is idle, or until a signal.
    private static func work(
        _ path: String, keepRunning: Bool, _ report: RunReport, _ companions: WorkerCompanions,
        _ interrupts: Interrupts, _ stop: AsyncStream<Void>
    ) async throws(QueueError) -> ExitStatus {
        let worked = try await WorkedQueue.open(path, companions: companions) {
            Voice.say(.note, $0.waiting)
        }
        let queue = worked.queue
        let ends = await queue.events()
        let snapshots = await queue.snapshots()
        let telling = Task { await report.tell(ends) }
        let showing = Task { await report.show(snapshots) }
        let following = Task { await companions.follow(queue) }
        await queue.work()
        let failure = await worked.wait(for: stop) { queue throws(QueueError) in
            if keepRunning { try await queue.lasts() } else { try await queue.idle() }
        }
        await worked.close()
        await telling.value
        await showing.value
        await following.value
        await companions.finish()
        if let failure { throw failure }
        let status = await report.status
        return interrupts.received.map { ExitStatus(signal: $0) } ?? status
    }
}

/// The output of `segget run`: a line for each result, and on a terminal the total progress.
actor RunReport {
    private let isQuiet: Bool
    private let terminal = Terminal.standardError
    private var isLineShown = false
    private var codes: [ExitStatus] = []
    private var states = ReportedStates()

    init(isQuiet: Bool) { self.isQuiet = isQuiet }

    /// The exit code of the worst failure.
    var status: ExitStatus { ExitStatus.worstFirst.first(where: codes.contains) ?? .done }

    /// Prints the events of tasks.
    func tell(_ events: AsyncStream<QueueEvent>) async {
        for await event in events {
            if case .notice(_, let event) = event, event.isNetworkBack { say(.note, event.message) }
            if case .removed(let id) = event { states.forget(id) }
            guard case .changed(let task) = event, states.take(task) != nil,
                let text = TaskNews(task).text
            else { continue }
            switch task.state {
            case .failed:
                codes.append(task.error.flatMap { ExitStatus(rawValue: $0.code) } ?? .unavailable)
                say(.error, text, always: true)
                if let hint = task.error?.queueHint(task.id) { say(.hint, hint, always: true) }
            case .completed: say(.none, text)
            default: say(.note, text)
            }
        }
    }

    /// Shows the total progress in one line that is redrawn in place.
    func show(_ snapshots: AsyncStream<QueueView>) async {
        var pauseReason: String?
        for await snapshot in snapshots {
            if snapshot.pauseReason != pauseReason {
                pauseReason = snapshot.pauseReason
                say(
                    .note, pauseReason.map { "the queue is paused: \($0)" } ?? "the queue continues"
                )
            }
            guard terminal.canRedraw, !isQuiet else { continue }
            guard Terminal.isInForeground(of: STDERR_FILENO) else {
                isLineShown = false
                continue
            }
            let (paused, waiting) = (
                snapshot.counts[.paused] ?? 0, snapshot.counts[.waiting] ?? 0
            )
            var parts = ["\(snapshot.running.count) running", "\(waiting) waiting"]
            if paused > 0 { parts.append("\(paused) paused") }
            if let pauseReason { parts.append("the queue is paused: \(pauseReason)") }
            parts.append(Units.speed(snapshot.bytesPerSecond))
            if let percent = Units.percent(snapshot.bytesDone, of: snapshot.size), snapshot.size > 0
            {
                parts.append("\(percent) % of \(Units.size(snapshot.size))")
            }
            if let left = snapshot.secondsLeft.flatMap({ Units.duration(.seconds($0)) }) {
                parts.append("\(left) left")
            }
            let line = PrintableText.fit(
                parts.joined(separator: ", "), columns: Terminal.width(of: STDERR_FILENO) - 1,
                unicode: terminal.unicode)
            StandardStreams.write("\r\(line)\u{1b}[K", to: STDERR_FILENO)
            isLineShown = true
        }
        clear()
    }

    /// Prints a note.
    func note(_ text: String) { say(.note, text) }

    private func say(_ label: Message.Label, _ text: String, always: Bool = false) {
        guard always || !isQuiet else { return }
        clear()
        let line = Message(label, text).line(colour: terminal.colour)
        StandardStreams.write(line + "\n", to: STDERR_FILENO)
    }

    private func clear() {
        guard isLineShown else { return }
        StandardStreams.write("\r\u{1b}[K", to: STDERR_FILENO)
        isLineShown = false
    }
}
