/// The state of one transfer under a rate limit.
///
/// The value lives on the loop thread. Without a limit, the hot path reads only `isOn`.
package struct Pace {
    /// Whether a rate limit applies to the transfer.
    package private(set) var isOn = false
    /// Whether the transfer is paused until it gets another share.
    package private(set) var isWaiting = false
    /// When the transfer got its last share, in seconds.
    package private(set) var servedAt = 0.0
    /// The number of bytes that the transfer may take now.
    private(set) var allowance: Int64 = .max
    private var granted: Int64 = 0
    /// The bytes already taken from the buffer that libcurl will deliver again.
    private var taken = 0
    private var wasHeldBack = false

    package init() {}

    /// Applies a limit from now on; the transfer has no share yet.
    package mutating func start() {
        isOn = true
        (granted, allowance) = (0, 0)
    }

    /// Removes the limit.
    ///
    /// `isOn` remains set, because part of a buffer may already be taken.
    package mutating func lift() { (granted, allowance) = (0, .max) }

    /// Returns the new part of a buffer of `count` bytes that may be taken now.
    ///
    /// The part starts after `skipped` bytes and has `granted` bytes.
    package func part(of count: Int) -> (skipped: Int, granted: Int) {
        let skipped = min(taken, count)
        return (skipped, Int(min(Int64(count - skipped), allowance)))
    }

    /// Records that a part of a buffer was taken.
    ///
    /// - Returns: Whether the whole buffer is taken. If not, the transfer has to be paused, and
    ///   libcurl will deliver the buffer again.
    package mutating func took(_ part: (skipped: Int, granted: Int), of count: Int) -> Bool {
        if allowance != .max { allowance -= Int64(part.granted) }
        if part.skipped + part.granted == count {
            taken -= part.skipped
            return true
        }
        taken += part.granted
        isWaiting = true
        // Only a used-up share counts as a delay by the limit. A transfer without a share just
        // waits for the loop's next turn.
        if granted > 0 { wasHeldBack = true }
        return false
    }

    /// Takes back the rest of the last share.
    ///
    /// - Returns: The bytes of the share that were used, and those that remained.
    package mutating func settle() -> (used: Int64, left: Int64) {
        guard isOn, allowance != .max else { return (0, 0) }
        defer { (granted, allowance) = (0, 0) }
        return (granted - allowance, allowance)
    }

    /// Gives the transfer a share.
    ///
    /// - Returns: Whether the transfer was waiting and has to be resumed.
    package mutating func grant(_ share: Int64, now: Double) -> Bool {
        (granted, allowance) = (share, share)
        guard share > 0 else {
            if isWaiting { wasHeldBack = true }
            return false
        }
        servedAt = now
        return wake()
    }

    /// Ends the wait for a share.
    ///
    /// - Returns: Whether the transfer was waiting.
    package mutating func wake() -> Bool {
        defer { isWaiting = false }
        return isWaiting
    }

    /// Returns whether the limit has delayed the transfer since the last call.
    ///
    /// The limit delays a transfer if its share was used up, or if it waited and got no share.
    package mutating func takeHeldBack() -> Bool {
        defer { wasHeldBack = false }
        return wasHeldBack
    }
}
