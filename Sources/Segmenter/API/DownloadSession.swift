// API: the public types, and the doors by which a caller comes in. It knows what callers ask for
// and are answered; it never knows how a file is put together.

// Digests, ranges and reasons of the disk stand in this API, so that whoever has it has them too.
@_exported public import Assembler

/// Runs downloads: one loop thread, its connections, and any number of files.
///
/// ```swift
/// let session = DownloadSession()
/// let file = try await session.download("https://example.com/big.iso", to: "big.iso")
/// await session.shutdown()
/// ```
///
/// May be used from any thread or task.
public final class DownloadSession: Sendable {
    let loop = TransferLoop()
    let running = Monitor<[Int: any Stoppable]>([:])
    let names = BatchNames()
    private let keeper: MemoryKeeper?
    private let checkPriority: DiskPriority

    /// Starts the loop thread.
    ///
    /// - Parameters:
    ///   - rateLimit: As for ``limitRate(_:)``.
    ///   - memory: What earlier sessions learned of servers, and where ``shutdown()`` adds to it; read
    ///     before this returns.
    ///   - checkPriority: How the disk serves the threads that read what has arrived back, to check it.
    public init(
        rateLimit: Double? = nil, memory: ServerMemory? = nil, checkPriority: DiskPriority = .normal
    ) {
        keeper = memory.map { [loop] in MemoryKeeper($0, loop.validators) }
        self.checkPriority = checkPriority
        if let rateLimit { limitRate(rateLimit) }
        let limits = keeper?.begin() ?? [:]
        guard !limits.isEmpty else { return }
        loop.perform { worker in
            let now = monotonicSeconds()
            worker.servers.limits = limits.mapValues { ServerLimit(remembered: $0, now: now) }
        }
    }

    /// Begins a download and returns at once; watch its events, await its result.
    ///
    /// - Parameters:
    ///   - url: An http or https URL.
    ///   - destination: Where the finished file goes. Until it is complete and verified, its bytes
    ///     are in `NAME.part`, with the manifest `NAME.segget` beside it.
    ///   - options: How to fetch it.
    ///   - id: What the download is known by; one that no other download has.
    ///   - refreshURL: Gets a new link when the URL is refused; `nil` where there is none to be had.
    /// - Returns: The download under way.
    public func start(
        _ url: String, to destination: Destination, options: DownloadOptions = DownloadOptions(),
        id: Download.ID = Download.ID(), refreshURL: RefreshURL? = nil
    ) -> Download {
        start(
            url, to: destination, options: options, id: id, isRepair: false,
            refreshURL: refreshURL)
    }

    /// Begins a download that keeps its cookies in `jars`.
    package func start(
        _ url: String, to destination: Destination, options: DownloadOptions,
        refreshURL: RefreshURL?, jars: CookieJars?
    ) -> Download {
        start(
            url, to: destination, options: options, id: Download.ID(), isRepair: false,
            refreshURL: refreshURL, jars: jars)
    }

    /// Begins a download, or a repair.
    func start(
        _ url: String, to destination: Destination, options: DownloadOptions, id: Download.ID,
        isRepair: Bool, refreshURL: RefreshURL? = nil, jars: CookieJars? = nil
    ) -> Download {
        let (events, present) = (DownloadEvents(), PresentFetch())
        let run = DownloadRun(
            loop: loop, urlText: url, url: WebURL(url), destination: destination, options: options,
            isRepair: isRepair, refreshURL: refreshURL, present: present, jars: jars,
            parts: names.parts,
            report: { events.offer($0) })
        return running.withLock { running in
            let number = (running.keys.max() ?? 0) + 1
            let task = Task { [run, monitor = self.running, checkPriority] in
                let result = await Disk.$checkPriority.withValue(checkPriority) {
                    await run.withinTime()
                }
                events.finish()
                monitor.withLock { $0[number] = nil }
                return result
            }
            let download = Download(id: id, events: events, present: present, task: task)
            running[number] = download
            return download
        }
    }

    /// Begins to fetch a list of files and returns at once; watch the events.
    ///
    /// - Parameters:
    ///   - items: The files, in the order in which they begin.
    ///   - jobs: Files that are fetched at a time, 1…64; `nil` for 4, and up to 64 while they are small.
    ///   - failFast: Whether the first failure stops the others.
    ///   - staysOpen: Whether more files may follow: `DownloadBatch.add` takes them, and the batch does not
    ///     end before ``DownloadBatch/close()``.
    ///   - refreshURL: Gets a new link when the URL of a file is refused.
    /// - Returns: The batch under way.
    public func start(
        _ items: [BatchItem], jobs: Int? = nil, failFast: Bool = false, staysOpen: Bool = false,
        refreshURL: RefreshURL? = nil
    ) -> DownloadBatch {
        start(
            BatchList(items.count, isOpen: staysOpen) { items[$0] }, jobs: jobs, failFast: failFast,
            refreshURL)
    }

    /// Begins to fetch a long list of files, each made when it is needed.
    ///
    /// - Parameters:
    ///   - count: Number of files.
    ///   - jobs: Files that are fetched at a time, 1…64; `nil` for 4, and up to 64 while they are small.
    ///   - failFast: Whether the first failure stops the others.
    ///   - refreshURL: Gets a new link when the URL of a file is refused.
    ///   - item: Makes the file at a place in the list, from 0; the same one whenever it is asked.
    /// - Returns: The batch under way.
    public func start(
        count: Int, jobs: Int? = nil, failFast: Bool = false, refreshURL: RefreshURL? = nil,
        item: @escaping @Sendable (Int) -> BatchItem
    ) -> DownloadBatch {
        start(BatchList(count, item: item), jobs: jobs, failFast: failFast, refreshURL)
    }

