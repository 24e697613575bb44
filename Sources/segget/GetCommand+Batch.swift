import ArgumentParser
import Glibc
import Segmenter

// Several files in one run.
extension GetCommand {
    /// Whether this is more than one URL: a list is, whatever is in it.
    var isBatch: Bool { urls.count > 1 || !batch.inputFile.isEmpty }

    /// Refuses what is wrong about the number of files.
    func validateBatch() throws {
        guard !urls.isEmpty || !batch.inputFile.isEmpty else {
            throw ValidationError("Missing expected argument: a URL, or `--input-file`")
        }
        guard isBatch else { return }
        guard sources.mirrors.isEmpty else {
            throw ValidationError(
                "`--mirror` is for one file; in a list (`--input-file`), the URLs of a file stand on "
                    + "one line")
        }
        guard output == nil else {
            throw ValidationError(
                "`--output` names one file; several go to a folder (`--directory`), or by `out=` "
                    + "in a list (`--input-file`)")
        }
        guard checksum == nil else {
            throw ValidationError(
                "`--checksum` is for one file; in a list (`--input-file`), each can have its own")
        }
    }

    /// Downloads all files with these options on other threads while this one, the main thread, waits for signals.
    func runBatch(_ options: DownloadOptions) throws {
        let items: [InputFile.Item]
        do throws(InputError) {
            items = urls.map { InputFile.Item(urls: [$0]) } + (try batch.readLists())
            guard !items.isEmpty else { throw .empty }
        } catch {
            let colour = Terminal.standardError.colour
            for message in Diagnostic.messages(error) {
                StandardStreams.write(message.line(colour: colour) + "\n", to: STDERR_FILENO)
            }
            Glibc.exit(ExitStatus.usage.rawValue)
        }
        let interrupts = Interrupts()
        let session = DownloadSession(rateLimit: limits.limitRate)
        let folder = directory ?? "."
        let download = session.start(
            count: items.count, jobs: batch.jobs, failFast: batch.failFast
        ) { items[$0].batchItem(options: options, folder: folder) }
        let settings = reportSettings(terminal: .standardError)
        Task {
            var report = BatchReport(settings, count: items.count)
            for await event in download.events {
                report.handle(event, signal: interrupts.received)
            }
            let status = report.finish(signal: interrupts.received)
            await session.shutdown()
            Glibc.exit(status.rawValue)
        }
        interrupts.wait(change: session.changeRate) {
            download.cancel()
            return true
        }
    }
}
