import ArgumentParser
import Glibc
import SeggetFormats
package import SeggetReports
package import Segmenter

// Several files in one run.
extension GetCommand {
    /// Whether the run is a batch: several URLs, any list, or a plan.
    var isBatch: Bool {
        urls.count > 1 || !batch.inputFile.isEmpty || sets.plan != nil
            || (try? hubAddress) != nil
    }

    /// The address on the Hugging Face Hub, if the run downloads from there.
    var hubAddress: HubAddress? {
        get throws {
            try HubOptions.address(
                among: urls, isAlone: batch.inputFile.isEmpty && sets.plan == nil)
        }
    }

    /// Refuses options that do not fit the number of files.
    func validateBatch() throws {
        guard !urls.isEmpty || !batch.inputFile.isEmpty || sets.plan != nil else {
            throw ValidationError("Missing expected argument: a URL, or `--input-file`")
        }
        try validateSet()
        guard isBatch else { return }
        guard !batch.inputFile.contains("-") || !access.readsStandardInput else {
            throw ValidationError("standard input cannot be both a list and a secret")
        }
        guard sources.mirrors.isEmpty else {
            throw ValidationError(
                "`--mirror` is for one file; in a list (`--input-file`), put the URLs of a file "
                    + "on one line, separated by tabs")
        }
        guard output == nil else {
            throw ValidationError(
                "`--output` names one file; for several, use `--directory`, or `out=` "
                    + "in a list (`--input-file`)")
        }
        guard checksum == nil else {
            throw ValidationError(
                "`--checksum` is for one file; in a list (`--input-file`), each can have its own")
        }
    }

    /// Returns the files of the command line and of the lists.
    ///
    /// Ends the process if a list cannot be read or parsed.
    private func readItems() -> [InputFile.Item] {
        let items =
            urls.map { InputFile.Item(urls: [$0]) } + BatchOptions.listed(in: batch.inputFile)
        if items.isEmpty, display.detail != .errors {
            let note = Message(.note, BatchOptions.emptyList)
            StandardStreams.write(
                note.line(colour: Terminal.standardError.colour) + "\n", to: STDERR_FILENO)
        }
        return items
    }

    /// Returns the files of the run, if it is a batch.
    ///
    /// Ends the process if a list or the plan cannot be read or parsed.
    func fileList(_ options: DownloadOptions) -> FileList? {
        guard isBatch else { return nil }
        let folder = directory ?? "."
        guard let path = sets.plan else {
            let items = readItems()
            return FileList(count: items.count) {
                items[$0].batchItem(options: options, folder: folder)
            }
        }
        return self.list(of: Self.plan(at: path), nil, options)
    }

    /// Returns the files of a plan.
    ///
    /// Ends the process if the plan can no longer be read.
    func list(of plan: PlanFile, _ hub: HubAccess?, _ options: DownloadOptions) -> FileList {
        let folder = directory ?? "."
        return FileList(count: plan.count) { index in
            do throws(PlanError) {
                return try plan.item(at: index, options: options, folder: folder, hub: hub)
            } catch {
                Self.end(.plan(error, path: plan.path))
            }
        }
    }

    /// Downloads all files on other threads while the main thread waits for signals.
    func runBatch(
        _ files: FileList, _ session: DownloadSession, _ interrupts: Interrupts, _ hooks: Hooks,
        _ refresh: RefreshCommand?, _ jar: CookieJarFile?
    ) -> Never {
        let download = session.start(
            count: files.count, jobs: batch.jobs, failFast: batch.failFast,
            refreshURL: refresh?.link, jars: jar?.jars, item: files.item)
        let settings = reportSettings(terminal: .standardError, refresh)
        Self.follow(download, session, interrupts, hooks, jar, item: files.item) {
            BatchReport(settings, count: files.count)
        } end: { _ in
            .done
        }
    }

    /// Reports a batch until it ends, while the calling thread waits for signals.
    ///
    /// - Parameters:
    ///   - download: The batch.
    ///   - session: Its session, which ends with it.
    ///   - interrupts: The signals.
    ///   - hooks: The commands to run.
    ///   - jar: The file that gets the cookies.
    ///   - item: Returns the file at an index of the batch.
    ///   - begin: Makes the report of its events.
    ///   - end: Does what is to be done after the last file, before the summary.
    static func follow(
        _ download: DownloadBatch, _ session: DownloadSession, _ interrupts: Interrupts,
        _ hooks: Hooks, _ jar: CookieJarFile?, item: @escaping @Sendable (Int) -> BatchItem,
        begin: @escaping @Sendable () -> BatchReport,
        end: @escaping @Sendable (inout BatchReport) -> ExitStatus
    ) -> Never {
        Task {
            // The hooks run one at a time, concurrently with the downloads.
            let (ended, continuation) = AsyncStream.makeStream(of: BatchEvent.self)
            let commands = Task {
                for await event in ended {
                    guard case .ended(let result) = event.kind else { continue }
                    await hooks.run(result, url: item(event.index).url, status: ExitStatus(result))
                }
            }
            var report = begin()
            for await group in download.eventGroups {
                for event in group {
                    report.handle(event, signal: interrupts.received)
                    if case .ended = event.kind, hooks.areWanted { continuation.yield(event) }
                }
            }
            continuation.finish()
            let last = end(&report)
            var status = report.finish(signal: interrupts.received).worse(last)
            if let jar { status = jar.save(status) }
            await commands.value
            await session.shutdown()
            Glibc.exit(status.rawValue)
        }
        interrupts.wait(change: session.changeRate) {
            download.cancel()
            return true
        }
    }
}

/// The files to download; each item is created when it is needed.
struct FileList: Sendable {
    var count: Int
    var item: @Sendable (Int) -> BatchItem
}

extension ExitStatus {
    /// Returns the exit status for the result of a single file.
    package init(_ result: Result<DownloadedFile, DownloadError>) {
        switch result {
        case .success: self = .done
        case .failure(let error): self = Diagnostic(error).status
        }
    }
}
