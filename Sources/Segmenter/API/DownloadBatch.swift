import Assembler

/// One file of a batch.
public struct BatchItem: Sendable {
    /// An http or https URL.
    public var url: String
    /// Where the file goes.
    public var destination: Destination
    /// How to fetch it.
    public var options: DownloadOptions

    /// Makes an item.
    public init(
        _ url: String, to destination: Destination, options: DownloadOptions = DownloadOptions()
    ) {
        self.url = url
        self.destination = destination
        self.options = options
    }
}

/// Something that happens to one file of a batch.
public struct BatchEvent: Sendable {
    /// What happens.
    public enum Kind: Sendable {
        /// The file's turn has come; carries its URL, without credentials and query.
        case begun(url: String)
        /// The download tells something.
        case event(DownloadEvent)
        /// The file is done, has failed or was stopped.
        ///
        /// The last one of the file.
        case ended(Result<DownloadedFile, DownloadError>)
    }

    /// Place of the file in the list, from 0.
    public var index: Int
    /// What happens.
    public var kind: Kind
}

/// A list of files under way, several at a time.
///
/// The files begin in the order of the list. One failure does not stop the others, unless that was
/// asked for. Two files of one folder never get the same name: among those that take the name that
/// the server or the URL suggests, each later one is numbered (`big.1.iso`), in the order of the
/// list and so in every run alike. A file that names its path itself fails with
/// `DownloadError.Reason.nameTaken` if an earlier one has that path. Batches of one session that run
/// at the same time share the names; single downloads have no part in this.
public final class DownloadBatch: Sendable {
    /// Number of files in the list.
    public let count: Int
    /// What happens; ends when the batch does.
    ///
    /// For one reader, who may be as slow as he likes: beginnings and ends are never lost, progress
    /// and, after thousands, other events are dropped while many wait.
    public let events: AsyncStream<BatchEvent>
    private let task: Task<Void, Never>
    private let run: BatchRun

    init(_ run: BatchRun, task: Task<Void, Never>) {
        count = run.count
        events = run.events.stream()
        self.task = task
        self.run = run
    }

    /// Stops the batch in order: what runs is stopped and keeps what arrived, what has not begun
    /// does not begin.
    ///
    /// Returns at once.
    public func cancel() { task.cancel() }

    /// Waits until every file that has begun has ended.
    public func wait() async { await task.value }
}

extension DownloadBatch: Stoppable {
    /// Adds an event of the whole session's to those of the file that began first.
    func report(_ event: DownloadEvent) { run.report(event) }
}
