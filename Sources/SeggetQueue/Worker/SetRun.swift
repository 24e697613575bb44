import Assembler
import SeggetReports
import Segmenter
import SegmenterRules

/// The download of a data set, as the run of one task.
///
/// It ends when no file of the set can be downloaded any more. Any thread may use it.
final class SetRun: TaskRun {
    /// Something that the queue does when it happens.
    enum Event: Sendable {
        /// The complete files are known, and the rest is downloaded.
        case began
        /// Bytes have arrived; at most four of these a second.
        case received
        /// A download waits for the network.
        case lostNetwork(DownloadNotice)
        /// A server has answered after that, with a notice if there is one.
        case hasNetwork(DownloadNotice?)
        /// The run waits for another process, which is downloading the files.
        case waits(Message)
    }

    /// How the run has ended.
    enum Ending: Sendable {
        case completed(DownloadedFile)
        case stopped
        case failed(FailureRule, TaskProblem, isNetworkLoss: Bool)

        /// Returns whether the run failed with a problem.
        func `is`(_ problem: TaskProblem) -> Bool {
            if case .failed(_, problem, _) = self { true } else { false }
        }
    }

    struct State {
        var isCancelled = false
        var isEnded = false
        /// Whether the downloads wait for the network; `nil` before the first answer of a server.
        var isAway: Bool?
        var batch: DownloadBatch?
        var folder: SetFolder?
        /// The files in the Hub's cache; `nil` for a set in a folder.
        var cached: HubCachedSet?
        /// Ends after a pause, or when the run is cancelled.
        var pause: Task<Void, Never>?
        var set: FileSet
        /// The states of the files; empty until they were examined.
        var files: [TaskFile.State] = []
        /// The progress of the active files, by their index in the plan.
        var active: [Int: DownloadProgress] = [:]
        /// The reasons of failed files, by their index in the plan; at most ``SetRun/mostProblems``.
        var problems: [Int: TaskProblem] = [:]
        var failures = SetFailures()
        /// The problem that kept records from being written.
        var unrecorded: Obstacle?
        /// The bytes that ended files have received.
        var received: Int64 = 0
        /// The bytes that files keep that failed or were stopped.
        var kept: Int64 = 0
        var meter = RateMeter()
        var rate = 0.0

        var plan: PlanFile? { folder?.plan ?? cached?.plan }
        /// How far the set is; `nil` until that is known.
        var figures: SetFigures? { folder?.figures ?? cached?.figures }

        /// Changes the state of a file, and of those that are the same file in the Hub's cache.
        mutating func mark(_ index: Int, _ new: TaskFile.State) {
            guard let same = cached?.same(as: index) else { return files[index] = new }
            for index in same {
                cached?.count(index, files[index], new)
                files[index] = new
            }
        }
    }

    /// Of more failed files, only the number is known.
    private static let mostProblems = 10_000
    /// The least time between two reports of received bytes, in seconds.
    private static let interval = 0.25

    let id: QueueTask.ID
    let events: AsyncStream<Event>
    let report: AsyncStream<Event>.Continuation
    private let task: QueueTask
    let planPath: String
    let options: DownloadOptions
    let refreshURL: RefreshURL?
    let session: DownloadSession
    let state: Monitor<State>
    private let start = monotonicSeconds()
    private let run: Answers

    /// The task that downloads the set, once it was started.
    private final class Answers: Sendable {
        let task = Monitor<Task<Ending, Never>?>(nil)
    }

    /// Starts a run, and returns immediately.
    ///
    /// - Parameters:
    ///   - task: The task, with its secrets.
    ///   - set: The set of the task.
    ///   - planPath: The path of its plan.
    ///   - options: The options of all files.
    ///   - refreshURL: Returns a new link when the server refuses the URL of a file.
    ///   - session: Downloads the files.
    init(
        _ task: QueueTask, _ set: FileSet, plan planPath: String, options: DownloadOptions,
        refreshURL: RefreshURL?, _ session: DownloadSession
    ) {
        (id, self.task, self.planPath, self.options) = (task.id, task, planPath, options)
        (self.refreshURL, self.session) = (refreshURL, session)
        (events, report) = AsyncStream.makeStream(of: Event.self)
        state = Monitor(State(set: set))
        run = Answers()
        run.task.withLock { $0 = Task { await self.download() } }
    }

    /// How it ended; waits for the end.
    var ending: Ending {
        get async { await run.task.withLock { $0 }?.value ?? .stopped }
    }

    /// Stops it in an orderly way and returns immediately.
    func cancel() {
        let (batch, pause) = state.withLock { state in
            state.isCancelled = true
            return (state.batch, state.pause)
        }
        batch?.cancel()
        pause?.cancel()
    }

    func traffic() async -> DownloadTraffic { DownloadTraffic() }

    // MARK: Figures

    var fileSet: FileSet? { state.withLock { Self.set($0) } }

