import Glibc

/// Appends records to a ledger on a thread of its own, in groups.
///
/// The records that arrive while a group is being written, or within a few milliseconds after the
/// first, form the next one. Any thread may use it.
package final class LedgerWriter: Sendable {
    /// Makes a record, on the writer's thread; `nil` if there is nothing to record after all.
    package typealias Making = @Sendable () throws(AssemblyError) -> LedgerRecord?

    private struct State {
        var waiting: [Making] = []
        var thread: OwnedThread?
        var isOver = false
        var problem: AssemblyError?
    }

    /// The seconds after which written records are made durable.
    ///
    /// A file whose record a power cut destroys is read again, not downloaded again.
    private static let syncInterval = 5.0

    /// The seconds for which the first record of a group waits for others.
    private static let rest = 0.005

    private let ledger: LedgerFile
    /// Whether no more records follow.
    private let isClosed = Monitor(false)
    private let state = Monitor(State())

    package init(_ ledger: LedgerFile) { self.ledger = ledger }

    /// Adds a record to the queue; never blocks.
    package func add(_ make: @escaping Making) {
        state.withLock { state in
            state.waiting.append(make)
            guard state.thread == nil else { return }
            state.thread = OwnedThread(name: "ledger") { [self] in run() }
        }
    }

    /// Writes the queued records durably and ends the thread; blocks.
    ///
    /// - Returns: The first error of a record that was not written.
    package func finish() -> AssemblyError? {
        let thread = state.withLock { state in
            state.isOver = true
            defer { state.thread = nil }
            return state.thread
        }
        isClosed.withLock { $0 = true }
        thread?.join()
        return state.withLock { $0.problem }
    }

    private func run() {
        var lastSync = monotonicSeconds()
        while true {
            let isAlive: Bool? = state.wait { state in
                state.waiting.isEmpty ? (state.isOver ? false : nil) : true
            }
            // Each record would otherwise wake this thread.
            if isAlive == true { _ = isClosed.wait(timeout: Self.rest) { $0 ? true : nil } }
            let group = state.withLock { state in
                defer { state.waiting = [] }
                return state.waiting
            }
            let records = group.compactMap(made)
            do throws(AssemblyError) {
                if !records.isEmpty { try ledger.append(records) }
                let isLast = group.isEmpty
                if isLast || monotonicSeconds() - lastSync >= Self.syncInterval {
                    try ledger.synchronize()
                    lastSync = monotonicSeconds()
                }
                if isLast { return }
            } catch {
                note(error)
                if group.isEmpty { return }
            }
        }
    }

    private func made(_ make: Making) -> LedgerRecord? {
        do throws(AssemblyError) { return try make() } catch {
            note(error)
            return nil
        }
    }

    private func note(_ error: AssemblyError) {
        state.withLock { $0.problem = $0.problem ?? error }
    }
}
