/// Opens a queue, works it while `body` runs, and shuts it down in order.
///
/// - Parameters:
///   - path: The queue's file; it is made where there is none.
///   - configuration: How it is worked.
///   - isolation: Where `body` runs.
///   - body: What is done with it.
/// - Returns: What `body` returns.
/// - Throws: `QueueError` when the queue cannot be opened, and what `body` throws.
public func withDownloadQueue<Result>(
    at path: String,
    configuration: DownloadQueue.Configuration = DownloadQueue.Configuration(),
    isolation: isolated (any Actor)? = #isolation,
    _ body: (DownloadQueue) async throws -> sending Result
) async throws -> sending Result {
    let queue = try await DownloadQueue.open(path, configuration: configuration)
    await queue.work()
    do {
        let result = try await body(queue)
        await queue.shutdown()
        return result
    } catch {
        await queue.shutdown()
        throw error
    }
}