    private static func set(_ state: State) -> FileSet {
        guard let figures = state.figures else { return state.set }
        var set = state.set
        (set.files, set.filesDone, set.filesFailed) = (
            figures.files, figures.complete, figures.failed
        )
        return set
    }

    var progress: DownloadProgress {
        state.withLock { state in
            let figures = state.figures
            let active = state.active.values
            let received = state.received + active.reduce(0) { $0 + $1.bytesReceived }
            state.rate = state.meter.rate(bytes: received, now: monotonicSeconds())
            let done =
                (figures?.bytesComplete ?? task.bytesDone) + state.kept
                + active.reduce(0) { $0 + $1.bytesDone + $1.bytesVerifying }
            let size = figures?.bytes ?? task.size
            return DownloadProgress(
                phase: state.isEnded ? .ended : state.files.isEmpty ? .starting : .downloading,
                bytesDone: min(done, size ?? .max), size: size, bytesReceived: received,
                bytesPerSecond: state.rate, connections: active.reduce(0) { $0 + $1.connections },
                map: [], elapsed: .seconds(monotonicSeconds() - start))
        }
    }

    /// The files; `nil` until they were examined.
    var files: TaskFiles.Known? {
        state.withLock { state in
            guard let plan = state.plan, !state.files.isEmpty else { return nil }
            return TaskFiles.Known(
                plan: plan, states: state.files, folder: state.cached?.snapshot.folder,
                active: state.active,
                problems: state.problems)
        }
    }

    // MARK: The run

    private func download() async -> Ending {
        let ending = await attempt()
        let folder = state.withLock { $0.folder }
        if let folder {
            let problem = await offLoop("set") { () throws(Never) in folder.close() }
            if let problem { note(unrecorded: problem) }
        }
        let unrecorded = state.withLock { state in
            state.isEnded = true
            return state.unrecorded
        }
        report.finish()
        // A complete set fails, and its next run reads the files. Another end has its own cause.
        guard let unrecorded, case .completed = ending else { return ending }
        return .failed(unrecorded.rule, unrecorded.problem, isNetworkLoss: false)
    }

    /// Notes the error that kept records from being written.
    func note(unrecorded error: AssemblyError) {
        let obstacle = Obstacle(
            rule: FailureRule(error), problem: TaskProblem(unrecorded: error))
        state.withLock { $0.unrecorded = $0.unrecorded ?? obstacle }
    }

    /// The problem that kept records from being written, once the run has ended.
    var unrecorded: TaskProblem? { state.withLock { $0.unrecorded?.problem } }

    private func attempt() async -> Ending {
        let hub: HubAccess?
        do throws(DownloadError.Reason) {
            hub = try options.hub.map { (grant) throws(DownloadError.Reason) in
                try HubAccess(grant)
            }
        } catch {
            let problem = TaskProblem(error, of: options.hub ?? HubGrant())
            return .failed(.final, problem, isNetworkLoss: false)
        }
        if let hub, let cache = options.hub?.cache { return await attempt(in: cache, hub) }
        return await attemptInFolder(hub)
    }

    private func attemptInFolder(_ hub: HubAccess?) async -> Ending {
        let (path, place) = (planPath, task.place.folderPath)
        let state = state
        let opened = await offLoop("set") { () throws(Never) in
            Self.open(path, in: place, hub, state)
        }
        let (folder, work): (SetFolder, SetWork)
        switch opened {
        case .success(let pair): (folder, work) = pair
        case .failure(let obstacle):
            return obstacle.ending
        }
        let batch = state.withLock { state -> DownloadBatch? in
            state.files = Array(repeating: .complete, count: folder.plan.count)
            for index in work.files { state.files[Int(index)] = .missing }
            guard !state.isCancelled, !work.isCancelled else { return nil }
            state.batch = session.start(folder, work, options: options, refreshURL: refreshURL)
            return state.batch
        }
        guard let batch else { return .stopped }
        report.yield(.began)
        await follow(batch) { [self] in take($0, Int(work.files[$0.index])) }
        return end(folder, work)
    }

    /// Follows a batch to its end.
    ///
    /// - Parameters:
    ///   - batch: The batch.
    ///   - take: Takes an event; returns whether bytes were received.
    func follow(_ batch: DownloadBatch, take: (BatchEvent) -> Bool) async {
        var lastReport = -Double.infinity
        for await event in batch.events {
            if take(event), monotonicSeconds() - lastReport > Self.interval {
                lastReport = monotonicSeconds()
                report.yield(.received)
            }
        }
    }

