import Assembler
import SegmenterTransport

/// Checks after the last byte whether the server still offers the version that was downloaded.
///
/// If a file is modified in place while its last responses are in flight, only a later request
/// shows the change. The check runs while the data is synchronized to the disk. The code that
/// publishes the file waits for the result.
final class EndCheck: Sendable {
    /// The longest time, in seconds, to connect, and the longest time without a byte.
    static let patience = 3.0

    private struct State {
        /// The contradiction in the latest response; `nil` if there is none.
        var breach: ContractBreach?
        var isOver = false
    }

    private let monitor: Monitor<State>
    /// The monotonic time in seconds until which the latest request waits for its turn.
    private let turn: Monitor<Double>
    private let task: Task<Void, Never>
    /// The seconds before each repeated request after a response that shows a change.
    private static let pauses = [0.5, 1]

    /// Starts the check.
    ///
    /// If the response shows a change, the request is repeated.
    ///
    /// - Parameters:
    ///   - turn: The monotonic time in seconds until which a request waits, because the server
    ///     counts requests. `ask` changes it.
    ///   - ask: Makes one request.
    ///   - report: Receives a notice if the last request failed.
    init(
        turn: Monitor<Double> = Monitor(0),
        _ ask: @escaping @Sendable () async -> Result<ContractBreach?, TransferFailure>,
        report: @escaping @Sendable (DownloadNotice) -> Void
    ) {
        let monitor = Monitor(State())
        self.monitor = monitor
        self.turn = turn
        task = Task {
            var answer = await ask()
            // One or two responses are not enough to reject a complete file.
            for pause in Self.pauses {
                guard case .success(let breach?) = answer else { break }
                monitor.withLock { $0.breach = breach }
                try? await Task.sleep(for: .seconds(pause))
                answer = await ask()
            }
            let (end, isCancelled) = (answer, Task.isCancelled)
            if case .failure(let failure) = end, !isCancelled { report(.endUnchecked(failure)) }
            monitor.withLock { state in
                // If the last request fails, the result of the one before remains valid.
                if case .success(let breach) = end { state.breach = breach }
                state.isOver = true
            }
        }
    }

    /// Waits for the result, and returns whether the file is unchanged.
    ///
    /// Call it on a thread that may block. After the timeout, the latest response decides; without
    /// any response, the file counts as unchanged. Time in which a request waits for its turn does
    /// not count.
    func passes() -> Bool {
        // Each request may take `patience` to connect, and as long again until a byte arrives.
        let longest = 2 * Self.patience * Double(1 + Self.pauses.count)
        var rest = longest
        while rest > 0 {
            let passes = monitor.wait(timeout: rest) { $0.isOver ? $0.breach == nil : nil }
            if let passes { return passes }
            rest = turn.withLock { $0 } + longest - monotonicSeconds()
        }
        return breach == nil
    }

    /// The difference between the offered version and the downloaded one; `nil` if there is none.
    var breach: ContractBreach? { monitor.withLock { $0.breach } }

    /// Cancels the check.
    func cancel() { task.cancel() }
}
