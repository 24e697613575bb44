import Assembler
import SegmenterTransport

/// Limits how many files of a batch are downloaded in segments at a time.
///
/// Files get places in the order in which they ask.
final class BatchGate: SegmentGate {
    private struct State {
        var count: Int
        /// Less than 0 if there are fewer places than files that have one.
        var free: Int
        var waiting: [(id: Int, answer: Answer<Bool>)] = []
        var nextID = 0
        var cancelled: Set<Int> = []
    }

    private let state: Monitor<State>

    init(_ count: Int) { state = Monitor(State(count: count, free: count)) }

    /// Changes the number of places.
    func resize(to count: Int) {
        let next = state.withLock { state in
            state.free += count - state.count
            state.count = count
            var next: [Answer<Bool>] = []
            while state.free > 0, !state.waiting.isEmpty {
                state.free -= 1
                next.append(state.waiting.removeFirst().answer)
            }
            return next
        }
        for answer in next { answer.resume(returning: true) }
    }

    /// Whether a file waits for a place.
    var isBusy: Bool { state.withLock { !$0.waiting.isEmpty } }

    /// Takes a place if one is free; returns whether it did.
    func tryEnter() -> Bool {
        state.withLock { state in
            guard state.free > 0 else { return false }
            state.free -= 1
            return true
        }
    }

    /// Waits for a place.
    ///
    /// - Returns: Whether the caller has a place; `false` after cancelling.
    func enter() async -> Bool {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        return await withTaskCancellationHandler {
            await Answer.wait { answer in
                let result = state.withLock { state -> Bool? in
                    if state.cancelled.remove(id) != nil { return false }
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    state.waiting.append((id, answer))
                    return nil
                }
                if let result { answer.resume(returning: result) }
            }
        } onCancel: {
            let answer = state.withLock { state -> Answer<Bool>? in
                guard let index = state.waiting.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return nil
                }
                return state.waiting.remove(at: index).answer
            }
            answer?.resume(returning: false)
        }
    }

    /// Releases a place.
    func leave() {
        let next = state.withLock { state -> Answer<Bool>? in
            guard !state.waiting.isEmpty, state.free >= 0 else {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst().answer
        }
        next?.resume(returning: true)
    }
}
