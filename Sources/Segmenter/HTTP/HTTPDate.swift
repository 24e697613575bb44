import CCurl
import CLinux

/// Seconds since 1970 of an HTTP date (RFC 9110 §5.6.7); `nil` when it is none.
func secondsSince1970(httpDate text: String) -> Int64? {
    if let seconds = secondsSince1970(fixedDate: text) { return seconds }
    let time = curl_getdate(text, nil)
    return time < 0 ? nil : Int64(time)
}

/// Reads the form that servers send, `Sun, 06 Nov 1994 08:49:37 GMT` (strptime(3)): libcurl's parser,
/// made for any form, takes microseconds; `nil` for all others.
func secondsSince1970(fixedDate text: String) -> Int64? {
    // Which knows other lengths of its numbers and names too.
    guard text.utf8.count == 29 else { return nil }
    let time = segget_read_date(text)
    return time < 0 ? nil : time
}
