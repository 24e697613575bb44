import Glibc

/// Returns the time in `offset` seconds as an IMF-fixdate (RFC 9110 §5.6.7).
public func httpDate(secondsFromNow offset: Int = 0) -> String {
    httpDate(unixTime: time(nil) + offset)
}

/// Returns the time `unixTime` seconds after 1970 as an IMF-fixdate.
public func httpDate(unixTime: Int) -> String {
    var seconds = time_t(unixTime)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    // The names of strftime(3) depend on the locale.
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let date =
        "\(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)])"
        + " \(1900 + Int(parts.tm_year))"
    return "\(date) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT"
}
