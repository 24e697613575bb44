import FoundationEssentials
import SeggetQueue

/// Finds out what listeners are to be told.
struct EventSource: Sendable {
    let feed: any QueueFeed

    /// An answer to a question: bytes, `nil` where nothing is to be told.
    typealias Answer = (bytes: Data?, known: Audience.Known)

    /// Answers a question.
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
        // Whoever comes back with a filter is told of all that does not pass any more, whether it knew it or not.
        let isFiltered = question.filter != TaskFilter()
        let all =
            isFiltered && question.known.tasks == nil
            ? try await feed.ids(question.filter) : nil
        let (changes, known) = question.changes(reports, all: all)
        guard let changes else { return (nil, known) }
        return (EventText.event("changes", question.id, try JSON.write(changes)), known)
    }
}
