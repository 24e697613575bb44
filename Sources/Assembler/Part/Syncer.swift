import Glibc

/// Makes the part and its manifest durable on a separate thread, so that the loop thread never
/// waits for a disk.
///
/// The thread synchronizes every few seconds, rewrites the manifest on request, and checks every
/// second whether the part still exists.
final class Syncer: Sendable {
    private struct State {
        var stop = false
        /// Whether extents were recorded since the last synchronization.
        var isDirty = false
        /// The extents for which a new manifest is requested.
        var request: [Extent]?
        var rewrite: JournalRewrite?
        var failure: AssemblyError?
        /// The error `partGone`, reported instead of `failure`, since it is the cause.
        var loss: AssemblyError?
    }

    private enum Task: Sendable {
        case stop
        case rewrite([Extent])
    }

    /// The seconds between two synchronizations.
    static let interval = 5.0
    /// The seconds after which the kernel is asked to write new data.
    ///
    /// The next synchronization, above all the last one, then has little to wait for.
    private static let writeback = 0.5

    /// The seconds between two checks whether the part still exists.
    private static let look = 1.0

    private let monitor = Monitor(State())
    private let thread: OwnedThread

    /// Starts the thread for a part and its journal.
    ///
    /// - Parameters:
    ///   - file: The part.
    ///   - journalDescriptor: The descriptor of the manifest; must stay open until `stop` has
    ///     returned.
    ///   - journalPath: The path of the manifest, for messages.
    ///   - interval: The seconds between two synchronizations.
    ///   - look: The seconds between two checks whether the part still exists.
    ///   - forgettable: Returns the offset before which durable bytes may leave the page cache;
    ///     `nil` if all of them may stay there.
    ///   - rewrite: Writes a new manifest with the given extents to the temporary name.
    init(
        file: PartialFile, journalDescriptor: Int32, journalPath: String,
        interval: Double = Syncer.interval, look: Double = Syncer.look,
        forgettable: (@Sendable () -> Int64)? = nil,
        rewrite: @escaping @Sendable ([Extent]) throws(AssemblyError) -> JournalRewrite
    ) {
        let monitor = monitor
        thread = OwnedThread(name: "sync") {
            var due = monotonicSeconds() + interval
            var lookDue = monotonicSeconds() + look
            var watch = file.watch
            while true {
                if monotonicSeconds() >= lookDue {
                    lookDue = monotonicSeconds() + look
                    if let loss = watch.take(file.look()) { Self.note(loss, of: file, monitor) }
                }
                let patience = min(Self.writeback, max(0, min(due, lookDue) - monotonicSeconds()))
                let task = monitor.wait(timeout: patience) { state -> Task? in
                    if state.stop { return .stop }
                    defer { state.request = nil }
                    return state.request.map { .rewrite($0) }
                }
                if case .stop? = task { return }
                if case .rewrite(let request)? = task {
                    Self.keep(monitor, file) { () throws(AssemblyError) in
                        let done = try rewrite(request)
                        monitor.withLock { $0.rewrite = done }
                    }
                    continue
                }
                guard monotonicSeconds() >= due else {
                    if monitor.withLock({ $0.isDirty }) { file.startWriteback() }
                    continue
                }
                due = monotonicSeconds() + interval
                let isDirty = monitor.withLock { state in
                    defer { state.isDirty = false }
                    return state.isDirty
                }
                guard isDirty else { continue }
                // Make the data durable before the manifest that records it.
                Self.keep(monitor, file) { () throws(AssemblyError) in
                    try file.syncData()
                    if let forgettable { file.forget(upTo: forgettable()) }
                    guard fdatasync(journalDescriptor) == 0 || isUnsupported(errno: errno) else {
                        throw .io(operation: "fdatasync", path: journalPath, errno: errno)
                    }
                    // The name of a rewritten manifest is durable only after the folder is.
                    try file.folder.sync()
                }
            }
        }
    }

    /// Marks the manifest as changed since the last synchronization.
    ///
    /// - Throws: The loss of the part, or else the first error of the thread.
    func noteRecorded() throws(AssemblyError) {
        let failure = monitor.withLock { state in
            state.isDirty = true
            return state.loss ?? state.failure
        }
        if let failure { throw failure }
    }

    /// Throws if the part is lost, even if no more data arrives.
    ///
    /// - Throws: `partGone`.
    func checkPresence() throws(AssemblyError) {
        if let loss = monitor.withLock({ $0.loss }) { throw loss }
    }

    /// Requests a new manifest with `extents`.
    func requestRewrite(of extents: [Extent]) { monitor.withLock { $0.request = extents } }

    /// Returns the new manifest, once it is written.
    func takeRewrite() -> JournalRewrite? {
        monitor.withLock { state in
            defer { state.rewrite = nil }
            return state.rewrite
        }
    }

    /// Stops the thread and waits until it has ended.
    ///
    /// - Returns: The loss of the part, or else the first error of the thread. The kernel reports a
    ///   failed write only once, so the error must not be dropped.
    func stop() -> AssemblyError? {
        monitor.withLock { $0.stop = true }
        thread.join()
        if let rewrite = takeRewrite() { close(rewrite.descriptor) }
        return monitor.withLock { $0.loss ?? $0.failure }
    }

    private static func note(_ loss: PartLoss, of file: PartialFile, _ monitor: Monitor<State>) {
        monitor.withLock { $0.loss = $0.loss ?? .partGone(path: file.path, loss) }
    }

    private static func keep(
        _ monitor: Monitor<State>, _ file: PartialFile, _ body: () throws(AssemblyError) -> Void
    ) {
        do throws(AssemblyError) {
            try body()
        } catch {
            // If another call failed as well, a single check is enough.
            if let loss = file.watch.loss(in: file.look()) { note(loss, of: file, monitor) }
            monitor.withLock { $0.failure = $0.failure ?? error }
        }
    }
}
