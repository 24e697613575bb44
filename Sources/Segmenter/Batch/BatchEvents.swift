import Assembler
import SegmenterTransport

/// The queue of events between a batch and the reader of its stream.
///
/// Writers never wait. If too many events are unread, progress and other events are dropped, but
/// never `begun` and `ended`.
final class BatchEvents: Sendable {
    /// The number of unread events from which progress is dropped.
    static let progressLimit = 256
    /// The number of unread events from which all events but `begun` and `ended` are dropped.
    static let limit = 4096
    /// The shortest time between two wake-ups of the reader, in seconds; events are read in groups.
    static let rest = 0.005

    private struct State {
        var incoming: [BatchEvent] = []
        /// Events in reverse order: the next one is last.
        var outgoing: [BatchEvent] = []
        var reader: Answer<BatchEvent?>?
        /// The monotonic time at which the reader last had to wait.
        var lastWait = -Double.infinity
        var isOver = false
        var isAbandoned = false

        mutating func take() -> BatchEvent? {
            if outgoing.isEmpty {
                outgoing = incoming.reversed()
                incoming = []
            }
            return outgoing.popLast()
        }

        mutating func takeAll() -> [BatchEvent] {
            defer { (outgoing, incoming) = ([], []) }
            return outgoing.isEmpty ? incoming : outgoing.reversed() + incoming
        }
    }

    private let state = Monitor(State())

    /// Adds an event, or passes it to a waiting reader.
    func offer(_ event: BatchEvent) {
        let reader = state.withLock { state -> Answer<BatchEvent?>? in
            guard !state.isAbandoned else { return nil }
            if let reader = state.reader {
                state.reader = nil
                return reader
            }
            let waiting = state.incoming.count + state.outgoing.count
            if waiting < Self.room(for: event.kind) { state.incoming.append(event) }
            return nil
        }
        reader?.resume(returning: event)
    }

    /// Ends the stream after the unread events.
    func finish() {
        let reader = state.withLock { state -> Answer<BatchEvent?>? in
            state.isOver = true
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: nil)
    }

    /// Returns the stream of events, for one reader.
    func stream() -> AsyncStream<BatchEvent> {
        AsyncStream {
            await self.next()
        } onCancel: {
            self.abandon()
        }
    }

    /// Returns the stream of events in groups of all that are unread, for one reader.
    func groups() -> AsyncStream<[BatchEvent]> {
        AsyncStream {
            guard let first = await self.next() else { return nil }
            return [first] + self.state.withLock { $0.takeAll() }
        } onCancel: {
            self.abandon()
        }
    }

    private func next() async -> BatchEvent? {
        if let event = state.withLock({ $0.take() }) { return event }
        let rest = state.withLock { state in
            state.isOver ? 0 : state.lastWait + Self.rest - monotonicSeconds()
        }
        if rest > 0 { try? await Task.sleep(for: .seconds(rest)) }
        return await Answer.wait { answer in
            let event = state.withLock { state -> BatchEvent?? in
                if let event = state.take() { return .some(event) }
                if state.isOver || state.isAbandoned { return .some(nil) }
                state.reader = answer
                state.lastWait = monotonicSeconds()
                return nil
            }
            if let event { answer.resume(returning: event) }
        }
    }

    /// Drops all unread and later events, because the reader has cancelled.
    private func abandon() {
        let reader = state.withLock { state -> Answer<BatchEvent?>? in
            state.isAbandoned = true
            state.incoming = []
            state.outgoing = []
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: nil)
    }

    private static func room(for kind: BatchEvent.Kind) -> Int {
        switch kind {
        case .begun, .ended: .max
        case .event(.progress): progressLimit
        case .event: limit
        }
    }
}
