/// How a transfer is held to a share of the session's rate.
///
/// Lives on the loop thread. The hot path asks `isOn` and no more while there is no limit.
struct Pace {
    /// Whether the body is taken in shares.
    private(set) var isOn = false
    /// Whether the transfer is paused until it gets another share.
    private(set) var isWaiting = false
    /// When it got its last share, in seconds.
    private(set) var servedAt = 0.0
    /// Bytes that may be taken now.
    private(set) var allowance: Int64 = .max
    private var granted: Int64 = 0
    /// Bytes that were taken of the piece that libcurl delivers again.
    private var taken = 0
    private var wasHeldBack = false

    /// Holds the transfer to shares from now on; it has none yet.
    mutating func start() {
        isOn = true
        (granted, allowance) = (0, 0)
    }

    /// Lets it take whatever comes.
    ///
    /// The way through shares is kept to: part of a piece may be taken already.
    mutating func lift() { (granted, allowance) = (0, .max) }

    /// How much of a piece of `count` bytes is new, and may be taken now: bytes from `skipped` on.
    func part(of count: Int) -> (skipped: Int, granted: Int) {
        let skipped = min(taken, count)
        return (skipped, Int(min(Int64(count - skipped), allowance)))
    }

    /// Bytes of a piece have been taken, after those that had been taken before.
    ///
    /// - Returns: Whether all of the piece is taken; if not, the transfer is to be paused, and
    ///   libcurl will deliver the piece again.
    mutating func took(_ part: (skipped: Int, granted: Int), of count: Int) -> Bool {
        if allowance != .max { allowance -= Int64(part.granted) }
        if part.skipped + part.granted == count {
            taken -= part.skipped
            return true
        }
        taken += part.granted
        isWaiting = true
        // Whoever had no share waits for the next turn only; the limit is felt where one ran out.
        if granted > 0 { wasHeldBack = true }
        return false
    }

    /// Takes away what is left of the last share.
    ///
    /// - Returns: Bytes that were taken of it, and bytes that were not.
    mutating func settle() -> (used: Int64, left: Int64) {
        guard isOn, allowance != .max else { return (0, 0) }
        defer { (granted, allowance) = (0, 0) }
        return (granted - allowance, allowance)
    }

    /// Gives a share.
    ///
    /// - Returns: Whether the transfer had waited for it, and is to be resumed.
    mutating func grant(_ share: Int64, now: Double) -> Bool {
        (granted, allowance) = (share, share)
        guard share > 0 else {
            if isWaiting { wasHeldBack = true }
            return false
        }
        servedAt = now
        return wake()
    }

    /// Ends the wait.
    ///
    /// - Returns: Whether it had waited.
    mutating func wake() -> Bool {
        defer { isWaiting = false }
        return isWaiting
    }

    /// Whether the limit has held it back since this was last asked: a share was used up, or there
    /// was none for it.
    mutating func takeHeldBack() -> Bool {
        defer { wasHeldBack = false }
        return wasHeldBack
    }
}
