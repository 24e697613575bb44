import SeggetQueue

/// Access to the records of a queue without a worker; uses the worker if one starts meanwhile.
struct RecordsDoor: QueueDoor {
    let path: String
    let patience: Double
    let note: @Sendable (String) -> Void

    func perform(_ commands: [QueueCommand]) async throws(QueueError) -> [[CommandResult]] {
        try await by { door throws(QueueError) in try await door.perform(commands) }
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

    private func by<Result: Sendable>(
        _ body: (any QueueDoor) async throws(QueueError) -> Result
    ) async throws(QueueError) -> Result {
        do throws(QueueError) {
            return try await body(DirectDoor(path, patience: patience))
        } catch  where error.code == .hasWorker {
            let door = try await QueueAccess.open(path, patience: patience, note: note).door
            do throws(QueueError) {
                let result = try await body(door)
                await (door as? QueueClient)?.close()
                return result
            } catch {
                await (door as? QueueClient)?.close()
                throw error
            }
        }
    }
}
