// RateLimit: who gets how much of a limit of rate. Pure; it knows rates, bytes and seconds, and
// never a clock, a socket or a download.

/// A limit of rate that is halved and doubled while something runs.
struct RateLimit: Sendable, Hashable {
    /// Slowest limit that halving leads to, in bytes per second.
    static let slowest = 1024.0

    /// Bytes per second; `nil` is no limit.
    private(set) var bytesPerSecond: Double?
    /// The speed from which halving made a limit where there had been none, in bytes per second.
    private var origin: Double?

    /// Makes a limit; what is no number above 0 is none.
    init(_ bytesPerSecond: Double?) {
        if let rate = bytesPerSecond, rate > 0, rate.isFinite { self.bytesPerSecond = rate }
    }

    /// Halves the limit, or where there is none, the present speed into one.
    ///
    /// Never below 1 KiB/s, unless it is below that already. Without limit and speed, nothing
    /// changes.
    mutating func halve(measured: Double) {
        if let rate = bytesPerSecond {
            bytesPerSecond = min(rate, max(Self.slowest, rate / 2))
        } else if measured > 0 {
            origin = measured
            bytesPerSecond = max(Self.slowest, measured / 2)
        }
    }

    /// Doubles the limit.
    ///
    /// One that halving made out of none is gone when it is back at the speed that it was made from.
    mutating func double() {
        guard let rate = bytesPerSecond else { return }
        let doubled = rate * 2
        if let origin, doubled >= origin {
            self = RateLimit(nil)
        } else if doubled.isFinite {
            bytesPerSecond = doubled
        }
    }
}
