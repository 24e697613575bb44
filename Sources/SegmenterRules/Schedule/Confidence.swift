/// Decides how many requests a server may have until one of its ranges was correct.
///
/// It also limits the retries after responses that were not the requested range.
///
/// Pure: no I/O and no clock. A server that contradicts itself (another start than requested, other
/// totals) does this in its first responses. So segget sends few requests at a time until one range
/// was correct. This costs nothing if the server is correct.
struct Confidence: Sendable, Hashable {
    /// The number of requests that may be open before the first correct range.
    static let few = 4
    /// The same for servers with long round trips, where each round trip with too few requests is
    /// lost.
    static let fewFarAway = ConnectionGovernor.many
    /// The number of wrong responses in a row after which a connection makes no more requests,
    /// before any range was correct.
    static let tries = 4
    /// The seconds after which the range at the beginning of the file counts, if no other has
    /// arrived.
    static let doubt = 0.5

    /// Whether a range was correct.
    private(set) var isProven: Bool
    /// The time at which the first bytes of the file arrived.
    ///
    /// A server that ignores the start of a range sends these too.
    private var begun: Double?
    /// Whether a response was not the requested one.
    private var hasLied = false

    /// Creates the initial state; `isProven` is whether a range of the probe was correct.
    init(isProven: Bool = false) { self.isProven = isProven }

    /// Returns the number of requests that may be open at a time.
    ///
    /// - Parameter roundTrip: The time to connect in seconds; `nil` when unknown.
    /// - Returns: The number; `Int.max` after a correct range.
    func most(roundTrip: Double?) -> Int {
        guard !isProven else { return .max }
        return roundTrip ?? 0 < ConnectionGovernor.veryLongRoundTrip ? Self.few : Self.fewFarAway
    }

    /// Records a response with the requested range.
    mutating func accepted(_ range: ByteRange, now: Double) {
        if range.start > 0 { isProven = true } else if begun == nil { begun = now }
    }

    /// Records a response that was not the requested one.
    mutating func refused() { hasLied = true }

    /// Accepts the range at the beginning of the file after `doubt` seconds without a wrong
    /// response.
    mutating func wait(now: Double) {
        guard !isProven, !hasLied, let begun, now - begun >= Self.doubt else { return }
        isProven = true
    }

    /// Returns whether a connection may send another request after this number of wrong responses
    /// in a row.
    func bears(_ lies: Int) -> Bool { isProven || lies < Self.tries }
}
