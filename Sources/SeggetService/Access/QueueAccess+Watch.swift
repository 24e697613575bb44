public import SeggetQueue

extension QueueAccess {
    /// Time between two looks at the records of a queue that nobody works.
    private static let pause = Duration.milliseconds(250)

    /// Shows how the tasks are, whenever that changes.
    ///
    /// It goes by the events of whoever works the queue, or else by its records, which are looked at four times a
    /// second; and from one to the other when a worker ends or begins.
    ///
    /// - Parameters:
    ///   - filter: Which tasks. Their places in the order are told only where it lets all pass.
    ///   - show: Shows them; it may use the way that it gets until it returns.
    /// - Throws: `QueueError`, when the queue cannot be read or its worker not be reached; what `show` throws, but for
    ///   that the worker is gone.
    public func watch(
        _ filter: TaskFilter, _ show: (QueueAccess, QueueReport) async throws -> Void
    ) async throws -> Never {
        var access = self
        while true {
            if let client = access.door as? QueueClient {
                do {
                    for try await report in client.reports(filter, patience: .zero) {
                        try await show(access, report)
                    }
                    try Task.checkCancellation()
                } catch let error as QueueError where error.code == .worker {
                    // Where another one has begun, that one is asked.
                } catch {
                    await client.close()
                    throw error
                }
                await client.close()
            } else {
                let report = try await access.door.report(filter)
                // A worker that has begun meanwhile tells how far it is.
                if report.worker == nil { try await show(access, report) }
                try await Task.sleep(for: Self.pause)
            }
            access = try await Self.open(path) { _ in }
        }
    }
}