    /// Begins to fetch a long list of files, whose cookies are kept in `jars`.
    package func start(
        count: Int, jobs: Int?, failFast: Bool, refreshURL: RefreshURL?, jars: CookieJars?,
        item: @escaping @Sendable (Int) -> BatchItem
    ) -> DownloadBatch {
        start(BatchList(count, item: item), jobs: jobs, failFast: failFast, refreshURL, jars)
    }

    private func start(
        _ list: BatchList, jobs: Int?, failFast: Bool, _ refreshURL: RefreshURL?,
        _ jars: CookieJars? = nil
    ) -> DownloadBatch {
        let run = BatchRun(
            loop: loop, list: list, jobs: jobs, failFast: failFast, names: names,
            events: BatchEvents(), refreshURL: refreshURL, jars: jars)
        return running.withLock { running in
            let number = (running.keys.max() ?? 0) + 1
            let task = Task { [monitor = self.running, checkPriority] in
                await Disk.$checkPriority.withValue(checkPriority) { await run() }
                monitor.withLock { $0[number] = nil }
            }
            let batch = DownloadBatch(run, task: task)
            running[number] = batch
            return batch
        }
    }

    /// Downloads a file and returns when it is complete, verified and published.
    ///
    /// Cancelling the task stops the download in order; a later call with the same URL and path
    /// continues it.
    ///
    /// - Parameters:
    ///   - url: An http or https URL.
    ///   - path: Path of the finished file.
    ///   - options: How to fetch it.
    ///   - id: What the download is known by; one that no other download has.
    /// - Returns: What was downloaded.
    /// - Throws: `DownloadError`, with what is kept on the disk.
    public func download(
        _ url: String, to path: String, options: DownloadOptions = DownloadOptions(),
        id: Download.ID = Download.ID()
    ) async throws(DownloadError) -> DownloadedFile {
        let download = start(url, to: .file(path), options: options, id: id)
        let result = await withTaskCancellationHandler {
            await download.result
        } onCancel: {
            download.cancel()
        }
        return try result.get()
    }

    /// Asks the server what it offers, and writes nothing.
    ///
    /// - Parameters:
    ///   - url: An http or https URL.
    ///   - options: How to ask.
    /// - Returns: What the server says.
    /// - Throws: `DownloadError`.
    public func probe(
        _ url: String, options: DownloadOptions = DownloadOptions()
    ) async throws(DownloadError) -> RemoteFile {
        let run = DownloadRun(
            loop: loop, urlText: url, url: WebURL(url), destination: .folder("."), options: options
        ) { _ in }
        do throws(DownloadError.Reason) {
            var probe = try run.makeProbe()
            probe.beginning = run.inquiry.beginning
            let finding = try await probe.run(byGet: false, range: Probe.firstByte)
            return finding.file
        } catch {
            throw DownloadError(
                reason: error, url: WebURL(url)?.redacted ?? "", path: nil, bytesKept: 0)
        }
    }

    /// Tells what a download would do if it were started now, and writes nothing.
    ///
    /// - Parameters:
    ///   - url: An http or https URL.
    ///   - destination: Where the finished file would go.
    ///   - options: How it would be fetched.
    /// - Returns: What would be done.
    /// - Throws: `DownloadError`, when the download would fail at once.
    public func preview(
        _ url: String, to destination: Destination, options: DownloadOptions = DownloadOptions()
    ) async throws(DownloadError) -> DownloadPreview {
        let run = DownloadRun(
            loop: loop, urlText: url, url: WebURL(url), destination: destination, options: options
        ) { _ in }
        return try await run.preview().get()
    }

    /// Tells what the files of a list would come to, and writes nothing.
    ///
    /// - Parameters:
    ///   - count: Number of files.
    ///   - item: Makes the file at a place in the list, from 0.
    /// - Returns: What would be done with each file, in order.
    public func preview(
        count: Int, item: @escaping @Sendable (Int) -> BatchItem
    ) -> AsyncStream<(index: Int, result: Result<DownloadPreview, DownloadError>)> {
        let run = BatchRun(
            loop: loop, list: BatchList(count, item: item), jobs: 1, failFast: false, names: names,
            events: BatchEvents())
        return AsyncStream { continuation in
            let task = Task {
                await run.preview { continuation.yield(($0, $1)) }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// The downloads under way, in the order in which they began; without the files of batches.
    ///
    /// A download whose result is there is not among them.
    public var downloads: [Download] { underWay.compactMap { $0 as? Download } }

    /// The batches under way, in the order in which they began.
    public var batches: [DownloadBatch] { underWay.compactMap { $0 as? DownloadBatch } }

    /// Stops every download and every batch in order, as their `cancel` does; the session goes on.
    ///
    /// Returns at once. What is started afterwards is not stopped.
    public func cancelAll() {
        for download in underWay { download.cancel() }
    }

    /// Stops every download in order, and the loop thread.
    ///
    /// What is started afterwards is cancelled at once.
    public func shutdown() async {
        let downloads = underWay
        for download in downloads { download.cancel() }
        for download in downloads { await download.wait() }
        if let keeper { await keeper.end(await loop.learnedLimits()) }
        loop.shutdown()
    }

    /// All that is under way, in the order in which it began.
    private var underWay: [any Stoppable] {
        running.withLock { running in running.sorted { $0.key < $1.key }.map(\.value) }
    }
}

/// What a session has under way.
protocol Stoppable: Sendable {
    /// Stops it in order; returns at once.
    func cancel()
    /// Waits for its end.
    func wait() async
    /// Adds an event of the whole session's to its own.
    func report(_ event: DownloadEvent)
}
