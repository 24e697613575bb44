/// For how long nothing has come from a server that was to send something; looked at in each tick.
///
/// All times are in seconds, on the monotonic clock.
struct StallClock {
    /// What a look sees of a transfer.
    struct Look {
        /// Bytes of its body that have come.
        var received: Int64
        /// Whether the final head has come.
        var isAnswered: Bool
        /// Whether its connection is made: until then a limit of libcurl's holds.
        var isConnected: Bool
        /// Whether nobody asks for more: it waits for room, for its share, or to be gone on with.
        var isIdle: Bool
    }

    /// Seconds of the stall before this transfer began that count as its own, until something
    /// comes.
    var before = 0.0
    /// When the body last grew, or could not.
    private var lastActivity: Double
    /// When anything last came, or nobody asked for more.
    private var heard: Double
    private var received: Int64 = 0
    private var wasAnswered = false

    init(since now: Double) { (lastActivity, heard) = (now, now) }

    /// Begins anew: it may be that nobody has asked for more.
    mutating func restart(_ now: Double) { (lastActivity, heard) = (now, now) }

    /// Notes what has happened since the last look; the loop stood still for `blocked` seconds of it.
    mutating func note(_ look: Look, now: Double, blocked: Double) {
        lastActivity += blocked
        heard += blocked
        let isQuiet = look.received == received
        if look.isIdle || !isQuiet || !look.isConnected { lastActivity = now }
        if look.isIdle || !isQuiet || look.isAnswered != wasAnswered { heard = now }
        if !isQuiet { before = 0 }
        (received, wasAnswered) = (look.received, look.isAnswered)
    }

    /// For how long no byte of the body has come, though it could have, that of earlier attempts included.
    func ofBody(_ now: Double) -> Double { now - lastActivity + before }

    /// The same of this transfer alone.
    func ofOwnBody(_ now: Double) -> Double { now - lastActivity }

    /// For how long nothing at all has come, the head included.
    func ofServer(_ now: Double) -> Double { now - heard }
}
