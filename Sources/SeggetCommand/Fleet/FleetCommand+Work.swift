import Glibc
import SeggetReports
import Segmenter

// `segget fleet work` and `segget fleet finish`: what runs on each machine.
extension FleetCommand {
    /// The seconds that an orderly stop may take: the last records, and two calls to a slow file
    /// server.
    private static let patience = 11

    /// Downloads shards on other threads while the main thread waits for signals.
    func work() throws {
        var options = request.downloadOptions
        options.access = try access.read()
        options.files.attributes = .proof
        let interrupts = Interrupts(patience: Self.patience)
        let fleet = open()
        let hub = try hubAccess(for: fleet)
        let (shards, isIndexed) = working.shards(of: fleet)
        let session = DownloadSession(rateLimit: working.limitRate, memory: ServerMemory.own)
        if let note = hub?.note { GetCommand.say([note]) }
        let report = Monitor(FleetWorkReport(settings, isQuiet: display.detail == .errors))
        let run = FleetRun(
            fleet, shards: shards, isIndexed: isIndexed, session: session, options: options,
            hub: hub, workers: isIndexed ? max(1, fleet.shards / max(1, shards.count)) : 1
        ) { error in
            FleetRun.Failure(
                SetFailure(error), maySucceedLater: FailureRule(error).maySucceedLater)
        } report: { event in
            report.withLock { $0.take(event, signal: interrupts.received) }
        }
        let (path, requeue) = (path, working.requeue)
        Task {
            var status: ExitStatus
            do throws(FleetError) {
                let ending = try await run()
                GetCommand.say(
                    FleetWords.ended(
                        ending, at: path, isStopped: interrupts.received != nil))
                switch ending {
                case .done: status = .done
                case .again: status = .stopped
                case .failed(let code, _): status = ExitStatus(rawValue: code) ?? .unavailable
                }
            } catch {
                GetCommand.say(Diagnostic.messages(error))
                status = Diagnostic.status(error)
            }
            await session.shutdown()
            if status == .stopped, requeue { SlurmElement.requeue() }
            Glibc.exit(status.rawValue)
        }
        interrupts.wait(change: session.changeRate, code: { _ in ExitStatus.stopped.rawValue }) {
            run.interrupt()
            return true
        }
    }

    private var settings: DownloadReport.Settings {
        DownloadReport.Settings(
            style: display.style(terminal: .standardError, json: json != nil),
            terminal: .standardError, detail: display.detail, json: json,
            connections: DownloadOptions().connections.most, typed: [], refreshProblem: { nil })
    }

    /// Joins the files on another thread while the main thread waits for signals.
    func finish() throws {
        let interrupts = Interrupts(patience: Self.patience)
        let fleet = open()
        let hub = try hubAccess(for: fleet)
        let place: FleetFinishing.Place
        if let directory = finishing.directory {
            place = .folder(directory)
        } else {
            guard fleet.plan.source.kind == .hub else {
                Invocation.refuse(
                    "`fleet finish` needs `--directory`",
                    hint: "give the folder for the finished files: `-d DIR`")
            }
            place = .cache(try HubOptions.cache)
        }
        let report = Monitor(FleetWorkReport(settings, isQuiet: display.detail == .errors))
        let run = FleetFinishing(fleet, to: place, hub: hub) { event in
            report.withLock { $0.take(event, signal: interrupts.received) }
        }
        let (typed, json) = (finishing.directory, json)
        Task {
            do throws(FleetError) {
                switch try await run() {
                case .again:
                    if interrupts.received == nil {
                        GetCommand.say(
                            Diagnostic.messages(FleetError.inUse(path: path, host: nil, pid: nil)))
                    }
                    Glibc.exit(ExitStatus.stopped.rawValue)
                case .ended(let result):
                    GetCommand.say(FleetWords.finished(result, fleet, in: typed))
                    if let problem = result.problem {
                        GetCommand.say(Diagnostic.messages(problem))
                    }
                    let status = ExitStatus(result)
                    if let line = json.flatMap({
                        JSONText.line(FleetFinishReport(result, of: fleet, status: status), $0)
                    }) {
                        StandardStreams.write(line + "\n", to: STDOUT_FILENO)
                    }
                    Glibc.exit(status.rawValue)
                }
            } catch {
                GetCommand.say(Diagnostic.messages(error))
                Glibc.exit(Diagnostic.status(error).rawValue)
            }
        }
        interrupts.wait(code: { _ in ExitStatus.stopped.rawValue }) {
            run.interrupt()
            return true
        }
    }
}

