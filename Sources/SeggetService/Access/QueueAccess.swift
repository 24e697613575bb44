// Access: finds a queue's worker over a socket, or opens its records. This folder does not know
// what a command needs the queue for.

import Glibc
public import SeggetQueue
public import Segmenter

/// A command's access to a queue: through its worker, or else to its records.
public struct QueueAccess: Sendable {
    /// Sends commands and queries to the queue.
    public let door: any QueueDoor
    /// The connection to the worker; `nil` without a worker.
    package let client: QueueClient?
    /// The id of the worker's process; `nil` without a worker.
    public let worker: Int32?
    let path: String

    private init(
        _ path: String, _ patience: Double, _ note: @escaping @Sendable (String) -> Void,
        client: QueueClient? = nil, worker: Int32? = nil
    ) {
        door = AccessDoor(path: path, patience: patience, note: note, client: client)
        (self.path, self.client, self.worker) = (path, client, worker)
    }

    /// Connects to the worker of a queue, or opens its records.
    ///
    /// - Parameters:
    ///   - path: The queue's file.
    ///   - service: The path of the socket through which a service manager starts the queue's
    ///     worker; `nil` for none.
    ///   - patience: Seconds to wait for a process that has locked the queue, until it answers or
    ///     unlocks it.
    ///   - note: Called with one line if the worker has another version.
    /// - Returns: The access.
    /// - Throws: `QueueError`, if a worker has locked the queue and cannot be reached.
    public static func open(
        _ path: String, service: String? = nil, patience: Double = 5,
        note: @escaping @Sendable (String) -> Void
    ) async throws(QueueError) -> QueueAccess {
        let files = QueueFiles(path)
        let deadline = ContinuousClock.now + .seconds(patience)
        while let holder = try QueueLock.holder(files) {
            do throws(QueueError) {
                let client = try await client(of: holder, until: deadline, note)
                return QueueAccess(path, patience, note, client: client, worker: holder.pid)
            } catch {
                // The process may have ended, and another one may have locked the queue.
                guard ContinuousClock.now < deadline else { throw error }
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
        if let service, let access = try await start(service, path, patience, note) {
            return access
        }
        return QueueAccess(path, patience, note)
    }

    /// Lets a service manager start a worker, by connecting to its socket.
    ///
    /// - Returns: The access; `nil` if no process listens, or it is the worker of another queue.
    private static func start(
        _ service: String, _ path: String, _ patience: Double,
        _ note: @escaping @Sendable (String) -> Void
    ) async throws(QueueError) -> QueueAccess? {
        guard Glibc.access(service, R_OK | W_OK) == 0 else { return nil }
        let client = QueueClient(
            path: service, connectTime: .seconds(patience), tellOtherVersion: note)
        let worker = try? await client.health().worker
        if let worker, try QueueLock.holder(QueueFiles(path))?.pid == worker {
            return QueueAccess(path, patience, note, client: client, worker: worker)
        }
        await client.close()
        return nil
    }

    /// Connects to a worker.
    private static func client(
        of holder: QueueLock.Holder, until deadline: ContinuousClock.Instant,
        _ note: @escaping @Sendable (String) -> Void
    ) async throws(QueueError) -> QueueClient {
        guard let socket = holder.socket else {
            throw QueueError(
                .busy, "process \(holder.pid) has locked the queue and does not answer",
                hint: "`ps \(holder.pid)` shows the process")
        }
        // At least one second, because the client reconnects with the same limit later.
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

    /// Returns the tasks: the records, completed by the worker's facts about active tasks.
    ///
    /// Reading the records does not require the queue's lock.
    public func report(_ filter: TaskFilter) async throws(QueueError) -> QueueReport {
        // If the worker's version is older, only the worker can read its records.
        guard let client, (try? await client.isCurrent()) == true else {
            return try await door.report(filter)
        }
        var report = try await DirectDoor(path).report(filter)
        let fetched = TaskFilter(selection: TaskSelection(states: TaskStatus.Word.downloading))
        let live = try await door.report(fetched)
        report.worker = live.worker
        let byID = Dictionary(uniqueKeysWithValues: live.tasks.map { ($0.id, $0) })
        for index in report.tasks.indices {
            if let task = byID[report.tasks[index].id] { report.tasks[index] = task }
            report.tasks[index].pause(live.pauseReason)
        }
        (report.counts, report.bytesPerSecond) = (live.counts, live.bytesPerSecond)
        report.pauseReason = live.pauseReason
        return report
    }

    /// Returns the tasks as recorded; blocks on the disk.
    public static func recorded(
        _ filter: TaskFilter, at path: String
    ) throws(QueueError) -> QueueReport {
        try DirectDoor(path).recorded(filter)
    }

    /// Marks the results of tasks as seen.
    public func markSeen(_ ids: [QueueTask.ID]) async throws(QueueError) {
        guard !ids.isEmpty else { return }
        _ = try await door.perform([.markSeen(TaskSelection(ids: ids.map(\.description)))])
    }
}
