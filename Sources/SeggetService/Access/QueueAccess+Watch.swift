public import SeggetQueue

extension QueueAccess {
    /// The time between two reads of the records of a queue without a worker.
    private static let pause = Duration.milliseconds(250)

    /// Shows the tasks whenever they change, until it is cancelled or fails.
    ///
    /// Uses the events of the queue's worker. Without a worker, it reads the records four times a
    /// second. It switches between both when a worker starts or ends.
    ///
    /// - Parameters:
    ///   - filter: Selects the tasks. Their positions are known only if it selects all.
    ///   - show: Shows the tasks; may use the passed access until it returns.
    /// - Throws: `QueueError`, if the queue cannot be read or its worker cannot be reached; errors
    ///   of `show`, except that the worker has ended.
    public func watch(
        _ filter: TaskFilter, _ show: (QueueAccess, QueueReport) async throws -> Void
    ) async throws -> Never {
        var access = self
        while true {
            if let client = access.client {
                do {
                    for try await report in client.reports(filter, patience: .zero) {
                        try await show(access, report)
                    }
                    try Task.checkCancellation()
                } catch let error as QueueError where error.code == .worker {
                    // The worker has ended: the next turn asks its successor, if there is one.
                } catch {
                    await client.close()
                    throw error
                }
                await client.close()
            } else {
                let report = try await access.door.report(filter)
                // A worker that has just started reports the tasks itself.
                if report.worker == nil { try await show(access, report) }
                try await Task.sleep(for: Self.pause)
            }
            access = try await Self.open(path) { _ in }
        }
    }
}
