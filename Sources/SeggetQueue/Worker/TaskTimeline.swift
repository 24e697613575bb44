/// What has happened to a task that is being fetched, and is not recorded yet: at most 200 events.
struct TaskTimeline {
    /// The most that is kept of a task.
    static let mostEvents = 200

    /// The events, the oldest first.
    private(set) var events: [TaskEvent] = []
    /// How often something frequent has happened since anything else has.
    private var counts: [String: Int] = [:]

    /// Adds an event.
    mutating func add(_ event: TaskEvent) {
        counts = [:]
        append(event)
    }

    /// Adds an event of a kind of which there may be one a moment: it takes the place of the one before it, and says
    /// how many there were, so that no other is lost for it.
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
