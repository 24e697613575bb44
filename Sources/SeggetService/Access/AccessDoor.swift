import SeggetQueue

/// Access to a queue through its worker, or to its records; changes between both when a worker
/// starts or ends meanwhile.
struct AccessDoor: QueueDoor {
    let path: String
    let patience: Double
    let note: @Sendable (String) -> Void
    /// The connection to the worker that was found first; `nil` if there was none.
    let client: QueueClient?

    func perform(_ commands: [QueueCommand]) async throws(QueueError) -> [[CommandResult]] {
        if let client {
            do throws(QueueError) {
                return try await client.perform(commands)
            } catch  where error.isUnsent {
                // Commands that were sent may have been carried out.
            }
        }
        return try await byRecords { door throws(QueueError) in try await door.perform(commands) }
    }

    func report(_ filter: TaskFilter) async throws(QueueError) -> QueueReport {
        try await by { door throws(QueueError) in try await door.report(filter) }
    }

    func detail(_ selector: String) async throws(QueueError) -> TaskDetail {
        try await by { door throws(QueueError) in try await door.detail(selector) }
    }

    func files(_ selector: String, _ window: FileWindow) async throws(QueueError) -> TaskFiles {
        try await by { door throws(QueueError) in try await door.files(selector, window) }
    }

    func links(_ filter: TaskFilter) async throws(QueueError) -> [TaskLinks] {
        try await by { door throws(QueueError) in try await door.links(filter) }
    }

    func settings() async throws(QueueError) -> QueueSettings {
        try await by { door throws(QueueError) in try await door.settings() }
    }

    func change(_ settings: QueueSettings) async throws(QueueError) {
        try await by { door throws(QueueError) in try await door.change(settings) }
    }

    /// Sends a request that may be sent twice.
    private func by<Result: Sendable>(
        _ body: (any QueueDoor) async throws(QueueError) -> Result
    ) async throws(QueueError) -> Result {
        if let client {
            do throws(QueueError) {
                return try await body(client)
            } catch  where error.code == .worker {
                // The worker may have ended.
            }
        }
        return try await byRecords(body)
    }

    /// Uses the records, or the worker that has locked them.
    private func byRecords<Result: Sendable>(
        _ body: (any QueueDoor) async throws(QueueError) -> Result
    ) async throws(QueueError) -> Result {
        do throws(QueueError) {
            return try await body(DirectDoor(path, patience: patience))
        } catch  where error.code == .hasWorker {
            let access = try await QueueAccess.open(path, patience: patience, note: note)
            do throws(QueueError) {
                let result = try await body(access.door)
                await access.client?.close()
                return result
            } catch {
                await access.client?.close()
                throw error
            }
        }
    }
}
