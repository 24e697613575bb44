import Assembler

// An output that takes the bytes in order, and only so far ahead.
extension Fetch {
    /// What a single stream still has to bring: its replies begin at the first byte, but one may
    /// have broken before.
    var rest: ByteRange { ByteRange(scheduler.done.front, scheduler.size) }

    /// Lets a single stream go on to where the output can take it.
    func allow(_ transfer: Int) {
        if let window { worker.allow(transfer, upTo: window.limit) }
    }

    /// The output has made room, or has failed.
    func outputMoved() {
        record()
        pump(monotonicSeconds())
    }
}

extension ByteRange {
    /// The part of the range before `limit`; `nil` stands for no limit.
    func clamped(below limit: Int64?) -> ByteRange {
        ByteRange(start, min(end, limit ?? .max))
    }
}
