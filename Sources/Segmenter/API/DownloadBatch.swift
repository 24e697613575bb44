import Assembler

/// One file of a batch.
public struct BatchItem: Sendable {
    /// An http or https URL.
    public var url: String
    /// The destination of the file.
    public var destination: Destination
    /// The options of the download.
    public var options: DownloadOptions

    /// Creates an item.
    public init(
        _ url: String, to destination: Destination, options: DownloadOptions = DownloadOptions()
    ) {
        self.url = url
        self.destination = destination
        self.options = options
    }
}

/// An event of one file of a batch.
public struct BatchEvent: Sendable {
    /// The kind of an event.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Kind: Sendable {
        /// The file starts, in the order of the list; carries its URL, without credentials and
        /// query.
        case begun(url: String)
        /// The download reports an event.
        case event(DownloadEvent)
        /// The file is finished, has failed, or was stopped.
        ///
        /// This is the last event of the file.
        case ended(Result<DownloadedFile, DownloadError>)
    }

    /// The index of the file in the list, from 0.
    public var index: Int
    /// The kind of the event.
    public var kind: Kind

    package init(index: Int, kind: Kind) { (self.index, self.kind) = (index, kind) }
}

/// The running download of a list of files, several at a time.
///
/// The files start in the order of the list. One failure does not stop the others, unless
/// `failFast` is set.
///
/// Two files of one folder never get the same name. If the server or the URL suggests a name that
/// an earlier file has, the later file gets a number (`big.1.iso`). Numbers follow the order of the
/// list, so they are the same in every run. If an item specifies a path that an earlier file has,
/// it fails with `DownloadError.Reason.nameTaken`. Batches of one session that run at the same time
/// share these names; single downloads do not.
///
/// A batch that was started with `staysOpen` accepts more files while it runs, and does not end
/// before ``close()``. Added files go to the end of the list. If an added item specifies the path
/// of an earlier file, it fails in the same way.
public final class DownloadBatch: Sendable {
    /// The events of the batch; the stream ends when the batch ends.
    ///
    /// The stream is for one reader, which may be slow. `begun` and `ended` events are never
    /// dropped. Progress is dropped while 256 or more events are unread, and other events are
    /// dropped from 4096 on.
    public let events: AsyncStream<BatchEvent>
    /// The same events in groups of all that are unread, which cost less each; instead of ``events``.
    package var eventGroups: AsyncStream<[BatchEvent]> { run.events.groups() }
    private let task: Task<Void, Never>
    private let run: BatchRun

    init(_ run: BatchRun, task: Task<Void, Never>) {
        events = run.events.stream()
        self.task = task
        self.run = run
    }

    /// The number of files that are in the list so far.
    public var count: Int { run.list.count }

    /// Adds a file at the end of the list.
    ///
    /// - Parameter item: The file.
    /// - Returns: The index of the file in the list, from 0: `BatchEvent.index`.
    /// - Throws: `BatchClosedError`; the file is then not added.
    @discardableResult
    public func add(_ item: BatchItem) throws(BatchClosedError) -> Int {
        try add([item]).lowerBound
    }

    /// Adds files at the end of the list, in order.
    ///
    /// - Parameter items: The files.
    /// - Returns: The indices of the files in the list, from 0 and half-open: `BatchEvent.index`.
    /// - Throws: `BatchClosedError`; none of the files is then added.
    @discardableResult
    public func add(_ items: [BatchItem]) throws(BatchClosedError) -> Range<Int> {
        guard let places = run.add(items) else { throw BatchClosedError() }
        return places
    }

    /// Accepts no more files: the batch ends when the files of the list have ended.
    ///
    /// Closing a closed batch does nothing.
    public func close() { run.close() }

    /// Stops the batch in an orderly way and returns immediately.
    ///
    /// Running files stop and keep the bytes that they received. Other files do not start. The
    /// batch accepts no more files.
    public func cancel() {
        run.close()
        task.cancel()
    }

    /// Waits until every started file has ended and no other file can start.
    public func wait() async { await task.value }
}

/// The error of adding a file to a batch that accepts no more files.
///
/// The batch was started without `staysOpen`, was closed or cancelled, or has ended.
public struct BatchClosedError: Error, Sendable, Hashable {}

extension DownloadBatch: Stoppable {
    /// Adds an event that concerns the whole session to the events of the running file that is
    /// first in the list.
    func report(_ event: DownloadEvent) { run.report(event) }
}
