import FoundationEssentials
import NIOCore
package import SeggetQueue

// What happens, as the worker tells it.
extension QueueClient {
    /// Time between two attempts to connect.
    private static let pause = Duration.milliseconds(100)

    /// How the tasks are, whenever that changes, at most four times a second.
    ///
    /// It begins with what is so now, keeps the newest only for a slow reader, and has a connection of its own, which
    /// is made anew when it is lost. It ends with an error when the worker is gone.
    ///
    /// - Parameters:
    ///   - filter: Which tasks. Their places in the order are told only where it lets all pass.
    ///   - patience: How long a worker that is gone is waited for.
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

    /// Takes an event.
    ///
    /// - Returns: Whether it is one that is known.
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

    /// Connects, and asks for events.
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
