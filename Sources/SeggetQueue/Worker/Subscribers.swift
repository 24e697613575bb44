/// Whoever is told of what happens to a queue: each has a stream of its own, and the newest only.
///
/// A slow one misses what it was too slow for, and holds up nobody.
struct Subscribers {
    /// Events that wait for a slow subscriber; older ones are dropped first.
    static let mostEvents = 256

    private var snapshots: [UInt64: AsyncStream<QueueSnapshot>.Continuation] = [:]
    private var events: [UInt64: AsyncStream<QueueEvent>.Continuation] = [:]
    private var next: UInt64 = 0

    /// Whether nobody wants snapshots.
    var isEmpty: Bool { snapshots.isEmpty }

    /// Whether somebody wants events.
    var wantsEvents: Bool { !events.isEmpty }

    /// Adds one who wants snapshots.
    mutating func add(_ continuation: AsyncStream<QueueSnapshot>.Continuation) -> UInt64 {
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

    /// Forgets one.
    mutating func remove(_ number: UInt64) {
        snapshots[number] = nil
        events[number] = nil
    }

    /// Tells how far everything is.
    func tell(_ snapshot: QueueSnapshot) {
        for continuation in snapshots.values { continuation.yield(snapshot) }
    }

    /// Tells of an event.
    func tell(_ event: QueueEvent) {
        for continuation in events.values { continuation.yield(event) }
    }

    /// Ends all streams.
    mutating func finish() {
        for continuation in snapshots.values { continuation.finish() }
        for continuation in events.values { continuation.finish() }
        (snapshots, events) = ([:], [:])
    }
}
