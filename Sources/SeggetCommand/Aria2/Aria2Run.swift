import Assembler
import Glibc
import SeggetFormats
import SeggetReports
import Segmenter
import Synchronization
import SeggetAria2

/// One run of the replacement for aria2c, from its tasks to its exit code.
final class Aria2Run: Sendable {
    /// The state of the run, which one thread at a time accesses.
    private struct State {
        var report: Aria2Report
        var hooks: Aria2Hooks
        /// The codes of the ended tasks, by index.
        var ended: [Int: Aria2ErrorCode] = [:]
        /// The file for unfinished tasks (`--save-session`), if it is requested.
        var session: Aria2SessionFile?

        /// Handles an event of a task.
        mutating func take(_ event: BatchEvent, _ gid: Download.ID) {
            let code = report.handle(event, now: secondsSince1970())
            switch event.kind {
            case .begun: report(hooks.started(gid, path: report.wanted(event.index)))
            case .event: break
            case .ended(.success(let file)): end(event.index, gid, code ?? .finished, file.path)
            case .ended(.failure(let error)):
                end(event.index, gid, code ?? .unknown, error.path ?? "")
            }
        }

        /// Handles the result of a task that was not downloaded.
        mutating func conclude(
            _ index: Int, _ gid: Download.ID, _ code: Aria2ErrorCode, place: String,
            why: String = ""
        ) {
            report.conclude(index, code, place, why: why, now: secondsSince1970())
            end(index, gid, code, code == .finished ? place : "")
        }

        private mutating func end(
            _ index: Int, _ gid: Download.ID, _ code: Aria2ErrorCode, _ path: String
        ) {
            ended[index] = code
            report(hooks.ended(gid, code, path: path.isEmpty ? "" : report.shown(path, index)))
        }

        private mutating func report(_ problem: String?) {
            if let problem { report.log(.error, problem, secondsSince1970()) }
        }
    }

    /// The active downloads, and a function that stops them.
    private struct Downloads: Sendable {
        var events: AsyncStream<BatchEvent>
        var cancel: @Sendable () -> Void
    }

    /// The maximum number of connections of all files together.
    private static let mostConnections = 64
    /// The number of large files at a time if none is given, as in `DownloadSession.start`.
    private static let usualJobs = 4

    private let settings: Aria2Settings
    private let tasks: [Aria2Task]
    private let warnings: [String]
    private let state: Mutex<State>
    /// Stops the active downloads; does nothing before they start.
    private let cancel = Mutex<@Sendable () -> Void>({})
    private let isStopped = Mutex(false)
    /// A signal that stops the run and has not been reported yet.
    private let signal = Mutex<Int32?>(nil)

    /// Prepares a run.
    ///
    /// - Parameters:
    ///   - settings: The settings of the whole run.
    ///   - tasks: The files.
    ///   - warnings: The warnings to print first.
    /// - Throws: `Aria2Refusal`, if the log cannot be written.
    init(
        _ settings: Aria2Settings, _ tasks: [Aria2Task], warnings: [String]
    ) throws(Aria2Refusal) {
        let console = settings.console
        let screen: Aria2Screen
        do throws(Aria2LogError) {
            screen = try Aria2Screen(console)
        } catch {
            throw Aria2Refusal(error.lines)
        }
        self.settings = settings
        self.tasks = tasks
        self.warnings = warnings
        let report = Aria2Report(
            console, tasks: tasks, common: settings.options, folder: Self.currentFolder,
            screen: screen)
        let (hooks, path) = (settings.hooks, settings.saveSession)
        state = Mutex(
            State(
                report: report, hooks: Aria2Hooks(hooks),
                session: path.map { Aria2SessionFile(path: $0) }))
    }

    /// Runs the tasks on other threads while the main thread waits for signals; ends the process.
    func run() -> Never {
        let interrupts = Interrupts()
        let session = DownloadSession(
            rateLimit: settings.overallLimit > 0 ? Double(settings.overallLimit) : nil,
            memory: ServerMemory.own)
        Task {
            state.withLock { state in
                for warning in warnings {
                    state.report.log(.warn, PrintableText.escape(warning), secondsSince1970())
                }
                state.report.start(now: secondsSince1970())
            }
            let clock = Task { await tick() }
            refuse()
            await preview(session)
            await fetch(session)
            clock.cancel()
            let code = finish()
            await session.shutdown()
            Glibc.exit(code)
        }
        interrupts.wait(
            change: session.changeRate, code: { _ in Aria2ErrorCode.inProgress.rawValue }
        ) {
            // The signal is reported by another thread, because printing may wait for a reader.
            signal.withLock { [received = interrupts.received] in $0 = received }
            stop()
            return true
        }
    }

    /// Reports the signal that stops the run, if there is one.
    private func tellOfSignal(_ state: inout State) {
        guard let signal = signal.withLock({ $0.take() }) else { return }
        state.report.stopping(signal: signal, now: secondsSince1970())
    }

    // MARK: Steps

    /// Reports the tasks that cannot start.
    private func refuse() {
        for (index, task) in tasks.enumerated() {
            guard let problem = task.problem else { continue }
            let code = Aria2ErrorCode(rawValue: problem.code) ?? .unknown
            let place = DownloadSession.redacted(task.urls.first ?? "")
            state.withLock { state in
                state.conclude(
                    index, tasks[index].gid, code, place: place,
                    why: PrintableText.escape(problem.text))
            }
        }
    }

