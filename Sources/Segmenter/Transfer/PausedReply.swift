import Assembler

/// Owns a reply whose body waits on the wire: the transfer is dropped when its owner ends.
///
/// May be used from any thread.
final class PausedReply: Sendable {
    /// The number of the transfer; `nil` when somebody else has it.
    private let transfer: Monitor<Int?>
    private let drop: @Sendable (Int) -> Void

    /// Becomes the owner of a transfer, which `drop` is called with, on any thread, should it come to
    /// nothing.
    init(_ transfer: Int, drop: @escaping @Sendable (Int) -> Void) {
        self.transfer = Monitor(transfer)
        self.drop = drop
    }

    deinit { if let transfer = take() { drop(transfer) } }

    /// Takes the transfer away: whoever calls goes on with it, or drops it.
    ///
    /// - Returns: Its number; `nil` when it was taken before.
    func take() -> Int? {
        transfer.withLock { transfer in
            defer { transfer = nil }
            return transfer
        }
    }

    /// Makes another owner of the transfer: whoever still holds this one holds nothing.
    ///
    /// - Returns: The other owner; `nil` when the transfer was taken before.
    func handOn() -> PausedReply? { take().map { PausedReply($0, drop: drop) } }
}
