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
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Kind: Sendable {
        /// The file's turn has come; carries its URL, without credentials and query.
        case begun(url: String)
        /// The download reports something.
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

    package init(index: Int, kind: Kind) { (self.index, self.kind) = (index, kind) }
}

/// A list of files under way, several at a time.
///
/// The files begin in the order of the list. One failure does not stop the others, unless that was
/// asked for. Two files of one folder never get the same name: among those that take the name that
/// the server or the URL suggests, each later one is numbered (`big.1.iso`), in the order of the
/// list and so in every run alike. A file that names its path itself fails with
/// `DownloadError.Reason.nameTaken` if an earlier one has that path. Batches of one session that run
/// at the same time share the names; single downloads have no part in this.
///
/// A batch that was started with `staysOpen` takes more files while it runs, and does not end before
/// ``close()``. What is added stands at the end of the list; a path that it names is refused if a file before
/// it has that already.
public final class DownloadBatch: Sendable {
    /// What happens; ends when the batch does.
    ///
    /// For one reader, who may be as slow as he likes: beginnings and ends are never lost, progress
    /// and, after thousands, other events are dropped while many wait.
    public let events: AsyncStream<BatchEvent>
    private let task: Task<Void, Never>
    private let run: BatchRun

    init(_ run: BatchRun, task: Task<Void, Never>) {
        events = run.events.stream()
        self.task = task
        self.run = run
    }

    /// Number of files in the list, by now.
    public var count: Int { run.list.count }

    /// Adds a file at the end of the list.
    ///
    /// - Parameter item: The file.
    /// - Returns: Its place in the list, from 0: `BatchEvent.index`.
    /// - Throws: `BatchClosedError`; the file is not in the list then.
    @discardableResult
    public func add(_ item: BatchItem) throws(BatchClosedError) -> Int {
        try add([item]).lowerBound
    }

    /// Adds files at the end of the list, one behind the other.
    ///
    /// - Parameter items: The files.
    /// - Returns: Their places in the list, from 0: `BatchEvent.index`.
    /// - Throws: `BatchClosedError`; none of the files is in the list then.
    @discardableResult
    public func add(_ items: [BatchItem]) throws(BatchClosedError) -> Range<Int> {
        guard let places = run.add(items) else { throw BatchClosedError() }
        return places
    }

    /// Takes no more files: the batch ends when those in the list have ended.
    ///
    /// Does nothing to a batch that is closed already.
    public func close() { run.close() }

    /// Stops the batch in order: what runs is stopped and keeps what arrived, what has not begun
    /// does not begin.
    ///
    /// It takes no more files then. Returns at once.
    public func cancel() {
        run.close()
        task.cancel()
    }

    /// Waits until every file that has begun has ended, and no other can begin.
    public func wait() async { await task.value }
}

/// A batch takes no more files: it was not started with `staysOpen`, was closed or cancelled, or has ended.
public struct BatchClosedError: Error, Sendable, Hashable {}

extension DownloadBatch: Stoppable {
    /// Adds an event of the whole session's to those of the file that began first.
    func report(_ event: DownloadEvent) { run.report(event) }
}
