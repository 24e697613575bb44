import Assembler

/// Runs what blocks on the disk on a thread of its own, and has it fail as a download does.
enum Disk {
    /// How it serves those who read whole files to check them, in the downloads of the present session.
    @TaskLocal static var checkPriority = DiskPriority.normal

    /// Runs `body`.
    static func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(AssemblyError) -> Value
    ) async throws(DownloadError.Reason) -> Value {
        try await result(body).get()
    }

    /// Runs `body`, and says how that ended.
    static func result<Value: Sendable>(
        priority: DiskPriority = .normal,
        _ body: @escaping @Sendable () throws(AssemblyError) -> Value
    ) async -> Result<Value, DownloadError.Reason> {
        do throws(AssemblyError) {
            return .success(try await offLoop("disk", diskPriority: priority, body))
        } catch {
            return .failure(.assembly(error))
        }
    }

    /// Runs `body`, which reads whole files to check them: it looks now and then whether it is cancelled, and then
    /// returns `nil`.
    ///
    /// - Throws: `cancelled` in that case, and what `body` throws.
    static func runUntilCancelled<Value: Sendable>(
        _ body: @escaping @Sendable (() -> Bool) throws(AssemblyError) -> Value?
    ) async throws(DownloadError.Reason) -> Value {
        let flag = Monitor(false)
        let outcome = await withTaskCancellationHandler {
            await result(priority: checkPriority) { () throws(AssemblyError) -> Value? in
                try body { flag.withLock { $0 } }
            }
        } onCancel: {
            flag.withLock { $0 = true }
        }
        guard let value = try outcome.get() else { throw .cancelled }
        return value
    }
}
