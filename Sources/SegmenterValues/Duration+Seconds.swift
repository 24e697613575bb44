// The public API uses `Duration`. Internal code computes with seconds as `Double`, for example for
// rates.
extension Duration {
    /// The largest number of seconds that `Duration` can represent, in either direction.
    private static let longest = 9.2e18

    /// Creates a duration from seconds; clamps values out of range, and turns NaN into zero.
    package init(seconds: Double) {
        let held = min(Self.longest, max(-Self.longest, seconds.isNaN ? 0 : seconds))
        self = .seconds(held)
    }

    /// The duration in seconds, rounded to the precision of `Double`.
    package var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
