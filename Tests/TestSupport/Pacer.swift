/// Spreads bytes evenly over time: a token bucket that starts empty and holds 50 ms at most, so
/// that a late thread catches up, but never bursts.
struct Pacer {
    private let rate: Double
    private var credit = 0.0
    private var last: Double

    /// Starts at `now`; `rate` is in bytes a second.
    init(rate: Double, now: Double) {
        self.rate = max(rate, 0.001)
        last = now
    }

    /// The most bytes to send in one go: 10 ms worth of them, at least one.
    var piece: Int64 { max(1, Int64(min(rate / 100, 1e15))) }

    /// Seconds to wait from `now` before `count` bytes may go out.
    mutating func delay(of count: Int64, now: Double) -> Double {
        let most = max(rate / 20, Double(count))
        credit = min(credit + (now - last) * rate, most)
        last = now
        return max(0, (Double(count) - credit) / rate)
    }

    /// Notes that `count` bytes went out.
    mutating func sent(_ count: Int64) { credit -= Double(count) }
}
