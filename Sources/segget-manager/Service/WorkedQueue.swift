import Glibc
import SeggetCommand
import SeggetQueue
import SeggetService
import Segmenter

/// A queue whose worker is this process, and the server for its clients.
struct WorkedQueue {
    let queue: DownloadQueue
    let server: QueueServer

    /// Opens a queue, and lets commands connect to it; no download starts yet.
    ///
    /// - Parameters:
    ///   - path: The queue's file.
    ///   - companions: The worker's other duties.
    ///   - checkPriority: The I/O priority of threads that read files to check them.
    ///   - listener: A socket that another process listens on for this one; `nil` to create one.
    ///   - waits: Called once if this process waits for the end of another worker.
    /// - Returns: The queue and its server.
    /// - Throws: `QueueError`.
    static func open(
        _ path: String, companions: WorkerCompanions, checkPriority: DiskPriority = .normal,
        listener: Int32? = nil, waits: @escaping @Sendable (QueueError) -> Void
    ) async throws(QueueError) -> WorkedQueue {
        var configuration = DownloadQueue.Configuration()
        configuration.memory = ServerMemory.own
        configuration.refresh = { RefreshCommand($0).link }
        configuration.checkPriority = checkPriority
        configuration.waits = waits
        companions.prepare(&configuration)
        let queue = try await DownloadQueue.open(path, configuration: configuration)
        do throws(QueueError) {
            let server: QueueServer
            if let listener {
                server = try await QueueServer.start(on: listener, door: queue)
            } else {
                let runtime = EnvironmentText.value("XDG_RUNTIME_DIR")
                server = try await QueueServer.start(for: path, door: queue, runtime: runtime)
            }
            try await queue.announce(socket: server.path)
            return WorkedQueue(queue: queue, server: server)
        } catch {
            await queue.shutdown()
            throw error
        }
    }

    /// Waits for a reason to stop.
    ///
    /// - Parameters:
    ///   - stop: Ends to request a stop.
    ///   - end: Returns when there is no more work, or throws the reason why the queue cannot
    ///     continue.
    /// - Returns: The reason why the queue cannot continue; `nil` for any other end.
    func wait(
        for stop: AsyncStream<Void>,
        or end: @escaping @Sendable (DownloadQueue) async throws(QueueError) -> Void
    ) async -> QueueError? {
        await withTaskGroup(of: QueueError?.self) { group in
            group.addTask {
                for await _ in stop {}
                return nil
            }
            group.addTask {
                do throws(QueueError) { try await end(queue) } catch {
                    return Task.isCancelled ? nil : error
                }
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    /// Completes responses in progress, stops all downloads in order, and closes the queue.
    func close() async {
        await server.close()
        await queue.shutdown()
    }
}

extension QueueError {
    /// The message while a worker waits for the end of another one.
    var waiting: String {
        let seconds = Int(DownloadQueue.Configuration().patience)
        return "\(message); waiting up to \(seconds) s until it ends"
    }
}
