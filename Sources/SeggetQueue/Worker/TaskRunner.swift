import Assembler
import Segmenter

/// Downloads the tasks to which a queue has given a slot.
///
/// Any thread may call it.
protocol TaskRunner: Sendable {
    /// Starts the download of a task, with its secrets, and returns immediately.
    func begin(_ task: QueueTask) -> Download
    /// Starts the download of a task's data set, whose plan is at a path, and returns immediately.
    func begin(_ task: QueueTask, _ set: FileSet, plan: String) -> SetRun
    /// Limits the rate of all downloads together, in bytes per second; `nil` for no limit.
    func limitRate(_ rate: Double?)
    /// Limits the requests of all downloads together to each server; `nil` for no limit.
    func limitRequests(_ rate: RequestRate?)
    /// Stops all downloads in an orderly way and returns immediately.
    func stopAll()
    /// Releases the resources of the runner, after all its downloads have ended.
    func end() async
}

/// The download of one task, which a runner has started.
///
/// Any thread may use it.
protocol TaskRun: AnyObject, Sendable {
    /// The id of the task.
    var id: QueueTask.ID { get }
    /// The current progress, also after the end.
    var progress: DownloadProgress { get }
    /// The set with the numbers of its files; `nil` for one file.
    var fileSet: FileSet? { get }
    /// Returns what connections and servers do at this moment.
    func traffic() async -> DownloadTraffic
    /// Stops the download in an orderly way and returns immediately.
    func cancel()
}

extension Download: TaskRun {
    var fileSet: FileSet? { nil }
}

/// How far a run is.
struct RunFigures: Sendable, Hashable {
    /// The bytes of the task.
    var progress: DownloadProgress
    /// The files of a data set; `nil` for one file.
    var set: FileSet?

    /// Creates the figures of the download of one file.
    init(progress: DownloadProgress) { self.progress = progress }

    /// Asks a run.
    init(_ run: any TaskRun) { (progress, set) = (run.progress, run.fileSet) }

    /// Asks the run of a task; `nil` without one.
    init?(_ run: DownloadQueue.Run?) {
        guard let run else { return nil }
        self.init(run.download)
    }
}

/// Downloads tasks in this process.
struct LocalRunner: TaskRunner {
    private let session: DownloadSession
    private let refresh: (@Sendable ([String]) -> RefreshURL)?

    /// Creates a runner with a session of its own.
    init(_ configuration: DownloadQueue.Configuration) {
        session = DownloadSession(
            memory: configuration.memory, checkPriority: configuration.checkPriority)
        refresh = configuration.refresh
    }

    func begin(_ task: QueueTask) -> Download {
        session.start(
            task.urls[0], to: Self.destination(task), options: Self.options(task), id: task.id,
            refreshURL: refreshURL(task))
    }

    func begin(_ task: QueueTask, _ set: FileSet, plan: String) -> SetRun {
        SetRun(
            task, set, plan: plan, options: Self.options(task), refreshURL: refreshURL(task),
            session)
    }

    private func refreshURL(_ task: QueueTask) -> RefreshURL? {
        task.refreshCommand.isEmpty ? nil : refresh?(task.refreshCommand)
    }

    func limitRate(_ rate: Double?) { session.limitRate(rate) }

    func limitRequests(_ rate: RequestRate?) { session.limitRequests(rate) }

    func stopAll() { session.cancelAll() }

    func end() async { await session.shutdown() }

    /// Returns the destination of a task's file.
    static func destination(_ task: QueueTask) -> Destination {
        task.place.path.map { .file($0) } ?? .folder(task.place.folderPath)
    }

    /// Returns the options of a task, with those that all tasks of a queue have.
    static func options(_ task: QueueTask) -> DownloadOptions {
        var options = task.options
        options.waitsForNetwork = true
        options.waitsForNetworkFirst = true
        options.endsToRest = true
        // Folders that a list names are created below those of the user.
        if options.files.missingFolders == .refused { options.files.missingFolders = .made }
        options.files.umask = task.umask
        if options.files.attributes == .none { options.files.attributes = .proof }
        // A download whose part is gone, as after `cancel`, starts over.
        let isBegun = task.file != nil || task.lastByte != nil
        let part = task.place.path.map { PartNames($0).part }
        if isBegun, part.map(FinishedFile.anythingStands) != true {
            options.continuesOtherURL = false
        }
        // An existing file is not replaced, and does not stop a task without a given name.
        options.naming.numbersTaken =
            task.place.name == nil && task.fileSet == nil && !options.overwrite
        return options
    }
}
