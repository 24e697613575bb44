import FoundationEssentials
import NIOCore
package import SeggetQueue

// The stream of events of the worker.
extension QueueClient {
    /// The time between two attempts to connect.
    private static let pause = Duration.milliseconds(100)

    /// Returns the tasks whenever they change, at most four times a second.
    ///
    /// The first report is the current state. A slow reader receives only the newest report. The
    /// stream uses a separate connection, and reconnects when that is lost. It fails when the
    /// worker has ended.
    ///
    /// - Parameters:
    ///   - filter: Selects the tasks. Their positions are known only if it selects all.
    ///   - patience: How long to wait for a worker that does not respond.
    /// - Returns: The stream, for one reader.
    package nonisolated func reports(
        _ filter: TaskFilter, patience: Duration = .seconds(2)
    ) -> AsyncThrowingStream<QueueReport, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: QueueReport.self, bufferingPolicy: .bufferingNewest(1))
        let task = Task {
            do {
                try await follow(filter, patience, continuation)
            } catch {
                continuation.finish(throwing: error)
            }
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }

    private nonisolated func follow(
        _ filter: TaskFilter, _ patience: Duration,
        _ reports: AsyncThrowingStream<QueueReport, any Error>.Continuation
    ) async throws {
        try filter.check()
        var watched = WatchedReport(filter)
        var lastID = ""
        var lost: ContinuousClock.Instant?
        while true {
            do {
                let (events, channel, version) = try await listen(filter, after: lastID)
                defer { channel.close(promise: nil) }
                for try await event in events {
                    guard try take(event, version, into: &watched) else { continue }
                    (lastID, lost) = (event.id, nil)
                    reports.yield(watched.report)
                }
                try Task.checkCancellation()
                throw unreachable("it closed the connection")
            } catch let error as QueueError where error.code == .worker && error != notUnderstood()
            {
                let since = lost ?? .now
                guard ContinuousClock.now - since < patience else { throw error }
                lost = since
                try await Task.sleep(for: Self.pause)
            } catch is NoEvents {
                throw notUnderstood()
            }
        }
    }

    /// Applies an event.
    ///
    /// - Returns: Whether the event's type is known.
    private nonisolated func take(
        _ event: ServerSentEvent, _ version: APIVersion, into watched: inout WatchedReport
    ) throws -> Bool {
        let data = version.current(event.data)
        do {
            switch event.name {
            case "snapshot":
                watched.take(try JSONDecoder().decode(QueueReport.self, from: data))
            case "changes":
                watched.take(try JSONDecoder().decode(QueueChanges.self, from: data))
            default: return false
            }
            return true
        } catch {
            throw NoEvents()
        }
    }

    /// Connects, and requests events.
    private nonisolated func listen(
        _ filter: TaskFilter, after lastID: String
    ) async throws -> (EventLine.Events, any Channel, APIVersion) {
        let (events, continuation) = EventLine.Events.makeStream()
        let (_, version) = try await connected()
        let target = filter.target(at: "/events", version)
        let channel = try await openChannel(
            until: .now + connectTime, silence: EventLine.longestSilence
        ) {
            EventLine(target, after: lastID, continuation)
        }
        return (events, channel, version)
    }
}