extension ExitStatus {
    /// Returns the exit status for a finished fleet.
    fileprivate init(_ result: FleetFinish.Result) {
        if result.isComplete {
            self = .done
        } else if result.rest != nil || result.isCancelled || result.problem != nil {
            self = .stopped
        } else {
            self = .cannotCreate
        }
    }
}

extension FleetWorkOptions {
    private func refuse(_ text: String) -> Never {
        Invocation.refuse(text, hint: "`segget help fleet` describes the options")
    }

    /// Returns the shards that this process may work on; ends the process if there are none.
    ///
    /// - Parameter fleet: The fleet.
    /// - Returns: The shards in order, and whether they were assigned to this process.
    func shards(of fleet: Fleet) -> (shards: [Int], isIndexed: Bool) {
        let all = Array(0..<fleet.shards)
        let scheduler = SchedulerIndex.own
        guard let index = index ?? scheduler?.index else {
            guard of == nil else {
                refuse("`--of` needs `--index`, or the index of a scheduler")
            }
            // Workers that begin at the same time choose different shards first.
            let first = Int.random(in: 0..<fleet.shards)
            return (Array(all[first...] + all[..<first]), false)
        }
        let count = of ?? (self.index == nil ? scheduler?.count : nil) ?? fleet.shards
        guard count <= 1_000 else {
            refuse("the fleet has more than 1000 shards: give `--of`")
        }
        guard index <= count else {
            refuse("the index is \(index), but there are only \(count) workers")
        }
        // Arrays may begin with 1.
        return (all.filter { $0 % count == index % count }, true)
    }
}

/// The index that a scheduler has given to this process.
struct SchedulerIndex: Equatable {
    var index: Int
    /// The number of processes; `nil` if the scheduler does not say.
    var count: Int?

    /// The variables of Slurm's arrays, of Kubernetes' Indexed Jobs, and of MPI's process managers.
    private static let variables = [
        ("SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT"), ("JOB_COMPLETION_INDEX", nil),
        ("PMI_RANK", "PMI_SIZE"),
    ]

    static var own: SchedulerIndex? {
        for (index, count) in variables {
            guard let number = EnvironmentText.value(index).flatMap({ Int($0) }), number >= 0
            else { continue }
            return SchedulerIndex(
                index: number,
                count: count.flatMap { EnvironmentText.value($0) }.flatMap { Int($0) })
        }
        return nil
    }
}

/// The report of a worker: a line for each shard, and its files as those of a set.
struct FleetWorkReport {
    private let settings: DownloadReport.Settings
    private let isQuiet: Bool
    private var report: BatchReport?

    init(_ settings: DownloadReport.Settings, isQuiet: Bool) {
        (self.settings, self.isQuiet) = (settings, isQuiet)
    }

    /// Reports what happens; `signal` is the signal that stops the process.
    mutating func take(_ event: FleetRun.Report, signal: Int32?) {
        switch event {
        case .began(let began):
            if !isQuiet { say(Message(.none, FleetWords.began(began))) }
            guard let set = began.set else { return }
            let figures = set.figures
            var settings = settings
            settings.ranges = began.ranges
            var report = BatchReport(settings, count: figures.files, set: figures)
            report.begin(set: set.plan.set, in: set.path, figures, began.work)
            self.report = report
        case .event(let event): report?.handle(event, signal: signal)
        case .ended(let shard, let end):
            if end == .stopped(isReplaced: true) {
                report?.clear()
            } else {
                _ = report?.finish(signal: signal)
            }
            report = nil
            if !isQuiet { say(Message(.none, FleetWords.ended(shard, end))) }
        case .waits(let shard, let process):
            if !isQuiet { say(Message(.note, FleetWords.waits(shard, process))) }
        case .disturbed(let error):
            for message in Diagnostic.messages(error) where message.label == .error {
                say(Message(.note, "\(message.text); trying again"))
            }
        }
    }

    private func say(_ message: Message) {
        guard let report else { return GetCommand.say([message]) }
        report.print(message)
    }
}
