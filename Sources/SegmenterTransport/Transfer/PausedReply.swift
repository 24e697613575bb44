/// The owner of a response whose body is paused.
///
/// When the owner is deinitialized, the transfer is dropped and its connection closed.
///
/// May be used from any thread.
package final class PausedReply: Sendable {
    /// The number of the transfer; `nil` once it has been taken.
    private let transfer: Monitor<Int?>
    private let drop: @Sendable (Int) -> Void

    /// Becomes the owner of a transfer.
    ///
    /// - Parameters:
    ///   - transfer: The number of the transfer.
    ///   - drop: Called with the number, on any thread, if the transfer is never taken.
    package init(_ transfer: Int, drop: @escaping @Sendable (Int) -> Void) {
        self.transfer = Monitor(transfer)
        self.drop = drop
    }

    deinit { if let transfer = take() { drop(transfer) } }

    /// Hands the transfer to the caller, which has to resume or drop it.
    ///
    /// - Returns: The number of the transfer; `nil` if it was taken before.
    package func take() -> Int? {
        transfer.withLock { transfer in
            defer { transfer = nil }
            return transfer
        }
    }

    /// Moves the transfer to a new owner; this one then owns nothing.
    ///
    /// - Returns: The new owner; `nil` if the transfer was taken before.
    package func handOn() -> PausedReply? { take().map { PausedReply($0, drop: drop) } }
}
