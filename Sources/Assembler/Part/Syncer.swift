import Glibc

/// Makes data and manifest durable every few seconds, rewrites the manifest when it has grown, and looks
/// every second whether the part is still there: whatever may wait for a disk and must not keep the loop
/// thread waiting.
final class Syncer: Sendable {
    private struct State {
        var stop = false
        /// Whether something was recorded since the last synchronization.
        var isDirty = false
        /// The extents to write a new manifest of.
        var request: [Extent]?
        var rewrite: JournalRewrite?
        var failure: AssemblyError?
        /// `partGone`, which says more than what failed because of that.
        var loss: AssemblyError?
    }

    private enum Task: Sendable {
        case stop
        case rewrite([Extent])
    }

    /// Seconds between two synchronizations.
    static let interval = 5.0
    /// Seconds after which the kernel is asked to write what has come, so that no synchronization,
    /// above all not the last, has much to wait for.
    private static let writeback = 0.5

    /// Seconds between two looks at the part.
    private static let look = 1.0

    private let monitor = Monitor(State())
    private let thread: OwnedThread

    /// Starts the thread for a part and its journal.
    ///
    /// - Parameters:
    ///   - file: The part.
    ///   - journalDescriptor: Stays open until `stop` has returned.
    ///   - journalPath: For messages.
    ///   - interval: Seconds between two synchronizations.
    ///   - look: Seconds between two looks at the part.
    ///   - forgettable: How far nobody will read what is durable, in bytes; `nil` where the page cache may
    ///     keep it.
    ///   - rewrite: Writes a new manifest of the given extents beside the old one.
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
                // Data before the journal that vouches for it.
                Self.keep(monitor, file) { () throws(AssemblyError) in
                    try file.syncData()
                    if let forgettable { file.forget(upTo: forgettable()) }
                    guard fdatasync(journalDescriptor) == 0 || isUnsupported(errno: errno) else {
                        throw .io(operation: "fdatasync", path: journalPath, errno: errno)
                    }
                    // A rewritten manifest has its name only when the folder is durable too.
                    try file.folder.sync()
                }
            }
        }
    }

    /// Says that something was recorded.
    ///
    /// - Throws: What failed on the thread since the last call.
    func noteRecorded() throws(AssemblyError) {
        let failure = monitor.withLock { state in
            state.isDirty = true
            return state.loss ?? state.failure
        }
        if let failure { throw failure }
    }

    /// Fails once the part is lost, also where nothing arrives any more.
    ///
    /// - Throws: `partGone`.
    func checkPresence() throws(AssemblyError) {
        if let loss = monitor.withLock({ $0.loss }) { throw loss }
    }

    /// Asks for a new manifest of `extents`.
    func requestRewrite(of extents: [Extent]) { monitor.withLock { $0.request = extents } }

    /// The new manifest, once it is written.
    func takeRewrite() -> JournalRewrite? {
        monitor.withLock { state in
            defer { state.rewrite = nil }
            return state.rewrite
        }
    }

    /// Ends the thread and waits for its end.
    ///
    /// - Returns: What failed on the thread and was not reported yet: the kernel says it only once.
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
            // With a failure beside it, one look is enough.
            if let loss = file.watch.loss(in: file.look()) { note(loss, of: file, monitor) }
            monitor.withLock { $0.failure = $0.failure ?? error }
        }
    }
}
