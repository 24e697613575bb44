import Assembler
import Glibc
import SeggetReports
public import Segmenter

/// A queue of downloads that is being worked: its tasks are fetched, a few at a time, by the rules of
/// `docs/queue.md`.
///
/// ```swift
/// try await withDownloadQueue(at: "queue.sqlite") { queue in
///     let id = try await queue.add(NewTask("https://example.com/big.iso", to: .init(root: "/data")))
///     print(try await queue.ended(id).state)
/// }
/// ```
///
/// What it records survives a kill at any moment; the next one that opens the file goes on. One process works a
/// queue at a time. May be used from any thread or task; its own work is done on a thread of its own.
public actor DownloadQueue: QueueDoor {
    /// How a queue is worked.
    public struct Configuration: Sendable {
        /// Seconds that another process is waited for to let go of the queue.
        public var patience = 5.0
        /// Is told which process works the queue, once, while this one waits for its end.
        ///
        /// Called on a thread of its own, before the queue is open.
        public var waits: (@Sendable (QueueError) -> Void)?
        /// What earlier sessions learned of servers, and where this one adds to it.
        public var memory: ServerMemory?
        /// How the disk serves the threads that read what has arrived back, to check it.
        public var checkPriority = DiskPriority.normal
        /// Makes, of the words of a task's refresh command, what gives a new link.
        public var refresh: (@Sendable ([String]) -> RefreshURL)?
        /// Is told of each task that is complete or has failed for good, once that is recorded.
        ///
        /// Called on the queue's thread, in order: it must not block.
        public var ended: (@Sendable (TaskEnd) -> Void)?
        /// Is told when the end of a task has left nothing to do but for the user.
        ///
        /// Called on the queue's thread, behind ``ended``: it must not block.
        public var idle: (@Sendable () -> Void)?
        /// Answers what rules ask of the machine.
        var machine = MachineWatch()
        /// Makes the default configuration.
        public init() {}
    }

    /// One task that is being fetched.
    struct Run {
        var download: any TaskRun
        /// Where its file goes, as it was told.
        let place: QueueTask.Place
        /// Where its file goes, once that is known.
        var path: String?
        /// What the server offers.
        var remote: RemoteFile?
        /// What identifies the version.
        var identity: String?
        /// What happened and is not recorded yet.
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
    /// `nil` once the queue is shut down.
    var open: QueueCoordinator?
    var runs: [QueueTask.ID: Run] = [:]
    /// Bytes that downloads have brought that are over.
    var bytesReceived: Int64 = 0
    /// Why the records cannot be used any more: nothing is begun or told from then on.
    private(set) var broken: QueueError?
    /// What has happened and could not be recorded, as the disk was full.
    private var unrecorded: [Occurrence] = []
    var choreProblems: [QueueTask.ID: TaskProblem] = [:]
    /// The parts that tasks leave which were removed while they were fetched.
    var leftParts: [QueueTask.ID: CommandResult.LeftPart] = [:]
    /// The tasks about which something is done on the disk, and those whose turn comes next.
    var choresUnderWay: Set<QueueTask.ID> = []
    var nextChores: [QueueTask.ID] = []
    /// Whoever waits for something to change.
    private var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    private var nextWaiter: UInt64 = 0
    /// Whether it fetches what has a slot.
    private(set) var isWorking = false
    /// What calls ``tick()``, and when, on the boot clock.
    private var clock: (task: Task<Void, Never>, due: Double)?
    var subscribers = Subscribers()
    var publisher: Task<Void, Never>?
    /// How fast all tasks were, and what notes that while something runs.
    var speeds = SpeedHistory(at: secondsSince1970())
    var speedometer: Task<Void, Never>?
    /// Whether subscribers were told what is so now, but for what is being fetched.
    private var isTold = true
    var current = QueueSettings()
    /// What these come to now.
    var limits = QueueLimits()
    /// What the machine said last; `nil` where it was not asked what the rules want to know.
    var facts: MachineFacts?
    /// Whether it is being asked, and when that is due, on the boot clock.
    var (isLooking, nextLook) = (false, 0.0)
    /// How downloads of tasks have ended that have not been told yet; `nil` of those that could not begin.
    var ends: [QueueTask.ID: Result<DownloadedFile, DownloadError>?] = [:]
    /// Whether it is being shut down; whoever copies bytes asks for it on another thread.
    let isLeaving = Monitor(false)
    var isShuttingDown: Bool { isLeaving.withLock { $0 } }

    /// Opens a queue; nothing is fetched before ``work()``.
    ///
    /// - Parameters:
    ///   - path: The queue's file; it is made where there is none.
    ///   - configuration: How it is worked.
    /// - Returns: The queue, which other processes leave alone until ``shutdown()``.
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
        current = try store.settings()
        try Self.restore(store, now)
        open = try QueueCoordinator(store, maxRunning: 0, now)
        applyRules()
        // What was to be done on the disk is done at once.
        carryOut()
    }

    /// Begins to fetch what has a slot; does nothing when it has begun.
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

    /// The time.
    nonisolated var now: QueueMachine.Moment {
        QueueMachine.Moment(wall: secondsSince1970(), boot: bootSeconds())
    }

    /// The records.
    func coordinator() throws(QueueError) -> QueueCoordinator {
        if let broken { throw broken }
        guard let open else {
            throw QueueError(.shutDown)
        }
        return open
    }

    /// Stops all downloads in order, records what there is, and lets go of the queue.
    ///
    /// What ran runs again when the queue is opened next.
    public func shutdown() async {
        guard !isShuttingDown else { return }
        isLeaving.withLock { $0 = true }
        clock?.task.cancel()
        publisher?.cancel()
        speedometer?.cancel()
        runner.stopAll()
        while !runs.isEmpty || !choresUnderWay.isEmpty { await change() }
        await runner.end()
        subscribers.finish()
        open = nil
        lock.release()
        wake()
    }

    // MARK: Waiting for something to change

    /// Waits until something has changed, also where the calling task is cancelled.
    func change() async {
        let number = nextWaiter
        nextWaiter += 1
        await withCheckedContinuation { waiters[number] = $0 }
    }

    /// Waits until something has changed, or the calling task is cancelled.
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

    // MARK: What happens

    /// Something that has happened: how the rules take it, and what is recorded.
    typealias Occurrence = (inout QueueMachine, QueueMachine.Moment) throws(QueueError) -> Void

    /// Takes what has happened into the rules and the records, and does what follows.
    ///
    /// What cannot be recorded for want of space is kept, and recorded in its turn. Where the records cannot be
    /// used at all, the queue is ``broken``.
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
                // The clock comes back to what a full disk or a reader holds up.
                if error.code != .diskFull, error.code != .busy { broken = error }
                setClock()
                wake()
                return
            }
            unrecorded.removeFirst()
        }
        carryOut()
    }

    /// Does what the rules say.
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
        // A time of day is looked at often enough for its minutes, and what was suspended is found out soon. Where
        // nothing is to be done, nobody is to be woken.
        let most =
            switch (coordinator.machine.isIdle, current.dependsOnTime) {
            case (false, true): 5.0
            case (false, false), (true, true): 30.0
            case (true, false): 600.0
            }
        return min(most, max(0.01, min(coordinator.machine.nextDue, lookDue) - bootSeconds()))
    }

    /// Has the clock ring in time, if it would not.
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

    /// Has what has changed told soon, at most ten times a second.
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

    /// Tells how far everything is, unless that was told, and nothing changes.
    ///
    /// - Returns: Whether it is to be looked at again soon.
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
    /// Has commands find this process.
    ///
    /// - Parameter socket: Path of the socket at which it is reached.
    /// - Throws: `QueueError`.
    public func announce(socket: String) throws(QueueError) {
        try lock.announce(socket: socket)
    }

    /// Waits for ever, unless the queue cannot be worked any more.
    ///
    /// - Throws: `QueueError`, why it cannot; `worker` when the queue is shut down, or waiting was cancelled.
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
