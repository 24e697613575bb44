// API: the public types of the library. This folder defines requests and results; it does not know
// how a file is assembled.

// The values of this API are in a module that the modules below know too.
import SegmenterRules
package import SegmenterTransport
@_exported public import SegmenterValues

/// Runs downloads: any number of files on one loop thread.
///
/// ```swift
/// let session = DownloadSession()
/// let file = try await session.download("https://example.com/big.iso", to: "big.iso")
/// await session.shutdown()
/// ```
///
/// A session may be used from any thread or task.
public final class DownloadSession: Sendable {
    let loop = TransferLoop()
    let running = Monitor<[Int: any Stoppable]>([:])
    let names = BatchNames()
    private let keeper: MemoryKeeper?
    private let checkPriority: DiskPriority

    /// Starts the loop thread.
    ///
    /// - Parameters:
    ///   - rateLimit: The rate limit of the session in bytes per second, as for ``limitRate(_:)``.
    ///   - maxRequests: The most requests to each server, as for ``limitRequests(_:)``.
    ///   - memory: The file with the facts that earlier sessions learned about servers. The
    ///     initializer reads the file; ``shutdown()`` adds to it.
    ///   - checkPriority: The I/O priority of the threads that read received bytes back to verify
    ///     them.
    public init(
        rateLimit: Double? = nil, maxRequests: RequestRate? = nil, memory: ServerMemory? = nil,
        checkPriority: DiskPriority = .normal
    ) {
        keeper = memory.map { [loop] in MemoryKeeper($0, loop.validators) }
        self.checkPriority = checkPriority
        if let rateLimit { limitRate(rateLimit) }
        if let maxRequests { limitRequests(maxRequests) }
        let limits = keeper?.begin() ?? [:]
        guard !limits.isEmpty else { return }
        loop.perform { worker in
            let now = monotonicSeconds()
            worker.servers.limits = limits.mapValues { ServerLimit(remembered: $0, now: now) }
        }
    }

    /// Starts a download and returns immediately.
    ///
    /// The caller follows ``Download/events`` and awaits ``Download/result``.
    ///
    /// - Parameters:
    ///   - url: An http or https URL.
    ///   - destination: The destination of the finished file. Until the file is complete and
    ///     verified, its bytes are in `NAME.part`, and the manifest is `NAME.segget` beside it.
    ///   - options: The options of the download.
    ///   - id: The id of the download, unique among all downloads.
    ///   - refreshURL: Returns a new link when the server refuses the URL; `nil` if there is no way
    ///     to get one.
    /// - Returns: The running download.
    public func start(
        _ url: String, to destination: Destination, options: DownloadOptions = DownloadOptions(),
        id: Download.ID = Download.ID(), refreshURL: RefreshURL? = nil
    ) -> Download {
        start(
            url, to: destination, options: options, id: id, isRepair: false,
            refreshURL: refreshURL)
    }

    /// Starts a download that keeps its cookies in `jars`.
    package func start(
        _ url: String, to destination: Destination, options: DownloadOptions,
        refreshURL: RefreshURL?, jars: CookieJars?
    ) -> Download {
        start(
            url, to: destination, options: options, id: Download.ID(), isRepair: false,
            refreshURL: refreshURL, jars: jars)
    }

    /// Starts a download or a repair.
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

    /// Starts the download of a list of files and returns immediately.
    ///
    /// The caller follows ``DownloadBatch/events``.
    ///
    /// - Parameters:
    ///   - items: The files, in the order in which they start.
    ///   - jobs: The number of files to download at a time, 1…64. `nil` means a few large files, or
    ///     up to 64 small ones.
    ///   - failFast: Whether the first failure stops the other files.
    ///   - staysOpen: Whether more files may follow. If `true`, `DownloadBatch.add` accepts files,
    ///     and the batch does not end before ``DownloadBatch/close()``.
    ///   - refreshURL: Returns a new link when the server refuses the URL of a file.
    /// - Returns: The running batch.
    public func start(
        _ items: [BatchItem], jobs: Int? = nil, failFast: Bool = false, staysOpen: Bool = false,
        refreshURL: RefreshURL? = nil
    ) -> DownloadBatch {
        start(
            BatchList(items.count, isOpen: staysOpen) { items[$0] }, jobs: jobs, failFast: failFast,
            refreshURL)
    }

    /// Starts the download of a long list of files and creates each item only when it is needed.
    ///
    /// - Parameters:
    ///   - count: The number of files.
    ///   - jobs: The number of files to download at a time, 1…64. `nil` means a few large files, or
    ///     up to 64 small ones.
    ///   - failFast: Whether the first failure stops the other files.
    ///   - refreshURL: Returns a new link when the server refuses the URL of a file.
    ///   - item: Returns the file at an index of the list, from 0. Every call with the same index
    ///     must return the same file.
    /// - Returns: The running batch.
    public func start(
        count: Int, jobs: Int? = nil, failFast: Bool = false, refreshURL: RefreshURL? = nil,
        item: @escaping @Sendable (Int) -> BatchItem
    ) -> DownloadBatch {
        start(BatchList(count, item: item), jobs: jobs, failFast: failFast, refreshURL)
    }

