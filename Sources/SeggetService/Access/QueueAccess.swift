// Access: how a command finds the queue: its worker over a socket, or its records. It knows both ways; it never
// knows what a command wants.

import Glibc
public import SeggetQueue
public import Segmenter

/// A queue as a command has it: by whoever works it, or else by its records.
public struct QueueAccess: Sendable {
    /// By which the queue is told what to do.
    public let door: any QueueDoor
    /// The process that works it; `nil` when none does.
    public let worker: Int32?
    let path: String

    /// Finds the way to a queue.
    ///
    /// - Parameters:
    ///   - path: The queue's file.
    ///   - service: Path of the socket by which a service manager starts a worker of the queue; `nil` for none.
    ///   - patience: Seconds that a process that has the queue is waited for, until it answers or lets go.
    ///   - note: Told, in a line, when the worker is of another version.
    /// - Returns: The way.
    /// - Throws: `QueueError`, when a worker has it and cannot be reached.
    public static func open(
        _ path: String, service: String? = nil, patience: Double = 5,
        note: @escaping @Sendable (String) -> Void
    ) async throws(QueueError) -> QueueAccess {
        let files = QueueFiles(path)
        let deadline = ContinuousClock.now + .seconds(patience)
        while let holder = try QueueLock.holder(files) {
            do throws(QueueError) {
                let client = try await client(of: holder, until: deadline, note)
                return QueueAccess(door: client, worker: holder.pid, path: path)
            } catch {
                // It may have ended meanwhile, and another one have begun.
                guard ContinuousClock.now < deadline else { throw error }
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
        if let service, let access = try await start(service, path, patience, note) {
            return access
        }
        let door = RecordsDoor(path: path, patience: patience, note: note)
        return QueueAccess(door: door, worker: nil, path: path)
    }

    /// Has a service manager start a worker.
    ///
    /// - Returns: The way; `nil` where nobody listens, or it is the worker of another queue.
    private static func start(
        _ service: String, _ path: String, _ patience: Double,
        _ note: @escaping @Sendable (String) -> Void
    ) async throws(QueueError) -> QueueAccess? {
        guard Glibc.access(service, R_OK | W_OK) == 0 else { return nil }
        let client = QueueClient(
            path: service, connectTime: .seconds(patience), tellOtherVersion: note)
        let worker = try? await client.health().worker
        if let worker, try QueueLock.holder(QueueFiles(path))?.pid == worker {
            return QueueAccess(door: client, worker: worker, path: path)
        }
        await client.close()
        return nil
    }

    /// Reaches a worker.
    private static func client(
        of holder: QueueLock.Holder, until deadline: ContinuousClock.Instant,
        _ note: @escaping @Sendable (String) -> Void
    ) async throws(QueueError) -> QueueClient {
        guard let socket = holder.socket else {
            throw QueueError(
                .busy, "process \(holder.pid) has locked the queue and does not answer",
                hint: "`ps \(holder.pid)` shows the process")
        }
        // A second at least, which is also the time for connecting anew later.
        let client = QueueClient(
            path: socket, connectTime: max(.seconds(1), deadline - ContinuousClock.now),
            tellOtherVersion: note)
        do throws(QueueError) {
            _ = try await client.health()
            return client
        } catch {
            await client.close()
            throw error
        }
    }

    /// Tells of tasks: the records, which anybody may read, with what the worker knows of those that it fetches.
    public func report(_ filter: TaskFilter) async throws(QueueError) -> QueueReport {
        guard let worker else { return try await door.report(filter) }
        // Only the worker of an earlier version reads its records.
        if let client = door as? QueueClient, try await !client.isCurrent() {
            return try await door.report(filter)
        }
        var report = try await DirectDoor(path).report(filter)
        report.worker = worker
        let fetched = TaskFilter(
            selection: TaskSelection(states: ["running", "verifying", "waiting_for_network"]))
        let live = try await door.report(fetched)
        let byID = Dictionary(uniqueKeysWithValues: live.tasks.map { ($0.id, $0) })
        for index in report.tasks.indices {
            if let task = byID[report.tasks[index].id] { report.tasks[index] = task }
            report.tasks[index].pause(live.pauseReason)
        }
        (report.counts, report.bytesPerSecond) = (live.counts, live.bytesPerSecond)
        report.pauseReason = live.pauseReason
        return report
    }

    /// Tells of tasks as they are recorded; blocks.
    public static func recorded(
        _ filter: TaskFilter, at path: String
    ) throws(QueueError) -> QueueReport {
        try DirectDoor(path).recorded(filter)
    }

    /// Notes that the ends of tasks were shown to somebody.
    public func markSeen(_ ids: [QueueTask.ID]) async throws(QueueError) {
        guard !ids.isEmpty else { return }
        _ = try await door.perform([.markSeen(TaskSelection(ids: ids.map(\.description)))])
    }
}
