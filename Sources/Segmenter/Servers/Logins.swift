import Assembler

/// Has the first file of a run that a server redirects follow the redirect, while the others wait for its cookies.
///
/// A redirect may lead to a login, whose cookie opens all files of the server: one login is enough for all.
/// May be used from any thread.
final class Logins: Sendable {
    /// What a file that was redirected does.
    enum Turn: Sendable, Hashable {
        /// It follows the redirect, and calls `settle` where its redirects end.
        case first
        /// It follows the redirect.
        case later
        /// The first one has arrived since its request went out.
        case waited
    }

    private struct Origin {
        /// When the first one had arrived; `nil` until then.
        var settled: Double?
        var waiting: [Int: Answer<Turn>] = [:]
    }

    private struct State {
        var origins: [String: Origin] = [:]
        var lastNumber = 0
    }

    private let state = Monitor(State())

    /// Takes a redirect by an origin, and waits while the first one is on its way.
    ///
    /// - Parameters:
    ///   - origin: Who has answered.
    ///   - began: When the request went out, on the monotonic clock.
    /// - Returns: What is to be done; `waited` when the task was cancelled.
    func turn(at origin: String, began: Double) async -> Turn {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return await withTaskCancellationHandler {
            await Answer<Turn>.wait { answer in
                let turn = state.withLock { state in
                    Self.turn(&state, origin, began: began) { $0.waiting[number] = answer }
                }
                if let turn { answer.resume(returning: turn) }
            }
        } onCancel: {
            let waiting = state.withLock {
                $0.origins[origin]?.waiting.removeValue(forKey: number)
            }
            waiting?.resume(returning: .waited)
        }
    }

    private static func turn(
        _ state: inout State, _ origin: String, began: Double, wait: (inout Origin) -> Void
    ) -> Turn? {
        guard var known = state.origins[origin] else {
            state.origins[origin] = Origin()
            return .first
        }
        if let settled = known.settled { return began < settled ? .waited : .later }
        // Nobody would wake it.
        guard !Task.isCancelled else { return .waited }
        wait(&known)
        state.origins[origin] = known
        return nil
    }

    /// The first one has arrived, or failed: nobody waits any more.
    func settle(_ origin: String) {
        let waiting = state.withLock { state in
            let waiting = state.origins[origin]?.waiting ?? [:]
            state.origins[origin] = Origin(settled: monotonicSeconds())
            return waiting.values
        }
        for answer in waiting { answer.resume(returning: .waited) }
    }
}
