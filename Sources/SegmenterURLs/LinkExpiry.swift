import Glibc

/// The time at which a link expires, as its query states.
///
/// The type knows signed links of object stores and CDNs: S3 and compatible stores (`X-Amz-Date`
/// with `X-Amz-Expires` in seconds, or `Expires` in seconds since 1970), Google (`X-Goog-…`), Azure
/// (`se` with `sig`), nginx (`e` with `md5` or `st`). Pure.
package struct LinkExpiry: Sendable, Hashable {
    /// The tolerated difference between this machine's clock and the server's, in seconds.
    package static let skew = 30.0
    /// The smallest number that is read as seconds since 1970 (September 2001), not as a duration.
    private static let leastTime: Int64 = 1_000_000_000
    /// Prefixes of parameter names of signatures that have a date and a duration.
    private static let dated = ["x-amz", "x-goog", "x-oss", "x-tos", "x-obs"]

    /// The time of expiry in seconds since 1970.
    package let time: Double

    /// Reads the percent-decoded parameters of a query.
    ///
    /// - Returns: `nil` if they state no expiry.
    package init?(query: [(name: String, value: String)]) {
        var values: [String: String] = [:]
        for (name, value) in query { values[name.lowercased()] = value }
        var times = Self.dated.compactMap { prefix -> Int64? in
            guard let date = values["\(prefix)-date"].flatMap(Self.seconds(compact:)),
                let length = values["\(prefix)-expires"].flatMap({ Int64(digits: $0) }),
                length < Self.leastTime
            else { return nil }
            return date + length
        }
        times += ["expires", "expire"].compactMap { values[$0].flatMap(Self.seconds(since1970:)) }
        if values["md5"] != nil || values["st"] != nil {
            times += [values["e"].flatMap(Self.seconds(since1970:))].compactMap { $0 }
        }
        if values["sig"] != nil {
            times += [values["se"].flatMap(Self.seconds(extended:))].compactMap { $0 }
        }
        guard let first = times.min() else { return nil }
        time = Double(first)
    }

    /// Reads the query of a URL.
    package init?(_ url: WebURL) { self.init(query: url.queryParameters) }

    /// Returns whether the link has expired at `now`, this machine's time in seconds since 1970.
    package func isOver(now: Double) -> Bool { now + Self.skew >= time }

    private static func seconds(since1970 text: String) -> Int64? {
        Int64(digits: text).flatMap { (leastTime..<leastTime * 100).contains($0) ? $0 : nil }
    }

    /// Parses `20260102T030405Z` (ISO 8601, basic format).
    private static func seconds(compact text: String) -> Int64? {
        let text = Array(text.utf8)
        guard text.count == 16, text[8] == UInt8(ascii: "T"), text[15] == UInt8(ascii: "Z") else {
            return nil
        }
        return seconds([
            text[0..<4], text[4..<6], text[6..<8], text[9..<11], text[11..<13], text[13..<15],
        ])
    }

    /// Parses a date, or a date and a time in UTC (ISO 8601, extended format).
    ///
    /// Examples are `2026-01-02`, `2026-01-02T03:04Z` and `2026-01-02T03:04:05Z`. Fractions of
    /// seconds are ignored.
    private static func seconds(extended text: String) -> Int64? {
        let text = Array(text.utf8)
        let isDate = text.count == 10
        guard isDate || text.count >= 17 && text.last == UInt8(ascii: "Z"),
            text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-")
        else { return nil }
        var parts = [text[0..<4], text[5..<7], text[8..<10]]
        if !isDate {
            guard text[10] == UInt8(ascii: "T"), text[13] == UInt8(ascii: ":") else { return nil }
            parts += [text[11..<13], text[14..<16]]
            if text.count >= 20 {
                guard text[16] == UInt8(ascii: ":") else { return nil }
                parts.append(text[17..<19])
            }
        }
        return seconds(parts)
    }

    /// Returns the time from digits of year, month, day, hour, minute and second, in UTC.
    ///
    /// The time of day may be missing.
    private static func seconds(_ parts: [ArraySlice<UInt8>]) -> Int64? {
        var numbers = parts.compactMap {
            Int64(digits: String(decoding: $0, as: UTF8.self)).flatMap { Int32(exactly: $0) }
        }
        guard numbers.count == parts.count else { return nil }
        numbers += Array(repeating: 0, count: 6 - numbers.count)
        let most: [ClosedRange<Int32>] = [1970...9999, 1...12, 1...31, 0...23, 0...59, 0...60]
        guard zip(most, numbers).allSatisfy({ $0.contains($1) }) else { return nil }
        var date = tm()
        (date.tm_year, date.tm_mon, date.tm_mday) = (numbers[0] - 1900, numbers[1] - 1, numbers[2])
        (date.tm_hour, date.tm_min, date.tm_sec) = (numbers[3], numbers[4], numbers[5])
        return Int64(timegm(&date))
    }
}

extension WebURL {
    /// Names of parameters whose values are signatures or secrets.
    private static let secretParameters: Set<String> = [
        "access_token", "api_key", "apikey", "auth", "hmac", "key", "md5", "password", "sig",
        "sign", "signature", "st", "token", "x-amz-signature", "x-goog-signature",
        "x-oss-signature", "x-tos-signature", "x-obs-signature",
    ]

    /// Whether the query states an expiry, or has a signature or a secret.
    package var isSignedLink: Bool {
        LinkExpiry(self) != nil
            || queryParameters.contains { Self.secretParameters.contains($0.name.lowercased()) }
    }
}