    /// Runs the tasks that only probe the server, or only check the existing file.
    private func preview(_ session: DownloadSession) async {
        let asked = tasks.indices.filter { tasks[$0].problem == nil && isOnlyAsked($0) }
        guard !asked.isEmpty, !isStopped.withLock({ $0 }) else { return }
        let work = Task {
            let results = session.preview(count: asked.count) { [self] in item(asked[$0]) }
            for await (place, result) in results { take(asked[place], result) }
        }
        stopping(by: { work.cancel() })
        await work.value
    }

    private func isOnlyAsked(_ index: Int) -> Bool {
        tasks[index].options.isDryRun || tasks[index].options.onlyChecks
    }

    private func take(_ index: Int, _ result: Result<DownloadPreview, DownloadError>) {
        state.withLock { state in
            let gid = tasks[index].gid
            switch result {
            case .failure(let error):
                state.take(BatchEvent(index: index, kind: .ended(.failure(error))), gid)
            case .success(let preview):
                var code = Aria2ErrorCode.finished
                if tasks[index].options.onlyChecks, preview.action != .leave(.alreadyComplete) {
                    code = Aria2Command.isReadable(preview.path) ? .checksum : .unknown
                }
                state.conclude(index, gid, code, place: state.report.shown(preview.path, index))
            }
        }
    }

    /// Downloads the other tasks.
    private func fetch(_ session: DownloadSession) async {
        let fetched = tasks.indices.filter { tasks[$0].problem == nil && !isOnlyAsked($0) }
        guard !fetched.isEmpty, !isStopped.withLock({ $0 }) else { return }
        let downloads = start(fetched, session)
        stopping(by: downloads.cancel)
        for await var event in downloads.events {
            event.index = fetched[event.index]
            state.withLock { state in
                tellOfSignal(&state)
                state.take(event, tasks[event.index].gid)
            }
        }
    }

    private func start(_ fetched: [Int], _ session: DownloadSession) -> Downloads {
        guard let only = fetched.first, fetched.count == 1 else {
            let jobs = settings.jobs.map { min(max(1, $0), Self.mostConnections) }
            let atATime = min(jobs ?? Self.usualJobs, fetched.count)
            let batch = session.startSeparately(count: fetched.count, jobs: jobs) { [self] in
                var item = item(fetched[$0])
                let share = min(item.options.connections.most, Self.mostConnections / atATime)
                item.options.connections = .upTo(share)
                return item
            }
            return Downloads(events: batch.events) { batch.cancel() }
        }
        // A single download starts with all of its connections.
        let one = item(only)
        let download = session.start(one.url, to: one.destination, options: one.options)
        let (events, continuation) = AsyncStream.makeStream(of: BatchEvent.self)
        Task {
            let url = DownloadSession.redacted(one.url)
            continuation.yield(BatchEvent(index: 0, kind: .begun(url: url)))
            for await event in download.events {
                continuation.yield(BatchEvent(index: 0, kind: .event(event)))
            }
            continuation.yield(BatchEvent(index: 0, kind: .ended(await download.result)))
            continuation.finish()
        }
        return Downloads(events: events) { download.cancel() }
    }

    private func item(_ index: Int) -> BatchItem {
        tasks[index].batchItem(home: Self.home, exists: Aria2Command.isReadable)
    }

    // MARK: Regular work and the end

    /// Once a second, draws, saves the session when due, and checks whether to stop.
    private func tick() async {
        var seconds = 0
        while true {
            guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
            seconds += 1
            state.withLock { state in
                tellOfSignal(&state)
                state.report.tick(now: secondsSince1970())
                if let interval = settings.saveSessionInterval, seconds % interval == 0 {
                    save(&state)
                }
            }
            let isGone = settings.stopWithProcess.map { kill($0, 0) != 0 && errno == ESRCH }
            if isGone == true || settings.stopAfter.map({ seconds >= $0 }) == true { stop() }
        }
    }

    /// Stores how to stop the active downloads; stops them now if a signal has arrived before.
    private func stopping(by stop: @escaping @Sendable () -> Void) {
        cancel.withLock { $0 = stop }
        if isStopped.withLock({ $0 }) { stop() }
    }

    private func stop() {
        isStopped.withLock { $0 = true }
        cancel.withLock { $0 }()
    }

    private func finish() -> Int32 {
        state.withLock { state in
            tellOfSignal(&state)
            let code = state.report.finish()
            if let path = save(&state) {
                state.report.log(
                    .notice, "Serialized session to '\(path)' successfully.", secondsSince1970())
            }
            return code
        }
    }

    /// Saves the unfinished tasks for a later run.
    ///
    /// - Returns: The path of the file, if it was written.
    @discardableResult
    private func save(_ state: inout State) -> String? {
        guard let file = state.session else { return nil }
        let unfinished = tasks.indices.filter { index in
            switch state.ended[index] {
            case .finished: tasks[index].options.forceSave
            case .resourceNotFound, .maxFileNotFound: tasks[index].options.saveNotFound
            default: true
            }
        }
        if let problem = file.write(Aria2Session.text(of: unfinished.map { tasks[$0] })) {
            state.report.log(
                .error,
                "Failed to serialize session to '\(file.path)': "
                    + Diagnostic.describe(errno: problem), secondsSince1970())
            return nil
        }
        return file.path
    }

    private static var home: String { getenv("HOME").map { String(cString: $0) } ?? "" }

    private static var currentFolder: String {
        guard let path = getcwd(nil, 0) else { return "." }
        defer { free(path) }
        return String(cString: path)
    }
}
