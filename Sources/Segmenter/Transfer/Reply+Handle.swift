import CCurl
import Glibc

extension Reply {
    /// Takes the fields that segget looks at from the final head that a handle has received.
    init(status: Int, readFrom handle: CURL) {
        self.init(status: status)
        // libcurl counts the lines of a field for each of them: of many lines, those that matter are
        // cheaper to ask for.
        if !readAll(from: handle) { for name in Reply.fieldNames { read(name, from: handle) } }
        if self["retry-after"] != nil {
            retryAfter = wait(now: Int64(time(nil)), time: secondsSince1970(httpDate:))
        }
        if [401, 407].contains(status) {
            asksForDigest = Self.asksForDigest(handle, proxy: status == 407)
        }
    }

    /// Lines of a head up to which all of them are looked at.
    private static let fewLines = 64
    /// Lines of one field that are read.
    private static let mostValues = 16

    /// Takes the fields from a head of few lines.
    ///
    /// - Returns: Whether that was all.
    private mutating func readAll(from handle: CURL) -> Bool {
        var last: UnsafeMutablePointer<curl_header>?
        // libcurl 7.88 loses its place among the lines when it is asked for one of them.
        var repeated: [String] = []
        for _ in 0..<Self.fewLines {
            last = curl_easy_nextheader(handle, segget_curl_headers_of_reply, -1, last)
            guard let header = last?.pointee else {
                for name in repeated { read(name, from: handle) }
                return true
            }
            let length = strlen(header.name)
            let name = Reply.fieldNames.first {
                $0.utf8.count == length && strcasecmp($0, header.name) == 0
            }
            guard let name else { continue }
            if header.amount > 1 {
                if header.index == 0 { repeated.append(name) }
            } else if let text = Self.text(header.value, of: name) {
                fields[name] = text
            }
        }
        return false
    }

    /// Takes all lines of one field.
    private mutating func read(_ name: String, from handle: CURL) {
        var values: [String] = []
        var header: UnsafeMutablePointer<curl_header>?
        for index in 0..<Self.mostValues {
            guard
                curl_easy_header(
                    handle, name, index, segget_curl_headers_of_reply, -1, &header) == CURLHE_OK
            else { break }
            if let text = Self.text(header?.pointee.value, of: name), !values.contains(text) {
                values.append(text)
            }
        }
        if !values.isEmpty { fields[name] = values.joined(separator: ", ") }
    }

    /// A value; `nil` for one that is empty: of that libcurl 7.88 leaves a carriage return.
    private static func text(_ value: UnsafePointer<CChar>?, of name: String) -> String? {
        let read = name == "location" ? locationText : headerText
        guard let text = value.map(read), !text.allSatisfy(\.isWhitespace) else { return nil }
        return text
    }

    /// Whether digest is the only scheme that was offered of those that segget knows.
    static func asksForDigest(_ handle: CURL, proxy: Bool) -> Bool {
        var offered = 0
        segget_curl_getinfo_long(
            handle, proxy ? CURLINFO_PROXYAUTH_AVAIL : CURLINFO_HTTPAUTH_AVAIL, &offered)
        return offered & segget_curl_auth_digest != 0 && offered & segget_curl_auth_basic == 0
    }
}
