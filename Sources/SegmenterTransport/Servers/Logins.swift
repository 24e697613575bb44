/// Lets the first redirected file of a run follow its redirect, while the others wait for its
/// cookies.
///
/// A redirect may lead to a login whose cookie opens all files of the server, so one login is
/// enough for all. May be used from any thread.
package final class Logins: Sendable {
    /// The action of a file whose request was redirected.
    package enum Turn: Sendable, Hashable {
        /// Follow the redirect, and call `settle` after the last one.
        case first
        /// Follow the redirect.
        case later
        /// Repeat the request, if cookies were set.
        ///
        /// The first file has completed its redirects since this request was sent.
        case waited
    }

    private struct Origin {
        /// The time at which the first file had completed its redirects; `nil` until then.
        var settled: Double?
        var waiting: [Int: Answer<Turn>] = [:]
    }

    private struct State {
        var origins: [String: Origin] = [:]
        var lastNumber = 0
    }

    private let state = Monitor(State())

    /// Returns what to do about a redirect by an origin; waits while the first file follows its
    /// redirect.
    ///
    /// - Parameters:
    ///   - origin: The origin that sent the redirect.
    ///   - began: The time at which the request was sent, on the monotonic clock.
    /// - Returns: The action to take; `waited` if the task was cancelled.
    package func turn(at origin: String, began: Double) async -> Turn {
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
        // The cancellation handler has already run, and would not resume this answer.
        guard !Task.isCancelled else { return .waited }
        wait(&known)
        state.origins[origin] = known
        return nil
    }

    /// Wakes all waiting files, after the first one has completed its redirects or failed.
    package func settle(_ origin: String) {
        let waiting = state.withLock { state in
            let waiting = state.origins[origin]?.waiting ?? [:]
            state.origins[origin] = Origin(settled: monotonicSeconds())
            return waiting.values
        }
        for answer in waiting { answer.resume(returning: .waited) }
    }
}
