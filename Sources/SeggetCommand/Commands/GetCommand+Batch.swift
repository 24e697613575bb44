import ArgumentParser
import Glibc
import SeggetFormats
package import SeggetReports
package import Segmenter

// Several files in one run.
extension GetCommand {
    /// Whether the run is a batch: several URLs, any list, or a plan.
    var isBatch: Bool { urls.count > 1 || !batch.inputFile.isEmpty || batch.plan != nil }

    /// Refuses options that do not fit the number of files.
    func validateBatch() throws {
        guard !urls.isEmpty || !batch.inputFile.isEmpty || batch.plan != nil else {
            throw ValidationError("Missing expected argument: a URL, or `--input-file`")
        }
        guard batch.plan == nil || urls.isEmpty && batch.inputFile.isEmpty else {
            throw ValidationError(
                "`--plan` has the URLs: leave out "
                    + (urls.isEmpty ? "`--input-file`" : "those on the command line"))
        }
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
        guard let path = batch.plan else {
            let items = readItems()
            return FileList(count: items.count) {
                items[$0].batchItem(options: options, folder: folder)
            }
        }
        do throws(PlanError) {
            let plan = try PlanFile(path)
            return FileList(count: plan.count) { index in
                do throws(PlanError) {
                    return try plan.item(at: index, options: options, folder: folder)
                } catch {
                    Self.end(error, path)
                }
            }
        } catch {
            Self.end(error, path)
        }
    }

    /// Ends the process because of a plan; parts of files remain for the next run.
    private static func end(_ error: PlanError, _ path: String) -> Never {
        let colour = Terminal.standardError.colour
        for message in Diagnostic.messages(error, path: path) {
            StandardStreams.write(message.line(colour: colour) + "\n", to: STDERR_FILENO)
        }
        Glibc.exit(Diagnostic.status(error).rawValue)
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
        Task {
            // The hooks run one at a time, concurrently with the downloads.
            let (ended, continuation) = AsyncStream.makeStream(of: BatchEvent.self)
            let commands = Task {
                for await event in ended {
                    guard case .ended(let result) = event.kind else { continue }
                    let url = files.item(event.index).url
                    await hooks.run(result, url: url, status: ExitStatus(result))
                }
            }
            var report = BatchReport(settings, count: files.count)
            for await event in download.events {
                report.handle(event, signal: interrupts.received)
                if case .ended = event.kind, hooks.areWanted { continuation.yield(event) }
            }
            continuation.finish()
            var status = report.finish(signal: interrupts.received)
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
