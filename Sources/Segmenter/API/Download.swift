import Assembler

/// One running download.
public final class Download: Sendable, Identifiable {
    /// The id with which the download was started; random by default.
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

    /// The events of the download; the stream ends when the download ends.
    ///
    /// The stream is for one reader, and keeps at most the newest 256 unread events.
    public var events: AsyncStream<DownloadEvent> { eventsOffered.stream }

    /// The current progress: the content of the latest event, with the time since the start.
    ///
    /// Reading the property consumes no event. Any thread may read it at any time, also after the
    /// download has ended.
    public var progress: DownloadProgress { eventsOffered.progress(now: monotonicSeconds()) }

    /// Returns what the connections and servers of the download do at this moment.
    ///
    /// The result is empty while nothing is transferred. The loop thread collects it on request,
    /// between two turns; no state is kept for it. The method may be called at any time and from
    /// any thread, also after the download has ended.
    ///
    /// - Returns: The servers and connections.
    public func traffic() async -> DownloadTraffic { await present.traffic() }

    /// The result of the download; waits until the download has ended.
    ///
    /// At that point, the download has closed its file. A download that was cancelled or has failed
    /// has also recorded the bytes that it keeps. Another download to the same destination may then
    /// start.
    public var result: Result<DownloadedFile, DownloadError> {
        get async { await task.value }
    }

    /// Stops the download in an orderly way and returns immediately.
    ///
    /// The received bytes are recorded, and a later download of the same URL to the same
    /// destination resumes. ``result`` waits until the file is closed.
    public func cancel() { task.cancel() }
}

extension Download: Stoppable {
    func wait() async { _ = await task.value }

    /// Adds an event that concerns the whole session to the events of this download.
    func report(_ event: DownloadEvent) { eventsOffered.offer(event) }
}

/// The events of a download for one reader, and its progress for any number of readers.
final class DownloadEvents: Sendable {
    /// The number of unread events that are kept; the oldest are dropped first.
    static let limit = 256

    let stream: AsyncStream<DownloadEvent>
    private let continuation: AsyncStream<DownloadEvent>.Continuation
    private let snapshot = Monitor(ProgressSnapshot(began: monotonicSeconds()))

    init() {
        (stream, continuation) = AsyncStream.makeStream(
            of: DownloadEvent.self, bufferingPolicy: .bufferingNewest(Self.limit))
    }

    /// Adds an event; never waits.
    func offer(_ event: DownloadEvent) {
        snapshot.withLock { $0.take(event) }
        continuation.yield(event)
    }

    /// Ends the stream after the unread events.
    func finish() {
        snapshot.withLock { $0.end(now: monotonicSeconds()) }
        continuation.finish()
    }

    /// Returns the progress at a time on the monotonic clock.
    func progress(now: Double) -> DownloadProgress { snapshot.withLock { $0.progress(now: now) } }
}
