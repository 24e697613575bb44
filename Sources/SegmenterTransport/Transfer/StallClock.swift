/// Measures how long a server has sent nothing to a transfer; updated in each tick.
///
/// All times are in seconds, on the monotonic clock.
package struct StallClock {
    /// The state of a transfer at a tick.
    package struct Look {
        /// The number of received bytes of the body.
        package var received: Int64
        /// Whether the final head was received.
        package var isAnswered: Bool
        /// Whether the connection is made; before that, libcurl's connect timeout applies.
        package var isConnected: Bool
        /// Whether the transfer does not read from its connection.
        ///
        /// It is paused by its owner, by the window, or by a rate limit.
        package var isIdle: Bool
    }

    /// The duration of a stall before this transfer started, in seconds.
    ///
    /// It counts as part of this transfer's stall until a byte of the body arrives.
    package var before = 0.0
    /// When a byte of the body last arrived, or none could arrive.
    private var lastActivity: Double
    /// When the head or a byte of the body last arrived, or the transfer was idle.
    private var heard: Double
    private var received: Int64 = 0
    private var wasAnswered = false

    init(since now: Double) { (lastActivity, heard) = (now, now) }

    /// Restarts the measurement when a paused transfer is resumed.
    package mutating func restart(_ now: Double) { (lastActivity, heard) = (now, now) }

    /// Records the state of the transfer at a tick.
    ///
    /// - Parameters:
    ///   - look: The state of the transfer.
    ///   - now: The current time.
    ///   - blocked: The time since the previous tick in which the loop did not run.
    package mutating func note(_ look: Look, now: Double, blocked: Double) {
        lastActivity += blocked
        heard += blocked
        let isQuiet = look.received == received
        if look.isIdle || !isQuiet || !look.isConnected { lastActivity = now }
        if look.isIdle || !isQuiet || look.isAnswered != wasAnswered { heard = now }
        if !isQuiet { before = 0 }
        (received, wasAnswered) = (look.received, look.isAnswered)
    }

    /// Returns the time without a byte of the body, including the stall of earlier attempts.
    ///
    /// Times in which no byte could arrive do not count.
    package func ofBody(_ now: Double) -> Double { now - lastActivity + before }

    /// Returns the same time as `ofBody`, without earlier attempts.
    package func ofOwnBody(_ now: Double) -> Double { now - lastActivity }

    /// Returns the time since the head or a byte of the body last arrived, without pauses.
    package func ofServer(_ now: Double) -> Double { now - heard }
}
