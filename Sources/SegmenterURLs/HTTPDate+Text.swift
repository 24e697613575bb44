import Glibc

/// Returns a time as an HTTP date (IMF-fixdate, RFC 9110 §5.6.7).
package func httpDate(secondsSince1970 time: Int64) -> String {
    var seconds = time_t(time)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    // strftime(3) is not used, because its names depend on the locale.
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    func digits(_ number: Int32, _ count: Int) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    return "\(days[Int(parts.tm_wday)]), \(digits(parts.tm_mday, 2)) \(months[Int(parts.tm_mon)])"
        + " \(digits(1900 + parts.tm_year, 4)) \(digits(parts.tm_hour, 2)):"
        + "\(digits(parts.tm_min, 2)):\(digits(parts.tm_sec, 2)) GMT"
}