    /// Starts the download of a long list of files that keeps their cookies in `jars`.
    package func start(
        count: Int, jobs: Int?, failFast: Bool, refreshURL: RefreshURL?, jars: CookieJars?,
        item: @escaping @Sendable (Int) -> BatchItem
    ) -> DownloadBatch {
        start(BatchList(count, item: item), jobs: jobs, failFast: failFast, refreshURL, jars)
    }

    /// Starts the download of a list whose files have connections of their own.
    ///
    /// `DownloadOptions.connections` is the number for each file, which has the same meaning in
    /// aria2.
    package func startSeparately(
        count: Int, jobs: Int?, item: @escaping @Sendable (Int) -> BatchItem
    ) -> DownloadBatch {
        start(BatchList(count, item: item), jobs: jobs, failFast: false, nil, sharesHosts: false)
    }

    /// Starts the download of a list; its files share the connections of each host, unless
    /// `sharesHosts` is not set.
    func start(
        _ list: BatchList, jobs: Int?, failFast: Bool, _ refreshURL: RefreshURL?,
        _ jars: CookieJars? = nil, sharesHosts: Bool = true, record: BatchRun.Record? = nil
    ) -> DownloadBatch {
        let run = BatchRun(
            loop: loop, list: list, jobs: jobs, failFast: failFast, names: names,
            events: BatchEvents(), refreshURL: refreshURL, jars: jars, sharesHosts: sharesHosts,
            record: record)
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
    /// Cancelling the task stops the download in an orderly way. A later call with the same URL and
    /// path resumes it.
    ///
    /// - Parameters:
    ///   - url: An http or https URL.
    ///   - path: The path of the finished file.
    ///   - options: The options of the download.
    ///   - id: The id of the download, unique among all downloads.
    /// - Returns: The finished file.
    /// - Throws: `DownloadError`, which includes the number of bytes that are kept on disk.
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

    /// Asks the server which file it offers, and writes nothing.
    ///
    /// - Parameters:
    ///   - url: An http or https URL.
    ///   - options: The options for the requests.
    /// - Returns: The size, validators and name that the server states.
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

    /// Returns what a download would do if it started now, and writes nothing.
    ///
    /// - Parameters:
    ///   - url: An http or https URL.
    ///   - destination: The destination that the finished file would have.
    ///   - options: The options of the download.
    /// - Returns: The action that the download would take.
    /// - Throws: `DownloadError` if the download would fail at its start.
    public func preview(
        _ url: String, to destination: Destination, options: DownloadOptions = DownloadOptions()
    ) async throws(DownloadError) -> DownloadPreview {
        let run = DownloadRun(
            loop: loop, urlText: url, url: WebURL(url), destination: destination, options: options
        ) { _ in }
        return try await run.preview().get()
    }

    /// Returns what would be done with each file of a list, and writes nothing.
    ///
    /// - Parameters:
    ///   - count: The number of files.
    ///   - item: Returns the file at an index of the list, from 0.
    /// - Returns: A preview or an error for each file, in the order of the list.
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

    /// The running downloads, in the order in which they started, without the files of batches.
    ///
    /// A download whose result is available is not included.
    public var downloads: [Download] { underWay.compactMap { $0 as? Download } }

    /// The running batches, in the order in which they started.
    public var batches: [DownloadBatch] { underWay.compactMap { $0 as? DownloadBatch } }

    /// Stops every download and every batch in an orderly way, as their `cancel` does.
    ///
    /// The session remains usable. This method returns immediately. Downloads that start later are
    /// not stopped.
    public func cancelAll() {
        for download in underWay { download.cancel() }
    }

    /// Stops every download in an orderly way, and ends the loop thread.
    ///
    /// A download that starts later is cancelled immediately.
    public func shutdown() async {
        let downloads = underWay
        for download in downloads { download.cancel() }
        for download in downloads { await download.wait() }
        if let keeper { await keeper.end(await loop.learnedLimits()) }
        loop.shutdown()
    }

    /// All running downloads and batches, in the order in which they started.
    private var underWay: [any Stoppable] {
        running.withLock { running in running.sorted { $0.key < $1.key }.map(\.value) }
    }
}

/// A running download or batch that its session can stop.
protocol Stoppable: Sendable {
    /// Stops it in an orderly way and returns immediately.
    func cancel()
    /// Waits until it has ended.
    func wait() async
    /// Adds an event that concerns the whole session to its own events.
    func report(_ event: DownloadEvent)
}
