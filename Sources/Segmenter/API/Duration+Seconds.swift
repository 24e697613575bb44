// Times are `Duration` in the library's API, and seconds inside: what computes with them, as rates do, needs
// numbers.
extension Duration {
    /// Longest time in seconds, in either direction, that is distinguished from a longer one.
    private static let longest = 9.2e18

    /// So many seconds; what is longer than any time there is becomes the longest, and what is no number
    /// zero.
    package init(seconds: Double) {
        let held = min(Self.longest, max(-Self.longest, seconds.isNaN ? 0 : seconds))
        self = .seconds(held)
    }

    /// The time in seconds, rounded to what a `Double` holds.
    package var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
