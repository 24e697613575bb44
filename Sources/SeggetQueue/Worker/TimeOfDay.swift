import Glibc

/// The local time of day.
enum TimeOfDay {
    /// Minutes since midnight, 0..<1440.
    static var minute: Int {
        var (seconds, parts) = (time(nil), tm())
        localtime_r(&seconds, &parts)
        return Int(parts.tm_hour) * 60 + Int(parts.tm_min)
    }
}
