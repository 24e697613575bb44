import Glibc
import SeggetReports
import Segmenter

/// The download of files of the Hub into its cache, which other processes may use at the same time.
///
/// This run waits for the files that others are downloading, and then downloads those that are still
/// missing.
struct HubCacheDownload {
    let snapshot: HubSnapshot
    let access: HubAccess
    let rechecks: Bool
    let trusts: Bool
    let interrupts: Interrupts
    /// Starts the download of what a set lacks.
    let start: (SetFolder, SetWork) -> DownloadBatch
    /// Called with each event and a function that returns a file of the batch.
    typealias Note = @Sendable (BatchEvent, (Int) -> BatchItem) async -> Void

    /// The number of files that were begun, which is the index of the next one in the report.
    private var begun = 0
    private var hasSaid = false
    private var worst = ExitStatus.done

    init(
        _ snapshot: HubSnapshot, _ access: HubAccess, rechecks: Bool, trusts: Bool,
        _ interrupts: Interrupts, start: @escaping (SetFolder, SetWork) -> DownloadBatch
    ) {
        (self.snapshot, self.access, self.rechecks) = (snapshot, access, rechecks)
        (self.trusts, self.interrupts, self.start) = (trusts, interrupts, start)
    }

    private var isStopped: Bool { interrupts.received != nil }

    /// Downloads.
    ///
    /// - Parameters:
    ///   - settings: The settings of the report.
    ///   - note: Called with each event before it is reported.
    /// - Returns: The exit code.
    mutating func run(_ settings: DownloadReport.Settings, note: Note) async -> ExitStatus {
        do throws(SetError) {
            let contents = try snapshot.examine(rechecks: rechecks, trusts: trusts) {
                [interrupts] in interrupts.received != nil
            }
            let (figures, work) = snapshot.report(of: contents)
            var report = BatchReport(settings, count: snapshot.count, set: figures)
            report.begin(set: snapshot.set, in: snapshot.path, figures, work)
            if !contents.missing.isEmpty, !snapshot.isWritable {
                throw .assembly(.cannotCreate(path: snapshot.path, errno: EROFS))
            }
            do throws(SetError) {
                try await download(contents.missing, &report, note)
            } catch {
                for message in Diagnostic.messages(error) { report.print(message) }
                worst = worst.worse(Diagnostic.status(error))
            }
            return try end(&report, contents)
        } catch {
            GetCommand.say(Diagnostic.messages(error))
            return Diagnostic.status(error)
        }
    }

    /// Downloads the missing blobs, and waits for those that others are downloading.
    private mutating func download(
        _ missing: [String], _ report: inout BatchReport, _ note: Note
    ) async throws(SetError) {
        let fetch = HubFetch(missing, of: snapshot, from: access) { SetFailure($0) }
        while true {
            switch try fetch.next(isCancelled: { isStopped }) {
            case .done: return
            case .wait(let count, let holder):
                if !hasSaid { report.print(HubWords.waits(count, holder)) }
                hasSaid = true
                try? await Task.sleep(for: HubFetch.pause)
            case .download(let turn):
                await download(turn, &report, note)
                try fetch.end(turn, isStopped: isStopped)
            }
        }
    }

    /// Downloads the blobs that this run has claimed.
    private mutating func download(
        _ turn: HubTurn, _ report: inout BatchReport, _ note: Note
    ) async {
        let (set, work) = (turn.set, turn.work)
        let batch = start(set, work)
        if isStopped { batch.cancel() }
        for await group in batch.eventGroups {
            for event in group {
                if case .ended(.failure(let error)) = event.kind,
                    turn.failed(event.index, isWrong: Diagnostic.isOfWrongBytes(error))
                {
                    report.withdraw(event.index + begun)
                    continue
                }
                await note(event) {
                    set.item(work.files[$0], of: work, options: DownloadOptions())
                }
                report.handle(shown(event), signal: interrupts.received)
            }
        }
        begun += work.files.count
        if let problem = set.close() {
            for message in SetWords.unrecorded(problem) { report.print(message) }
            worst = worst.worse(.disk)
        }
    }

    /// Returns an event with the path in the snapshot.
    private func shown(_ event: BatchEvent) -> BatchEvent {
        var event = event
        event.index += begun
        func path(_ path: String) -> String {
            snapshot.path(of: FileTarget(path: path).name) ?? path
        }
        switch event.kind {
        case .event(.started(var start)):
            start.path = path(start.path)
            event.kind = .event(.started(start))
        case .ended(.success(var file)):
            file.path = path(file.path)
            event.kind = .ended(.success(file))
        case .ended(.failure(var error)):
            error.path = error.path.map(path)
            event.kind = .ended(.failure(error))
        default: break
        }
        return event
    }

    /// Links the files, and reports the end.
    ///
    /// - Parameters:
    ///   - report: The report.
    ///   - contents: The contents of the cache before the downloads.
    /// - Returns: The exit code.
    /// - Throws: `SetError`.
    private mutating func end(
        _ report: inout BatchReport, _ contents: HubSnapshot.Contents
    ) throws(SetError) -> ExitStatus {
        var contents = contents
        if !contents.missing.isEmpty {
            // The blobs that others have delivered meanwhile are verified, too.
            contents.add(
                try snapshot.examine(contents.missing, trusts: trusts) { [interrupts] in
                    interrupts.received != nil
                })
        }
        for name in contents.wrong {
            report.keep(HubWords.wrong(snapshot.blobPath(name)), as: .checksumMismatch)
        }
        for path in contents.missing.compactMap({ snapshot.foreign($0) }) {
            report.keep(HubWords.foreign(path), as: .cannotCreate)
        }
        if !contents.wrong.isEmpty { report.print(Message(.hint, HubWords.wrongHint)) }
        report.settle(complete: contents.complete)
        for path in try snapshot.link(contents) {
            report.print(Message(.error, HubWords.kept(path)))
            worst = worst.worse(.cannotCreate)
        }
        let isComplete = contents.isComplete && worst == .done
        let status = report.finish(
            signal: interrupts.received, path: isComplete ? snapshot.path : nil,
            unchecked: contents.unchecked)
        return status.worse(worst)
    }
}
