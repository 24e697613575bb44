import Assembler
import CCurl

/// What other threads have the loop thread do, in the order in which they send it.
///
/// May be used from any thread.
final class Mailbox: Sendable {
    typealias Message = @Sendable (Worker) -> Void

    private struct State {
        var messages: [Message] = []
        /// The multi handle as a number, while it may be woken.
        var multi: UInt?
    }

    private let state: Monitor<State>

    /// Takes messages for the loop that polls a multi handle.
    init(multi: CURLM) { state = Monitor(State(multi: UInt(bitPattern: multi))) }

    /// Has `message` run on the loop thread, after what was sent before it.
    ///
    /// - Returns: Whether it will be run: not after `close`.
    @discardableResult
    func send(_ message: @escaping Message) -> Bool {
        state.withLock { state in
            guard let multi = state.multi.flatMap({ CURLM(bitPattern: $0) }) else { return false }
            // The loop takes all that there are: who finds others there need not wake it again.
            let isFirst = state.messages.isEmpty
            state.messages.append(message)
            if isFirst { curl_multi_wakeup(multi) }
            return true
        }
    }

    /// Takes the messages that have come.
    func take() -> [Message] {
        state.withLock { state in
            defer { state.messages = [] }
            return state.messages
        }
    }

    /// Takes the last messages: from here on none is accepted, and nobody wakes the handle any more.
    func close() -> [Message] {
        state.withLock { state in
            state.multi = nil
            defer { state.messages = [] }
            return state.messages
        }
    }
}
