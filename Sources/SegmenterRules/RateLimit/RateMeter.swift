/// Measures a rate over the last five seconds.
///
/// Pure.
package struct RateMeter: Sendable {
    /// The length of the measured interval, in seconds.
    package static let window = 5.0

    private var samples: [(time: Double, bytes: Int64)] = []

    /// Creates a meter without samples.
    package init() {}

    /// Adds a sample and returns the rate over the window; without new bytes, it falls to zero.
    ///
    /// - Parameters:
    ///   - bytes: The total number of bytes until `now`; must not decrease.
    ///   - now: The time in seconds; must not decrease.
    /// - Returns: The rate in bytes per second.
    package mutating func rate(bytes: Int64, now: Double) -> Double {
        samples.append((now, bytes))
        // The newest sample that is at least one window old remains as the base.
        while samples.count > 2, samples[1].time <= now - Self.window { samples.removeFirst() }
        let first = samples[0]
        guard now > first.time else { return 0 }
        return Double(bytes - first.bytes) / (now - first.time)
    }
}
