import Synchronization

/// Limits how many long responses the service builds at a time.
///
/// Each takes memory and processor time in proportion to the number of tasks. Waiting requests are
/// admitted in order of arrival. Any thread may use it.
final class AnswerGate: Sendable {
    /// The gate of this process.
    static let shared = AnswerGate(most: 4)

    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    /// Creates a gate that admits at most `most` calls at a time.
    init(most: Int) { state = Mutex(State(free: most)) }

    /// Runs `body` as soon as the gate admits it.
    func pass<Answer, Failure: Error>(
        _ body: () async throws(Failure) -> Answer
    ) async throws(Failure) -> Answer {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.free == 0 else {
                    state.free -= 1
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
        defer {
            let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
                guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
                state.free += 1
                return nil
            }
            next?.resume()
        }
        return try await body()
    }
}
