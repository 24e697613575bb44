import FoundationEssentials
import SeggetQueue

/// Builds the events of listeners from the state of a queue.
struct EventSource: Sendable {
    let feed: any QueueFeed

    /// The event's bytes, `nil` if there is none, and the state that the listener then knows.
    typealias Answer = (bytes: Data?, known: Audience.Known)

    /// Builds the event of a group of listeners.
    ///
    /// - Throws: `QueueError`.
    func answer(_ question: Audience.Question) async throws(QueueError) -> Answer {
        guard let changed = question.changed else {
            let report = try await feed.report(question.filter)
            let bytes = EventText.event("snapshot", question.id, try JSON.write(report))
            return (bytes, question.known(report))
        }
        let reports = try await feed.reports(
            of: changed.union(question.running), question.filter)
        // A client that reconnects with a filter has unknown tasks: report all that do not pass.
        let isFiltered = question.filter != TaskFilter()
        let all =
            isFiltered && question.known.tasks == nil
            ? try await feed.ids(question.filter) : nil
        let (changes, known) = question.changes(reports, all: all)
        guard let changes else { return (nil, known) }
        return (EventText.event("changes", question.id, try JSON.write(changes)), known)
    }
}