    /// Takes an event of a file; returns whether it has received bytes.
    func take(_ event: BatchEvent, _ index: Int) -> Bool {
        switch event.kind {
        case .begun:
            state.withLock { $0.mark(index, .active) }
        case .event(.progress(let progress)):
            return state.withLock { state in
                let earlier = state.active.updateValue(progress, forKey: index)
                return progress.bytesReceived > earlier?.bytesReceived ?? 0
            }
        case .event(.notice(let notice)):
            switch notice {
            case .waitingForNetwork: if isNews(isAway: true) { report.yield(.lostNetwork(notice)) }
            case .networkIsBack: if isNews(isAway: false) { report.yield(.hasNetwork(notice)) }
            default: break
            }
        case .event(.probed): if isNews(isAway: false) { report.yield(.hasNetwork(nil)) }
        case .ended(let result): return ended(result, index)
        default: break
        }
        return false
    }

    /// Notes whether the network is lost; returns whether that was not known yet.
    private func isNews(isAway: Bool) -> Bool {
        state.withLock { state in
            defer { state.isAway = isAway }
            return state.isAway != isAway
        }
    }

    private func ended(_ result: Result<DownloadedFile, DownloadError>, _ index: Int) -> Bool {
        let (batch, hasReceived) = state.withLock { state -> (DownloadBatch?, Bool) in
            let last = state.active.removeValue(forKey: index)
            switch result {
            case .success(let file):
                state.mark(index, .complete)
                state.received += file.bytesReceived
                return (nil, file.bytesReceived > last?.bytesReceived ?? 0)
            case .failure(let error):
                state.received += last?.bytesReceived ?? 0
                state.kept += error.bytesKept
                guard error.reason != .cancelled else {
                    state.mark(index, .missing)
                    return (nil, false)
                }
                state.mark(index, .failed)
                state.failures.add(error)
                if state.problems.count < Self.mostProblems {
                    let problem = TaskProblem(error)
                    for index in state.cached?.same(as: index) ?? [index] {
                        state.problems[index] = problem
                    }
                }
                return (state.failures.endsRun ? state.batch : nil, false)
            }
        }
        batch?.cancel()
        return hasReceived
    }

    private func end(_ folder: SetFolder, _ work: SetWork) -> Ending {
        let (failures, received, isCancelled) = state.withLock {
            ($0.failures, $0.received, $0.isCancelled)
        }
        let figures = folder.figures
        if figures.complete == figures.files {
            return completed(folder.path, size: figures.bytesComplete, received: received)
        }
        guard !isCancelled else { return .stopped }
        guard let (error, rule) = failures.ending, rule != .final || work.foreign.isEmpty else {
            guard !work.foreign.isEmpty else { return .stopped }
            let problem = TaskProblem(
                kind: "destination_exists",
                message: SetEnding.foreign(work.foreign, of: figures.files).text,
                hint: "move these files away, then retry",
                code: ExitStatus.cannotCreate.rawValue)
            return .failed(.final, problem, isNetworkLoss: false)
        }
        return Self.failed(error, rule, failures, of: figures.files)
    }

    /// Returns the end of a complete set.
    func completed(_ path: String, size: Int64, received: Int64) -> Ending {
        .completed(
            DownloadedFile(
                path: path, size: size, verified: [], bytesReceived: received, bytesResumed: 0,
                duration: .seconds(monotonicSeconds() - start)))
    }

    /// Returns the end of a set of which files have failed.
    static func failed(
        _ error: DownloadError, _ rule: FailureRule, _ failures: SetFailures, of count: Int
    ) -> Ending {
        var problem = TaskProblem(error)
        problem.message =
            SetEnding.failed(failures.count, of: count, cause: problem.message).text
        return .failed(rule, problem, isNetworkLoss: failures.areNetworkLosses)
    }

    /// Why a set cannot be downloaded.
    struct Obstacle: Error {
        var rule: FailureRule
        var problem: TaskProblem

        /// The end of the run.
        var ending: Ending { .failed(rule, problem, isNetworkLoss: false) }
    }

    /// Opens the plan and the folder, and finds out which files are complete; blocks.
    private static func open(
        _ path: String, in place: String, _ hub: HubAccess?, _ state: Monitor<State>
    ) -> Result<(SetFolder, SetWork), Obstacle> {
        let plan: PlanFile
        do throws(PlanError) {
            plan = try PlanFile(path, foldsCase: SetFolder.foldsCase(place))
        } catch {
            return .failure(Obstacle(.plan(error, path: path)))
        }
        do throws(SetError) {
            let folder = try SetFolder(plan, in: place, hub: hub, describe: SetFailure.init)
            state.withLock { $0.folder = folder }
            let work = try folder.examine { state.withLock { $0.isCancelled } }
            return .success((folder, work))
        } catch {
            return .failure(Obstacle(error))
        }
    }
}

extension SetRun.Obstacle {
    init(_ error: SetError) {
        problem = TaskProblem(error)
        switch error {
        case .assembly(let error): rule = FailureRule(error)
        case .inUse: rule = .passes()
        case .foreignLedger, .laterVersion, .noSet, .plan, .tooManyExtras: rule = .final
        }
    }
}
