/// The subscribers of a queue; each has a separate stream, which keeps only the newest values.
///
/// A slow subscriber misses older values, and does not delay others.
struct Subscribers {
    /// Maximum number of events that wait for a slow subscriber; older ones are dropped first.
    static let mostEvents = 256

    private var snapshots: [UInt64: AsyncStream<QueueView>.Continuation] = [:]
    private var events: [UInt64: AsyncStream<QueueEvent>.Continuation] = [:]
    private var observers: [UInt64: Observer] = [:]
    private var next: UInt64 = 0

    /// Whether there are no subscribers of views.
    var isEmpty: Bool { snapshots.isEmpty }

    /// Whether there are subscribers of events.
    var wantsEvents: Bool { !events.isEmpty }

    /// Adds a subscriber of views.
    mutating func add(_ continuation: AsyncStream<QueueView>.Continuation) -> UInt64 {
        next += 1
        snapshots[next] = continuation
        return next
    }

    /// Adds a subscriber of events.
    mutating func add(_ continuation: AsyncStream<QueueEvent>.Continuation) -> UInt64 {
        next += 1
        events[next] = continuation
        return next
    }

    /// Adds an observer of changed tasks; `bell` is called when there are changes to read.
    mutating func add(_ bell: @escaping @Sendable () -> Void) -> UInt64 {
        next += 1
        observers[next] = Observer(bell: bell)
        return next
    }

    /// Removes a subscriber or observer.
    mutating func remove(_ number: UInt64) {
        observers[number] = nil
        snapshots[number] = nil
        events[number] = nil
    }

    /// Sends a view.
    func tell(_ snapshot: QueueView) {
        for continuation in snapshots.values { continuation.yield(snapshot) }
    }

    /// Sends an event.
    func tell(_ event: QueueEvent) {
        for continuation in events.values { continuation.yield(event) }
    }

    /// Notes that tasks may have changed.
    mutating func touch(_ ids: Set<QueueTask.ID>) {
        guard !ids.isEmpty else { return }
        for number in observers.keys { observers[number]?.touch(ids) }
    }

    /// Returns the tasks that may have changed since an observer last asked; `nil` if they are too
    /// many to be named, or there is no such observer.
    mutating func takeTouched(_ number: UInt64) -> Set<QueueTask.ID>? {
        observers[number]?.take()
    }

    /// Ends all streams.
    mutating func finish() {
        for continuation in snapshots.values { continuation.finish() }
        for continuation in events.values { continuation.finish() }
        (snapshots, events) = ([:], [:])
    }
}

/// An observer of changed tasks.
private struct Observer {
    /// Maximum number of tasks that are named.
    private static let most = 16_384

    let bell: @Sendable () -> Void
    private var touched: Set<QueueTask.ID>? = []
    private var isRung = false

    init(bell: @escaping @Sendable () -> Void) { self.bell = bell }

    mutating func touch(_ ids: Set<QueueTask.ID>) {
        touched?.formUnion(ids)
        if let count = touched?.count, count > Self.most { touched = nil }
        guard !isRung else { return }
        isRung = true
        bell()
    }

    mutating func take() -> Set<QueueTask.ID>? {
        defer { (touched, isRung) = ([], false) }
        return touched
    }
}
