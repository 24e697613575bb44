import CCurl

/// The queue of messages that other threads send to the loop thread, which runs them in order.
///
/// May be used from any thread.
final class Mailbox: Sendable {
    typealias Message = @Sendable (Worker) -> Void

    private struct State {
        var messages: [Message] = []
        /// The address of the multi handle; `nil` after `close`, when it must not be woken.
        var multi: UInt?
    }

    private let state: Monitor<State>

    /// Creates the mailbox of the loop that polls `multi`.
    init(multi: CURLM) { state = Monitor(State(multi: UInt(bitPattern: multi))) }

    /// Queues `message` to run on the loop thread after all earlier messages.
    ///
    /// - Returns: Whether the message will run; `false` after `close`.
    @discardableResult
    func send(_ message: @escaping Message) -> Bool {
        state.withLock { state in
            guard let multi = state.multi.flatMap({ CURLM(bitPattern: $0) }) else { return false }
            // The loop takes all messages together, and is already woken if there are others.
            let isFirst = state.messages.isEmpty
            state.messages.append(message)
            if isFirst { curl_multi_wakeup(multi) }
            return true
        }
    }

    /// Removes and returns the waiting messages.
    func take() -> [Message] {
        state.withLock { state in
            defer { state.messages = [] }
            return state.messages
        }
    }

    /// Removes and returns the waiting messages, and refuses all later ones.
    ///
    /// The multi handle is not woken after this call.
    func close() -> [Message] {
        state.withLock { state in
            state.multi = nil
            defer { state.messages = [] }
            return state.messages
        }
    }
}
