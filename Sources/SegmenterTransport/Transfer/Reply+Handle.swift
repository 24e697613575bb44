import CCurl
import Glibc

extension Reply {
    /// Creates a reply from the final head of a handle, with the fields that segget uses.
    init(status: Int, readFrom handle: CURL) {
        self.init(status: status)
        // For each header that it returns, libcurl counts the headers of that name. If there are
        // many lines, requesting the few needed fields by name is cheaper.
        if !readAll(from: handle) { for name in Reply.fieldNames { read(name, from: handle) } }
        if self["retry-after"] != nil {
            retryAfter = wait(now: Int64(time(nil)), time: secondsSince1970(httpDate:))
        }
        if [401, 407].contains(status) {
            asksForDigest = Self.asksForDigest(handle, proxy: status == 407)
        }
    }

    /// The names of the kept fields, by their length.
    private static let namesByLength: [[String]] = {
        let longest = Reply.fieldNames.reduce(0) { max($0, $1.utf8.count) }
        return (0...longest).map { length in
            Reply.fieldNames.filter { $0.utf8.count == length }
        }
    }()
    /// The number of header lines at which `readAll` gives up.
    private static let fewLines = 64
    /// The maximum number of lines to read of one field.
    private static let mostValues = 16

    /// Reads the fields of a head that has fewer than `fewLines` lines.
    ///
    /// - Returns: Whether the head was read to its end.
    private mutating func readAll(from handle: CURL) -> Bool {
        var last: UnsafeMutablePointer<curl_header>?
        // In libcurl 7.88, curl_easy_header(3) would disturb the iteration, so that repeated fields
        // are read after it.
        var repeated: [String] = []
        for _ in 0..<Self.fewLines {
            last = curl_easy_nextheader(handle, segget_curl_headers_of_reply, -1, last)
            guard let header = last?.pointee else {
                for name in repeated { read(name, from: handle) }
                return true
            }
            let length = strlen(header.name)
            guard length < Self.namesByLength.count,
                let name = Self.namesByLength[length].first(where: {
                    strcasecmp($0, header.name) == 0
                })
            else { continue }
            if header.amount > 1 {
                if header.index == 0 { repeated.append(name) }
            } else if let text = Self.text(header.value, of: name) {
                fields[name] = text
            }
        }
        return false
    }

    /// Reads one field, and joins its values with commas.
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

    /// Returns a field's value; `nil` if it is empty.
    ///
    /// libcurl 7.88 returns a carriage return as the value of an empty field.
    private static func text(_ value: UnsafePointer<CChar>?, of name: String) -> String? {
        let read = name == "location" ? locationText : headerText
        guard let text = value.map(read), !isBlank(text) else { return nil }
        return text
    }

    private static func isBlank(_ text: String) -> Bool {
        guard let first = text.utf8.first else { return true }
        // Values rarely begin with white space, and only then must all characters be looked at.
        return !(0x21...0x7e).contains(first) && text.allSatisfy(\.isWhitespace)
    }

    /// Returns whether the server or proxy offered digest authentication, but not basic.
    static func asksForDigest(_ handle: CURL, proxy: Bool) -> Bool {
        var offered = 0
        segget_curl_getinfo_long(
            handle, proxy ? CURLINFO_PROXYAUTH_AVAIL : CURLINFO_HTTPAUTH_AVAIL, &offered)
        return offered & segget_curl_auth_digest != 0 && offered & segget_curl_auth_basic == 0
    }
}
