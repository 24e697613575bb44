import Assembler

/// Lets the files of a batch choose their names in the order of the list, whatever the timing.
final class BatchTurns: Sendable {
    private struct State {
        /// All before it are settled.
        var front = 0
        /// Those behind the front that are settled.
        var settled: Set<Int> = []
        var waiting: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Monitor(State())

    /// Waits until all files before this one have settled.
    ///
    /// Returns after cancelling too, because those before it then end.
    func wait(_ index: Int) async {
        await Answer<Void>.wait { answer in whenDue(index) { answer.resume(returning: ()) } }
    }

    /// Calls `body` once all files before this one have settled: here, or where the last of them does.
    func whenDue(_ index: Int, _ body: @escaping @Sendable () -> Void) {
        let isDue = state.withLock { state in
            guard state.front < index else { return true }
            state.waiting[index] = body
            return false
        }
        if isDue { body() }
    }

    /// Notes that nobody has to wait for this file any more: it has its name, or failed, or its
    /// server does not answer.
    func settle(_ index: Int) {
        let due = state.withLock { state in
            guard index >= state.front else { return [@Sendable () -> Void]() }
            state.settled.insert(index)
            var due: [@Sendable () -> Void] = []
            while state.settled.remove(state.front) != nil {
                state.front += 1
                if let body = state.waiting.removeValue(forKey: state.front) { due.append(body) }
            }
            return due
        }
        for body in due { body() }
    }
}
