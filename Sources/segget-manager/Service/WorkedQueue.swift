import Glibc
import SeggetCommand
import SeggetQueue
import SeggetService
import Segmenter

/// A queue that this process works, and the API by which others reach it.
struct WorkedQueue {
    let queue: DownloadQueue
    let server: QueueServer

    /// Opens a queue, and has commands find it; nothing is fetched yet.
    ///
    /// - Parameters:
    ///   - path: The queue's file.
    ///   - companions: What is done beside it.
    ///   - checkPriority: How the disk serves those who read files to check them.
    ///   - listener: A socket that somebody else listens on for this process; `nil` for one of its own.
    ///   - waits: Is told who works the queue, once, while this process waits for the end of that worker.
    /// - Returns: The queue, which commands find.
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

    /// Waits until it is to stop.
    ///
    /// - Parameters:
    ///   - stop: Ends when it is told to.
    ///   - end: Returns when there is nothing to wait for any more, or throws why it cannot go on.
    /// - Returns: Why it cannot go on; `nil` where that is not the reason.
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

    /// Answers what was asked, stops all downloads in order, and lets go of the queue.
    func close() async {
        await server.close()
        await queue.shutdown()
    }
}

extension QueueError {
    /// The same, while a worker waits for the end of another one.
    var waiting: String {
        let seconds = Int(DownloadQueue.Configuration().patience)
        return "\(message); waiting up to \(seconds) s until it ends"
    }
}
