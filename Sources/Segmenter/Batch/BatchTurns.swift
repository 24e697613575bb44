import Assembler
import SegmenterTransport

/// Lets the files of a batch choose their names in the order of the list, independent of timing.
///
/// A file is *settled* when no later file has to wait for its name.
final class BatchTurns: Sendable {
    private struct State {
        /// All files before this index are settled.
        var front = 0
        /// The indices of settled files at or after `front`.
        var settled: Set<Int> = []
        var waiting: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Monitor(State())

    /// Waits until all files before this one are settled.
    ///
    /// Cancelling does not end the wait; it ends because the earlier files then end too.
    func wait(_ index: Int) async {
        await Answer<Void>.wait { answer in whenDue(index) { answer.resume(returning: ()) } }
    }

    /// Calls `body` once all files before this one are settled.
    ///
    /// The call is made immediately, or by the call of `settle` that settles the last of them.
    func whenDue(_ index: Int, _ body: @escaping @Sendable () -> Void) {
        let isDue = state.withLock { state in
            guard state.front < index else { return true }
            state.waiting[index] = body
            return false
        }
        if isDue { body() }
    }

    /// Settles a file: it has its name or has failed, or its server does not respond.
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
