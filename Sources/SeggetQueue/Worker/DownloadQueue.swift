import Assembler
import Glibc
import SeggetReports
public import Segmenter

/// A queue of downloads with a worker, which downloads a few tasks at a time by the rules of
/// `docs/queue.md`.
///
/// ```swift
/// try await withDownloadQueue(at: "queue.sqlite") { queue in
///     let id = try await queue.add(NewTask("https://example.com/big.iso", to: .init(root: "/data")))
///     print(try await queue.ended(id).state)
/// }
/// ```
///
/// Its records survive a kill at any moment; the next worker that opens the file continues. A queue
/// has one worker at a time. May be used from any thread or task; its work is done on a separate
/// thread.
public actor DownloadQueue: QueueDoor {
    /// The configuration of a worker.
    public struct Configuration: Sendable {
        /// Seconds to wait until another process releases the queue.
        public var patience = 5.0
        /// Is called once with the present worker while this process waits for its end.
        ///
        /// Called on a separate thread, before the queue is open.
        public var waits: (@Sendable (QueueError) -> Void)?
        /// The facts about servers that earlier sessions have stored, and to which this one adds.
        public var memory: ServerMemory?
        /// The disk priority of the threads that read received data back to check it.
        public var checkPriority = DiskPriority.normal
        /// Creates the closure that gets a new link, from the words of a task's refresh command.
        public var refresh: (@Sendable ([String]) -> RefreshURL)?
        /// Is called for each task that is complete or has failed, once that is recorded.
        ///
        /// Called on the queue's thread, in order: it must not block.
        public var ended: (@Sendable (TaskEnd) -> Void)?
        /// Is called when, after the end of a task, every task is paused or finished.
        ///
        /// Called on the queue's thread, after ``ended``: it must not block.
        public var idle: (@Sendable () -> Void)?
        /// Answers the questions of rules to the machine.
        var machine = MachineWatch()
        /// Creates the default configuration.
        public init() {}
    }

    /// A task that is being downloaded.
    struct Run {
        var download: any TaskRun
        /// The place of its file when the download started.
        let place: QueueTask.Place
        /// The path of its file, once it is known.
        var path: String?
        /// The file that the server offers.
        var remote: RemoteFile?
        /// The identity of the version.
        var identity: String?
        /// The events that are not recorded yet.
        var timeline = TaskTimeline()
    }

    private let executor = ThreadExecutor("queue")
    /// The thread that does the queue's work.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    let files: QueueFiles
    let configuration: Configuration
    let runner: any TaskRunner
    let lock: QueueLock
    /// The records and the machine; `nil` once the queue is shut down.
    var open: QueueCoordinator?
    var runs: [QueueTask.ID: Run] = [:]
    /// Bytes that ended downloads have received.
    var bytesReceived: Int64 = 0
    /// The reason why the records can no longer be used; from then on nothing starts or is
    /// reported.
    private(set) var broken: QueueError?
    /// Events that could not be recorded, because the disk was full.
    private var unrecorded: [Occurrence] = []
    var choreProblems: [QueueTask.ID: TaskProblem] = [:]
    /// The remaining parts of tasks that were removed while they were downloaded.
    var leftParts: [QueueTask.ID: CommandResult.LeftPart] = [:]
    /// The tasks whose chores run, and those whose chores wait.
    var choresUnderWay: Set<QueueTask.ID> = []
    var nextChores: [QueueTask.ID] = []
    /// The callers that wait for a change.
    private var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    private var nextWaiter: UInt64 = 0
    /// Whether tasks with a slot are downloaded.
    private(set) var isWorking = false
    /// The task that calls ``tick()``, and its time on the boot clock.
    private var clock: (task: Task<Void, Never>, due: Double)?
    var subscribers = Subscribers()
    var publisher: Task<Void, Never>?
    /// The total speeds, and the task that notes them while a task runs.
    var speeds = SpeedHistory(at: secondsSince1970())
    var speedometer: Task<Void, Never>?
    /// Whether subscribers have the present view, apart from running tasks.
    private var isTold = true
    var current = QueueSettings()
    /// The effect of the settings now.
    var limits = QueueLimits()
    /// The last answers of the machine; `nil` if it has not answered the questions of the rules.
    var facts: MachineFacts?
    /// Whether the machine is being asked, and when that is due, on the boot clock.
    var (isLooking, nextLook) = (false, 0.0)
    /// The results of downloads that were not reported yet; `nil` for those that could not start.
    var ends: [QueueTask.ID: Result<DownloadedFile, DownloadError>?] = [:]
    /// Whether it is being shut down; chores read it on other threads.
    let isLeaving = Monitor(false)
    var isShuttingDown: Bool { isLeaving.withLock { $0 } }

    /// Opens a queue; no task runs before ``work()``.
    ///
    /// - Parameters:
    ///   - path: The queue's file, which is created if it does not exist.
    ///   - configuration: The configuration.
    /// - Returns: The queue, which is locked for other processes until ``shutdown()``.
    /// - Throws: `QueueError`.
    public static func open(
        _ path: String, configuration: Configuration = Configuration()
    ) async throws(QueueError) -> DownloadQueue {
        let files = QueueFiles(path)
        let lock = try await offLoop("queue lock") { () throws(QueueError) in
            try QueueLock.acquire(
                files, waiting: configuration.patience, isWorker: true, waits: configuration.waits)
        }
        let queue = DownloadQueue(files, lock, configuration)
        try await queue.prepare()
        return queue
    }

    private init(_ files: QueueFiles, _ lock: QueueLock, _ configuration: Configuration) {
        self.files = files
        self.lock = lock
        self.configuration = configuration
        runner = LocalRunner(configuration)
    }

    private func prepare() throws(QueueError) {
        let store = try QueueStore(files, mode: .readWrite)
        try store.removeOrphanedSecrets()
        store.plans.removeOthers(than: try store.sets())
        current = try store.settings()
        try Self.restore(store, now)
        open = try QueueCoordinator(store, maxRunning: 0, now)
        applyRules()
        // Chores of the last worker are done immediately.
        carryOut()
    }

    /// Starts to download tasks; does nothing if it has started.
    public func work() {
        guard !isWorking, !isShuttingDown else { return }
        isWorking = true
        let (maxRunning, isPaused) = (current.maxRunning, limits.isPaused)
        occur { machine, now in
            machine.pause(isPaused, now)
            machine.limit(to: maxRunning, now)
        }
        setClock()
    }

    /// The present moment.
    nonisolated var now: QueueMachine.Moment {
        QueueMachine.Moment(wall: secondsSince1970(), boot: bootSeconds())
    }

    /// Returns the records and the machine.
    func coordinator() throws(QueueError) -> QueueCoordinator {
        if let broken { throw broken }
        guard let open else {
            throw QueueError(.shutDown)
        }
        return open
    }

    /// Stops all downloads in an orderly way, records them, and releases the queue.
    ///
    /// Running tasks run again when the queue is opened next.
    public func shutdown() async {
        guard !isShuttingDown else { return }
        isLeaving.withLock { $0 = true }
        clock?.task.cancel()
        publisher?.cancel()
        speedometer?.cancel()
        runner.stopAll()
        // A set may not have started its downloads yet.
        for run in runs.values { run.download.cancel() }
        while !runs.isEmpty || !choresUnderWay.isEmpty { await change() }
        await runner.end()
        subscribers.finish()
        open = nil
        lock.release()
        wake()
    }

    // MARK: Waiting for changes

    /// Waits for a change, even if the calling task is cancelled.
    func change() async {
        let number = nextWaiter
        nextWaiter += 1
        await withCheckedContinuation { waiters[number] = $0 }
    }

    /// Waits for a change, or until the calling task is cancelled.
    func changeOrCancel() async {
        let number = nextWaiter
        nextWaiter += 1
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled {
                    continuation.resume()
                } else {
                    waiters[number] = continuation
                }
            }
        } onCancel: {
            Task { await self.cancelWaiter(number) }
        }
    }

    private func cancelWaiter(_ number: UInt64) { waiters.removeValue(forKey: number)?.resume() }

    func wake() {
        let waiting = waiters.values
        waiters = [:]
        for continuation in waiting { continuation.resume() }
        publishSoon()
    }

    // MARK: Events

    /// An event: its effect on the rules and on the records.
    typealias Occurrence = (inout QueueMachine, QueueMachine.Moment) throws(QueueError) -> Void

    /// Applies an event to the rules and the records, and carries out the actions.
    ///
    /// An event that cannot be recorded because the disk is full is kept, and recorded later. If
    /// the records cannot be used at all, the queue is ``broken``.
    func occur(_ occurrence: @escaping Occurrence) {
        unrecorded.append(occurrence)
        recordAll()
    }

    func recordAll() {
        guard let coordinator = open, broken == nil else { return wake() }
        while let occurrence = unrecorded.first {
            let now = now
            do throws(QueueError) {
                try coordinator.change { machine throws(QueueError) in try occurrence(&machine, now)
                }
            } catch {
                // The clock retries after a full disk, or while a reader has locked the database.
                if error.code != .diskFull, error.code != .busy { broken = error }
                setClock()
                wake()
                return
            }
            unrecorded.removeFirst()
        }
        carryOut()
    }

    /// Carries out the actions of the rules.
    func carryOut() {
        guard let coordinator = open else { return }
        for action in coordinator.takeActions() {
            switch action {
            case .begin(let id): if !isShuttingDown { start(id) }
            case .stop(let id): runs[id]?.download.cancel()
            case .doChore(let id): doChore(id)
            }
        }
        tellChanges(coordinator)
        lookAtMachine()
        setClock()
        wake()
    }

    private var secondsToNextTick: Double {
        guard let coordinator = open else { return 60 }
        if !unrecorded.isEmpty { return 1 }
        // Rules with times need a look in each minute, and the end of a suspension is to be noticed
        // soon. An idle queue wakes nobody.
        let most =
            switch (coordinator.machine.isIdle, current.dependsOnTime) {
            case (false, true): 5.0
            case (false, false), (true, true): 30.0
            case (true, false): 600.0
            }
        return min(most, max(0.01, min(coordinator.machine.nextDue, lookDue) - bootSeconds()))
    }

    /// Sets the clock to the next tick, if it is not early enough.
    func setClock() {
        guard isWorking, !isShuttingDown else { return }
        let seconds = secondsToNextTick
        let due = bootSeconds() + seconds
        if let clock, clock.due <= due + 0.01 { return }
        clock?.task.cancel()
        let task = Task { [weak self] in
            try? await Task.sleep(for: .seconds(seconds))
            guard !Task.isCancelled else { return }
            await self?.tick()
        }
        clock = (task, due)
    }

    private func tick() {
        clock = nil
        applyRules()
        occur { machine, now in machine.tick(now) }
        setClock()
    }

    // MARK: Subscribers

    /// Schedules a view for subscribers, at most ten times a second.
    func publishSoon() {
        isTold = false
        guard publisher == nil, !subscribers.isEmpty else { return }
        publisher = Task { [weak self] in
            while !Task.isCancelled {
                guard await self?.publish() == true else { return }
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    /// Sends subscribers a view, unless they have it, and nothing changes.
    ///
    /// - Returns: Whether to call it again soon.
    private func publish() -> Bool {
        guard !subscribers.isEmpty, !isTold || !runs.isEmpty else {
            publisher = nil
            return false
        }
        isTold = true
        if let snapshot = try? snapshot() { subscribers.tell(snapshot) }
        return true
    }
}

extension DownloadQueue {
    /// Lets commands find this process.
    ///
    /// - Parameter socket: The path of its socket.
    /// - Throws: `QueueError`.
    public func announce(socket: String) throws(QueueError) {
        try lock.announce(socket: socket)
    }

    /// Waits indefinitely, until the queue cannot continue.
    ///
    /// - Throws: `QueueError`, the reason; `worker` if the queue is shut down, or the caller is
    ///   cancelled.
    public func lasts() async throws(QueueError) -> Never {
        while true {
            _ = try coordinator()
            guard !Task.isCancelled else {
                throw QueueError(.waitCancelled(.queue))
            }
            await changeOrCancel()
        }
    }
}
