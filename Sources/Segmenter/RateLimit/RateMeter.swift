/// Speed over the last seconds.
///
/// Pure.
package struct RateMeter: Sendable {
    /// Seconds that the speed is taken over.
    static let window = 5.0

    private var samples: [(time: Double, bytes: Int64)] = []

    /// Makes a meter without samples.
    package init() {}

    /// Takes a sample and gives the speed over the window; it falls to zero when no bytes come.
    ///
    /// - Parameters:
    ///   - bytes: All bytes that have come until `now`; never falls.
    ///   - now: Seconds; never falls.
    /// - Returns: Bytes per second.
    package mutating func rate(bytes: Int64, now: Double) -> Double {
        samples.append((now, bytes))
        // The newest sample that is a window old stays, as the base.
        while samples.count > 2, samples[1].time <= now - Self.window { samples.removeFirst() }
        let first = samples[0]
        guard now > first.time else { return 0 }
        return Double(bytes - first.bytes) / (now - first.time)
    }
}
