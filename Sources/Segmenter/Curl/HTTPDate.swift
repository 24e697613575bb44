import CCurl

/// Seconds since 1970 of an HTTP date (RFC 9110 §5.6.7); `nil` when it is none.
func secondsSince1970(httpDate text: String) -> Int64? {
    if let seconds = secondsSince1970(fixedDate: text) { return seconds }
    let time = curl_getdate(text, nil)
    return time < 0 ? nil : Int64(time)
}

/// Reads the form that servers send, `Sun, 06 Nov 1994 08:49:37 GMT`, which libcurl's parser, made for
/// any form, takes microseconds for; `nil` for all others, and for what that one judges otherwise.
func secondsSince1970(fixedDate text: String) -> Int64? {
    var text = text
    return text.withUTF8 { bytes -> Int64? in
        func number(_ range: Range<Int>) -> Int? {
            var value = 0
            for index in range {
                let digit = Int(bytes[index]) - 48
                guard (0...9).contains(digit) else { return nil }
                value = 10 * value + digit
            }
            return value
        }
        func holds(_ index: Int, _ text: StaticString) -> Bool {
            for offset in 0..<text.utf8CodeUnitCount
            where bytes[index + offset] != text.utf8Start[offset] { return false }
            return true
        }
        guard bytes.count == 29, holds(3, ", "), holds(7, " "), holds(11, " "), holds(16, " "),
            holds(19, ":"), holds(22, ":"), holds(25, " GMT"),
            weekdays.contains(where: { holds(0, $0) }),
            let month = months.firstIndex(where: { holds(8, $0) }),
            let day = number(5..<7), (1...31).contains(day),
            let year = number(12..<16), (1970...9999).contains(year),
            let hour = number(17..<19), hour < 24, let minute = number(20..<22), minute < 60,
            let second = number(23..<25), second < 60
        else { return nil }
        // Years begin in March here, so that leap days come last.
        let (years, months) = month < 2 ? (year - 1, month + 10) : (year, month - 2)
        let days =
            365 * years + years / 4 - years / 100 + years / 400 + (153 * months + 2) / 5 + day
        // 719469: the first of January 1970.
        return Int64(((days - 719_469) * 24 + hour) * 3600 + minute * 60 + second)
    }
}

private let weekdays: [StaticString] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
private let months: [StaticString] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
]
