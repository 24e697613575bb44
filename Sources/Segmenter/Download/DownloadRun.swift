// Download: one file from its URL to its name. It knows in which order a file is looked for, asked for,
// downloaded and published, and when it starts over; it does not know how a request is made, nor how bytes
// get to the disk.

import Assembler
import Glibc
import SegmenterRules
import SegmenterTransport

/// One download from its URL to its published file, or the preview of it.
///
/// ``DownloadMachine`` decides what is done; ``LiveRunner`` and ``PreviewRunner`` do it.
final class DownloadRun: Sendable {
    let loop: TransferLoop
    let job: DownloadJob
    /// The services of the list for its files; `nil` for a single download.
    let batch: BatchContext?
    /// Makes the missing folders.
    let folders: FolderMaker
    let report: @Sendable (DownloadEvent) -> Void
    /// Where callers find the current fetch; `nil` if no caller asks.
    let present: PresentFetch?
    /// The facts that the download learns about servers.
    private let memory: DownloadMemory
    /// Provides new links; `nil` if the caller provides none.
    let links: LinkRefresher?

    init(
        loop: TransferLoop, urlText: String, url: WebURL?, destination: Destination,
        options: DownloadOptions, isRepair: Bool = false, refreshURL: RefreshURL? = nil,
        batch: BatchContext? = nil, present: PresentFetch? = nil, jars: CookieJars? = nil,
        parts: BegunParts = BegunParts(),
        report: @escaping @Sendable (DownloadEvent) -> Void
    ) {
        self.loop = loop
        job = DownloadJob(
            urlText: urlText, url: url, destination: destination, options: options,
            isRepair: isRepair, parts: parts)
        links = refreshURL.map { LinkRefresher($0, report: report) }
        memory = DownloadMemory(
            validators: loop.validators, cookies: jars?.cookies(of: options, url) ?? CookieMemory())
        self.batch = batch
        self.present = present
        folders = FolderMaker(options.files, sharing: batch?.folders)
        self.report = report
    }

    /// Asks the server.
    var inquiry: Inquiry { Inquiry(job: job, report: report) }

    /// Returns a probe of the URL, after checking the options.
    func makeProbe() throws(DownloadError.Reason) -> Probe {
        let url = try job.checkedURL()
        var probe = Probe(
            loop: loop, url: url, connecting: .init(job.options, url: url, memory: memory),
            policy: RetryPolicy(
                retries: job.options.retries, least: job.options.retryWait.inSeconds)
        ) { [report] in report(.notice($0)) }
        probe.asksOnce = job.options.singleRequest
        if case .folder = job.destination { probe.wantsName = !job.options.naming.usesURL }
        return probe
    }

    /// Runs the download to its end, in at most the time that the user allows.
    func withinTime(
        _ answered: Answered? = nil
    ) async -> Result<DownloadedFile, DownloadError> {
        guard let longest = job.options.limits.maxTime else { return await self(answered) }
        let isOver = Monitor(false)
        let work = Task { await self(answered) }
        let clock = Task {
            try await Task.sleep(for: max(.zero, longest))
            isOver.withLock { $0 = true }
            work.cancel()
        }
        let result = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            clock.cancel()
            work.cancel()
        }
        clock.cancel()
        guard case .failure(var error) = result, error.reason == .cancelled,
            isOver.withLock({ $0 })
        else { return result }
        error.reason = .timeIsUp(after: longest)
        return .failure(error)
    }

    /// Runs the download to its end; `answered` is the response to its first request, if that was
    /// sent already.
    private func callAsFunction(
        _ answered: Answered?
    ) async -> Result<DownloadedFile, DownloadError> {
        let started = answered?.began ?? monotonicSeconds()
        do throws(DownloadError.Reason) {
            var probe = try makeProbe()
            probe.spreads = job.connections > 1
            if job.options.access.isInsecure { report(.notice(.certificatesUnchecked)) }
            var runner = LiveRunner(self, probe, answered: answered, started: started)
            return await runner.result()
        } catch {
            return .failure(self.error(error, written: job.isStream ? 0 : nil))
        }
    }

    /// Finds out what this download would do.
    ///
    /// Asks the server for no more than a probe does, and for the sample of `resumeUnverified`;
    /// writes nothing.
    func preview() async -> Result<DownloadPreview, DownloadError> {
        let probe: Probe
        do throws(DownloadError.Reason) {
            probe = try makeProbe()
        } catch {
            return .failure(self.error(error))
        }
        var runner = PreviewRunner(DownloadWork(self, probe, isPreview: true))
        do throws(DownloadError.Reason) {
            return .success(try await runner.run())
        } catch {
            return .failure(runner.work.error(error))
        }
    }

    /// The error of a download that has not begun.
    private func error(
        _ reason: DownloadError.Reason, written: Int64? = nil
    ) -> DownloadError {
        DownloadError(
            reason: reason, url: job.url?.redacted ?? "", path: nil, bytesKept: 0,
            bytesWritten: written)
    }
}
