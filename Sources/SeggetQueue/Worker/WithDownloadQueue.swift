/// Opens a queue, runs it while `body` runs, and shuts it down in an orderly way.
///
/// - Parameters:
///   - path: The queue's file, which is created if it does not exist.
///   - configuration: The configuration.
///   - isolation: The isolation of `body`.
///   - body: Uses the queue.
/// - Returns: The result of `body`.
/// - Throws: `QueueError` if the queue cannot be opened, and the errors of `body`.
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
