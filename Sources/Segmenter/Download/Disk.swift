import Assembler
import SegmenterRules
import SegmenterTransport

/// Runs blocking disk work on a separate thread, and converts its errors to those of a download.
enum Disk {
    /// The disk priority of threads that read whole files to check them, for the current session.
    @TaskLocal static var checkPriority = DiskPriority.normal

    /// Runs `body` on a separate thread.
    static func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(AssemblyError) -> Value
    ) async throws(DownloadError.Reason) -> Value {
        try await result(body).get()
    }

    /// Runs `body` on a separate thread, and returns its result instead of throwing.
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

    /// Runs `body` on a separate thread, with ``checkPriority``, to check whole files.
    ///
    /// `body` repeatedly calls its argument, which returns whether the task was cancelled. It then
    /// returns `nil`.
    ///
    /// - Throws: `cancelled` if `body` returns `nil`; the errors of `body`.
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
