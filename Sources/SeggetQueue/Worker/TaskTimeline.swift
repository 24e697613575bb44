/// The events of a running task that are not recorded yet: at most 200.
struct TaskTimeline {
    /// Maximum number of events of a task.
    static let mostEvents = 200

    /// The events, the oldest first.
    private(set) var events: [TaskEvent] = []
    /// The numbers of frequent events of each kind since the last other event.
    private var counts: [String: Int] = [:]

    /// Adds an event.
    mutating func add(_ event: TaskEvent) {
        counts = [:]
        append(event)
    }

    /// Adds an event of a frequent kind, which replaces the previous one of its kind and has their
    /// number, so that no other event is lost.
    mutating func addFrequent(_ event: TaskEvent) {
        let count = counts[event.event, default: 0] + 1
        counts[event.event] = count
        var event = event
        if count > 1, let index = events.lastIndex(where: { $0.event == event.event }) {
            events.remove(at: index)
            event.message += " (so \(count) times)"
        }
        append(event)
    }

    private mutating func append(_ event: TaskEvent) {
        events.append(event)
        if events.count > Self.mostEvents { events.removeFirst() }
    }
}
