/// Whoever is told of what happens to a queue: each has a stream of its own, and the newest only.
///
/// A slow one misses what it was too slow for, and holds up nobody.
struct Subscribers {
    /// Events that wait for a slow subscriber; older ones are dropped first.
    static let mostEvents = 256

    private var snapshots: [UInt64: AsyncStream<QueueView>.Continuation] = [:]
    private var events: [UInt64: AsyncStream<QueueEvent>.Continuation] = [:]
    private var observers: [UInt64: Observer] = [:]
    private var next: UInt64 = 0

    /// Whether nobody wants snapshots.
    var isEmpty: Bool { snapshots.isEmpty }

    /// Whether somebody wants events.
    var wantsEvents: Bool { !events.isEmpty }

    /// Adds one who wants snapshots.
    mutating func add(_ continuation: AsyncStream<QueueView>.Continuation) -> UInt64 {
        next += 1
        snapshots[next] = continuation
        return next
    }

    /// Adds one who wants events.
    mutating func add(_ continuation: AsyncStream<QueueEvent>.Continuation) -> UInt64 {
        next += 1
        events[next] = continuation
        return next
    }

    /// Adds one who asks which tasks have changed, and is told when there is something to ask for.
    mutating func add(_ bell: @escaping @Sendable () -> Void) -> UInt64 {
        next += 1
        observers[next] = Observer(bell: bell)
        return next
    }

    /// Forgets one.
    mutating func remove(_ number: UInt64) {
        observers[number] = nil
        snapshots[number] = nil
        events[number] = nil
    }

    /// Tells how far everything is.
    func tell(_ snapshot: QueueView) {
        for continuation in snapshots.values { continuation.yield(snapshot) }
    }

    /// Tells of an event.
    func tell(_ event: QueueEvent) {
        for continuation in events.values { continuation.yield(event) }
    }

    /// Notes that tasks may have changed.
    mutating func touch(_ ids: Set<QueueTask.ID>) {
        guard !ids.isEmpty else { return }
        for number in observers.keys { observers[number]?.touch(ids) }
    }

    /// The tasks that may have changed since an observer last asked; `nil` when they are too many
    /// to be named, or when there is no such observer.
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

/// One who asks which tasks have changed.
private struct Observer {
    /// Most tasks that are named.
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
