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
        // Commands that were sent may have been carried out.
        try await by({ $0.isUnsent }) { door throws(QueueError) in
            try await door.perform(commands)
        }
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

    /// Uses the worker, or the records; if the worker has ended, or another one has started, opens the
    /// queue once more.
    ///
    /// - Parameters:
    ///   - mayRepeat: Whether the request may be sent again after an error of the worker.
    ///   - body: Sends the request.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`, or that the queue cannot be opened.
    private func by<Result: Sendable>(
        _ mayRepeat: (QueueError) -> Bool = { $0.code == .worker },
        _ body: (any QueueDoor) async throws(QueueError) -> Result
    ) async throws(QueueError) -> Result {
        let records = DirectDoor(path, patience: patience)
        do throws(QueueError) {
            return try await body(client ?? records)
        } catch  where client == nil ? error.code == .hasWorker : mayRepeat(error) {
            let access = try await QueueAccess.open(path, patience: patience, note: note)
            do throws(QueueError) {
                let result = try await body(access.client ?? records)
                await access.client?.close()
                return result
            } catch {
                await access.client?.close()
                throw error
            }
        }
    }
}
