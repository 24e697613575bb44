import CCurl
import CLinux

/// Returns the seconds since 1970 of an HTTP date (RFC 9110 §5.6.7); `nil` if it is invalid.
package func secondsSince1970(httpDate text: String) -> Int64? {
    if let seconds = secondsSince1970(fixedDate: text) { return seconds }
    let time = curl_getdate(text, nil)
    return time < 0 ? nil : Int64(time)
}

/// Parses `Sun, 06 Nov 1994 08:49:37 GMT` only, the form that servers send (strptime(3)).
///
/// libcurl's parser accepts any form and takes microseconds. Other forms return `nil`.
package func secondsSince1970(fixedDate text: String) -> Int64? {
    // strptime(3) also accepts numbers and names of other lengths.
    guard text.utf8.count == 29 else { return nil }
    let time = segget_read_date(text)
    return time < 0 ? nil : time
}
