import Assembler

/// How far a server is believed to answer ranges with what was asked for: how many requests it is
/// sent at a time, and how often one that it lied to is sent again.
///
/// Pure.
///
/// A server that contradicts itself (another start than asked, other totals) does so with its first
/// replies. Until one of them was right, few are asked for; that costs nothing where one is.
struct Confidence: Sendable, Hashable {
    /// Requests that are open at a time before a range was right.
    static let few = 4
    /// The same where each round trip that passes with too few is lost.
    static let fewFarAway = ConnectionGovernor.many
    /// Requests in a row that one connection has answered with lies before any range was right.
    static let tries = 4
    /// Seconds after which the file's beginning counts, when no other range has come.
    static let doubt = 0.5

    /// Whether a range was right.
    private(set) var isProven: Bool
    /// When the file's first bytes came: whoever ignores where a range begins sends them, too.
    private var begun: Double?
    /// Whether a reply was not what had been asked for.
    private var hasLied = false

    /// - Parameter isProven: Whether the probe had a range that was right.
    init(isProven: Bool = false) { self.isProven = isProven }

    /// Most requests that may be open at a time, where connecting takes `roundTrip` seconds, or nobody
    /// knows how long.
    func most(roundTrip: Double?) -> Int {
        guard !isProven else { return .max }
        return roundTrip ?? 0 < ConnectionGovernor.veryLongRoundTrip ? Self.few : Self.fewFarAway
    }

    /// Takes a reply that was what had been asked for.
    mutating func accepted(_ range: ByteRange, now: Double) {
        if range.start > 0 { isProven = true } else if begun == nil { begun = now }
    }

    /// Takes a reply that was something else.
    mutating func refused() { hasLied = true }

    /// Looks at the time: the file's beginning counts when nothing has spoken against it.
    mutating func wait(now: Double) {
        guard !isProven, !hasLied, let begun, now - begun >= Self.doubt else { return }
        isProven = true
    }

    /// Whether a connection may ask once more after so many lies in a row.
    func bears(_ lies: Int) -> Bool { isProven || lies < Self.tries }
}
