import Assembler

/// Asks once more, after the last byte, whether the file is still the version that was fetched.
///
/// A file that is written into in place while its last replies run shows that to no later request, unless
/// one is made. It is asked while the data is synchronized, and waited for by whoever is about to give the
/// file its name.
final class EndCheck: Sendable {
    /// Seconds that an answer may take.
    static let patience = 3.0

    private struct State {
        /// What the last answer contradicts.
        var breach: ContractBreach?
        var isOver = false
    }

    private let monitor: Monitor<State>
    private let task: Task<Void, Never>
    /// Seconds before it is asked again, where the answer is that it changed.
    private static let pauses = [0.5, 1]

    /// Asks, and again where the answer is that it changed; `report` takes why that failed, if it
    /// did.
    init(
        _ ask: @escaping @Sendable () async -> Result<ContractBreach?, TransferFailure>,
        report: @escaping @Sendable (DownloadNotice) -> Void
    ) {
        let monitor = Monitor(State())
        self.monitor = monitor
        task = Task {
            var answer = await ask()
            // Not for a reply or two is a whole file doubted.
            for pause in Self.pauses {
                guard case .success(let breach?) = answer else { break }
                monitor.withLock { $0.breach = breach }
                try? await Task.sleep(for: .seconds(pause))
                answer = await ask()
            }
            let (end, isCancelled) = (answer, Task.isCancelled)
            if case .failure(let failure) = end, !isCancelled { report(.endUnchecked(failure)) }
            monitor.withLock { state in
                // That there is no answer any more takes nothing back.
                if case .success(let breach) = end { state.breach = breach }
                state.isOver = true
            }
        }
    }

    /// Waits for the answer, on a thread that may block, and says whether nothing contradicts.
    ///
    /// Without an answer in time, nothing does.
    func passes() -> Bool {
        // Each request ends by itself within its patience, connecting aside.
        let longest = 2 * Self.patience * Double(1 + Self.pauses.count)
        return monitor.wait(timeout: longest) { $0.isOver ? $0.breach == nil : nil }
            ?? (breach == nil)
    }

    /// How the version that is offered now differs from the one that was fetched, if it does.
    var breach: ContractBreach? { monitor.withLock { $0.breach } }

    /// Stops asking; nobody waits any more.
    func cancel() { task.cancel() }
}
