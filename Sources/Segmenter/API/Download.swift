import Assembler

/// One download under way.
public final class Download: Sendable, Identifiable {
    /// Which download it is: the id that it was started with, or else a random one.
    public let id: ID
    private let eventsOffered: DownloadEvents
    private let present: PresentFetch
    private let task: Task<Result<DownloadedFile, DownloadError>, Never>

    init(
        id: ID, events: DownloadEvents, present: PresentFetch,
        task: Task<Result<DownloadedFile, DownloadError>, Never>
    ) {
        self.id = id
        eventsOffered = events
        self.present = present
        self.task = task
    }

    /// What happens: newest kept, at most 256 waiting; ends when the download does.
    ///
    /// For one reader.
    public var events: AsyncStream<DownloadEvent> { eventsOffered.stream }

    /// How far the download is: what its latest event said, with the time since it began.
    ///
    /// Consumes no event. It can be asked at any time and from any thread, after the end too.
    public var progress: DownloadProgress { eventsOffered.progress(now: monotonicSeconds()) }

    /// What its connections and servers do now; empty while nothing is fetched.
    ///
    /// The loop thread is asked, and answers between two turns: nothing is kept for it meanwhile. It can be
    /// asked at any time and from any thread, after the end too.
    ///
    /// - Returns: The answer.
    public func traffic() async -> DownloadTraffic { await present.traffic() }

    /// How it ended; waits for the end.
    ///
    /// When this returns, the download has let go of its file. Also one that was cancelled or has failed
    /// has recorded by then what it keeps, and another download to the same place may begin.
    public var result: Result<DownloadedFile, DownloadError> {
        get async { await task.value }
    }

    /// Stops the download in order: what arrived is recorded, and a later download of the same URL
    /// to the same place continues it.
    ///
    /// Returns at once; ``result`` waits until the file is free.
    public func cancel() { task.cancel() }
}

extension Download: Stoppable {
    func wait() async { _ = await task.value }

    /// Adds an event of the whole session's to this download's.
    func report(_ event: DownloadEvent) { eventsOffered.offer(event) }
}

/// What a download reports: its events for one reader, and for anybody how far it is.
final class DownloadEvents: Sendable {
    /// Events that wait for a slow reader; older ones are dropped first.
    static let limit = 256

    let stream: AsyncStream<DownloadEvent>
    private let continuation: AsyncStream<DownloadEvent>.Continuation
    private let snapshot = Monitor(ProgressSnapshot(began: monotonicSeconds()))

    init() {
        (stream, continuation) = AsyncStream.makeStream(
            of: DownloadEvent.self, bufferingPolicy: .bufferingNewest(Self.limit))
    }

    /// Takes an event; never waits.
    func offer(_ event: DownloadEvent) {
        snapshot.withLock { $0.take(event) }
        continuation.yield(event)
    }

    /// Ends the events, after those that wait.
    func finish() {
        snapshot.withLock { $0.end(now: monotonicSeconds()) }
        continuation.finish()
    }

    /// How far the download is.
    func progress(now: Double) -> DownloadProgress { snapshot.withLock { $0.progress(now: now) } }
}
