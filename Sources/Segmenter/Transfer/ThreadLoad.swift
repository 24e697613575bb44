import Assembler

/// Which part of its time a thread was busy, of late.
struct ThreadLoad {
    /// The part, 0…1.
    private(set) var share = 0.0
    /// Processor time at the last look, in seconds.
    private var busy = 0.0
    private var lastLook = 0.0

    /// Looks at the calling thread, about every 100 ms.
    mutating func measure(now: Double) {
        let used = threadSeconds()
        let elapsed = now - lastLook
        if lastLook > 0, elapsed > 0 { share = 0.5 * share + 0.5 * (used - busy) / elapsed }
        (busy, lastLook) = (used, now)
    }
}
