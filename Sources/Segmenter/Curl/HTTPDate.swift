import CCurl
import Glibc

/// Seconds since 1970 of an HTTP date (RFC 9110 §5.6.7); `nil` when it is none.
func secondsSince1970(httpDate text: String) -> Int64? {
    if let seconds = secondsSince1970(fixedDate: text) { return seconds }
    let time = curl_getdate(text, nil)
    return time < 0 ? nil : Int64(time)
}

/// Reads the form that servers send, `Sun, 06 Nov 1994 08:49:37 GMT` (strptime(3)): libcurl's parser,
/// made for any form, takes microseconds; `nil` for all others.
func secondsSince1970(fixedDate text: String) -> Int64? {
    var parts = tm()
    // The locale is "C": nobody sets another.
    guard text.utf8.count == 29,
        let end = text.withCString({ start in
            strptime(start, "%a, %d %b %Y %H:%M:%S GMT", &parts).map { start.distance(to: $0) }
        }), end == 29, parts.tm_year >= 70, parts.tm_sec < 60
    else { return nil }
    return Int64(timegm(&parts))
}
