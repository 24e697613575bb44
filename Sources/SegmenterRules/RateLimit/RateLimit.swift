// RateLimit: how a rate limit is divided. Pure. This folder uses rates, bytes and seconds, but no
// clocks, sockets or downloads.

/// A rate limit that can be halved and doubled during downloads.
package struct RateLimit: Sendable, Hashable {
    /// The lowest limit that halving results in, in bytes per second.
    static let slowest = 1024.0

    /// The limit in bytes per second; `nil` for no limit.
    package private(set) var bytesPerSecond: Double?
    /// The rate from which halving created this limit, in bytes per second; `nil` for other limits.
    private var origin: Double?

    /// Creates a limit; values that are not positive and finite mean no limit.
    package init(_ bytesPerSecond: Double?) {
        if let rate = bytesPerSecond, rate > 0, rate.isFinite { self.bytesPerSecond = rate }
    }

    /// Halves the limit; without a limit, sets it to half of the measured rate.
    ///
    /// The result is at least 1 KiB/s, unless the limit is already lower. If there is neither a
    /// limit nor a measured rate, nothing changes.
    package mutating func halve(measured: Double) {
        if let rate = bytesPerSecond {
            bytesPerSecond = min(rate, max(Self.slowest, rate / 2))
        } else if measured > 0 {
            origin = measured
            bytesPerSecond = max(Self.slowest, measured / 2)
        }
    }

    /// Doubles the limit.
    ///
    /// If halving created the limit, it is removed once it reaches the original rate.
    package mutating func double() {
        guard let rate = bytesPerSecond else { return }
        let doubled = rate * 2
        if let origin, doubled >= origin {
            self = RateLimit(nil)
        } else if doubled.isFinite {
            bytesPerSecond = doubled
        }
    }
}
