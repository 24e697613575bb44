/// Spreads bytes evenly over time, without bursts.
///
/// It is a token bucket that starts empty and holds at most 50 ms, so a delayed thread catches up.
struct Pacer {
    private let rate: Double
    private var credit = 0.0
    private var last: Double

    /// Starts at `now`; `rate` is in bytes a second.
    init(rate: Double, now: Double) {
        self.rate = max(rate, 0.001)
        last = now
    }

    /// The number of bytes to send at once: those of 10 ms, at least one.
    var piece: Int64 { max(1, Int64(min(rate / 100, 1e15))) }

    /// Returns the seconds from `now` until `count` bytes may be sent.
    mutating func delay(of count: Int64, now: Double) -> Double {
        let most = max(rate / 20, Double(count))
        credit = min(credit + (now - last) * rate, most)
        last = now
        return max(0, (Double(count) - credit) / rate)
    }

    /// Counts `count` sent bytes.
    mutating func sent(_ count: Int64) { credit -= Double(count) }
}
