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

    private struct State {
        var isCancelled = false
        var isEnded = false
        /// Whether the downloads wait for the network; `nil` before the first answer of a server.
        var isAway: Bool?
        var batch: DownloadBatch?
        var folder: SetFolder?
        var set: FileSet
        /// The states of the files; empty until they were examined.
        var files: [TaskFile.State] = []
        /// The progress of the active files, by their index in the plan.
        var active: [Int: DownloadProgress] = [:]
        /// The reasons of failed files, by their index in the plan; at most ``SetRun/mostProblems``.
        var problems: [Int: TaskProblem] = [:]
        var failures = SetFailures()
        /// The problem that kept records from being written.
        var unrecorded: TaskProblem?
        /// The bytes that ended files have received.
        var received: Int64 = 0
        /// The bytes that files keep that failed or were stopped.
        var kept: Int64 = 0
        var meter = RateMeter()
        var rate = 0.0
    }

    /// Of more failed files, only the number is known.
    private static let mostProblems = 10_000
    /// The least time between two reports of received bytes, in seconds.
    private static let interval = 0.25

    let id: QueueTask.ID
    let events: AsyncStream<Event>
    private let report: AsyncStream<Event>.Continuation
    private let task: QueueTask
    private let planPath: String
    private let options: DownloadOptions
    private let refreshURL: RefreshURL?
    private let session: DownloadSession
    private let state: Monitor<State>
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
        let batch = state.withLock { state in
            state.isCancelled = true
            return state.batch
        }
        batch?.cancel()
    }

    func traffic() async -> DownloadTraffic { DownloadTraffic() }

    // MARK: Figures

    var fileSet: FileSet? { state.withLock { Self.set($0) } }

    private static func set(_ state: State) -> FileSet {
        guard let folder = state.folder else { return state.set }
        var set = state.set
        let figures = folder.figures
        (set.files, set.filesDone, set.filesFailed) = (
            figures.files, figures.complete, figures.failed
        )
        return set
    }

    var progress: DownloadProgress {
        state.withLock { state in
            let figures = state.folder?.figures
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
            guard let folder = state.folder, !state.files.isEmpty else { return nil }
            return TaskFiles.Known(
                plan: folder.plan, states: state.files, active: state.active,
                problems: state.problems)
        }
    }

    // MARK: The run

    private func download() async -> Ending {
        let ending = await attempt()
        let folder = state.withLock { $0.folder }
        var problem: AssemblyError?
        if let folder { problem = await offLoop("set") { () throws(Never) in folder.close() } }
        let unrecorded = problem.map(TaskProblem.init(unrecorded:))
        state.withLock { ($0.isEnded, $0.unrecorded) = (true, unrecorded) }
        report.finish()
        // A complete set fails, and its next run reads the files. Another end has its own cause.
        guard let problem, let unrecorded, case .completed = ending else { return ending }
        return .failed(FailureRule(problem), unrecorded, isNetworkLoss: false)
    }

    /// The problem that kept records from being written, once the run has ended.
    var unrecorded: TaskProblem? { state.withLock { $0.unrecorded } }

    private func attempt() async -> Ending {
        let (path, place, grant) = (planPath, task.place.folderPath, options.hub)
        let state = state
        let opened = await offLoop("set") { () throws(Never) in
            Self.open(path, in: place, grant, state)
        }
        let (folder, work): (SetFolder, SetWork)
        switch opened {
        case .success(let pair): (folder, work) = pair
        case .failure(let obstacle):
            return .failed(obstacle.rule, obstacle.problem, isNetworkLoss: false)
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
        var lastReport = -Double.infinity
        for await event in batch.events {
            if take(event, Int(work.files[event.index])),
                monotonicSeconds() - lastReport > Self.interval
            {
                lastReport = monotonicSeconds()
                report.yield(.received)
            }
        }
        return end(folder, work)
    }

    /// Takes an event of a file; returns whether it has received bytes.
    private func take(_ event: BatchEvent, _ index: Int) -> Bool {
        switch event.kind {
        case .begun:
            state.withLock { $0.files[index] = .active }
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
                state.files[index] = .complete
                state.received += file.bytesReceived
                return (nil, file.bytesReceived > last?.bytesReceived ?? 0)
            case .failure(let error):
                state.received += last?.bytesReceived ?? 0
                state.kept += error.bytesKept
                guard error.reason != .cancelled else {
                    state.files[index] = .missing
                    return (nil, false)
                }
                state.files[index] = .failed
                state.failures.add(error)
                if state.problems.count < Self.mostProblems {
                    state.problems[index] = TaskProblem(error)
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
            return .completed(
                DownloadedFile(
                    path: folder.path, size: figures.bytesComplete, verified: [],
                    bytesReceived: received, bytesResumed: 0,
                    duration: .seconds(monotonicSeconds() - start)))
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
        var problem = TaskProblem(error)
        problem.message =
            SetEnding.failed(failures.count, of: figures.files, cause: problem.message).text
        return .failed(rule, problem, isNetworkLoss: failures.areNetworkLosses)
    }

    /// Why a set cannot be downloaded.
    fileprivate struct Obstacle: Error {
        var rule: FailureRule
        var problem: TaskProblem
    }

    /// Opens the plan and the folder, and finds out which files are complete; blocks.
    private static func open(
        _ path: String, in place: String, _ grant: HubGrant?, _ state: Monitor<State>
    ) -> Result<(SetFolder, SetWork), Obstacle> {
        let plan: PlanFile
        do throws(PlanError) {
            plan = try PlanFile(path, foldsCase: SetFolder.foldsCase(place))
        } catch {
            return .failure(Obstacle(.plan(error, path: path)))
        }
        do throws(SetError) {
            // A token that cannot be used is none; the Hub then says what it refuses.
            let hub = grant.flatMap { try? HubAccess($0) }
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
    fileprivate init(_ error: SetError) {
        problem = TaskProblem(error)
        switch error {
        case .assembly(let error): rule = FailureRule(error)
        case .inUse: rule = .passes()
        case .foreignLedger, .laterVersion, .noSet, .plan, .tooManyExtras: rule = .final
        }
    }
}
