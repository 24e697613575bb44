extension RemoteIdentity {
    /// Validators that have the form of a strong validator but do not distinguish versions.
    ///
    /// Blank validators count as weak: if they differ, the version is another one; if they are
    /// equal, it may still be another one.
    public struct Blank: OptionSet, Sendable, Hashable {
        /// A bit for each field.
        public let rawValue: Int

        /// Creates a set of these bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// `ETag`.
        public static let etag = Blank(rawValue: 1)
        /// `Last-Modified`.
        public static let lastModified = Blank(rawValue: 2)
    }

    /// Marks the validators that are blank by their form, so that they count as weak.
    ///
    /// - Parameter date: `lastModified` in seconds since 1970; `nil` if it is absent or invalid.
    package mutating func distrustBlank(date: Int64?) {
        if let date, Self.isPlaceholder(date: date) { distrust(.lastModified) }
        if let etag, Self.isBlank(etag: etag, size: size, date: date) { distrust(.etag) }
    }

    /// Returns whether a date is a placeholder, not the time of a change.
    ///
    /// Package stores, reproducible archives and disk images set all times to the epoch, or to a
    /// day shortly after it, which is valid in every time zone and on file systems that start at
    /// 1980. npm archives use a fixed date as well.
    ///
    /// - Parameter seconds: The date in seconds since 1970.
    /// - Returns: Whether the date is a placeholder.
    package static func isPlaceholder(date seconds: Int64) -> Bool {
        seconds <= lastOfEpoch || seconds == npmDate
    }

    /// 1980-01-02 00:00:00 UTC.
    private static let lastOfEpoch: Int64 = 315_619_200
    /// 1985-10-26 08:15:00 UTC.
    private static let npmDate: Int64 = 499_162_500

    /// Returns whether a tag consists only of values that other files of the same size share: a
    /// placeholder date and the size, the size alone, or zeros.
    ///
    /// Such tags come from nginx (`mtime-size` in hexadecimal), Apache (`size-mtime` in
    /// microseconds; `inode-size-mtime`, where file systems reuse inodes), aiohttp (nanoseconds),
    /// werkzeug (decimal, with a hash of the name) and Caddy (both in base 36, without a
    /// separator).
    ///
    /// - Parameters:
    ///   - etag: The tag as sent, strong or weak.
    ///   - size: The size of the file in bytes.
    ///   - date: `Last-Modified` of the same response, in seconds since 1970.
    /// - Returns: Whether the tag does not distinguish versions.
    package static func isBlank(etag: String, size: Int64?, date: Int64?) -> Bool {
        let weak = etag.utf8.starts(with: "W/".utf8)
        let opaque = etag.utf8.dropFirst(weak ? 2 : 0).lazy.filter { $0 != UInt8(ascii: "\"") }
            .map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        let text = Array(opaque)
        var words = text.split { !Self.isAlphanumeric($0) }
        // Servers that encode the response on the fly append the coding.
        while let last = words.last, codings.contains(where: last.elementsEqual) {
            words.removeLast()
        }
        if words.allSatisfy(Self.isZero) { return true }
        guard let size else { return false }
        // A time as Python prints it: seconds and their fraction.
        let hasFraction =
            words.count > 1 && words[0].startIndex == 0
            && text[words[0].endIndex] == UInt8(ascii: ".")
        if hasFraction {
            guard Self.isZero(words[1]) else { return false }
            words.remove(at: 1)
        }
        // Whether the words are a placeholder date and the size, both in the same base.
        func areBoth(_ mtime: ArraySlice<UInt8>, _ length: ArraySlice<UInt8>) -> Bool {
            [10, 16].contains { radix in
                Self.number(length, radix) == size
                    && Self.number(mtime, radix).map { isPlaceholder(number: $0, date: date) }
                        ?? false
            }
        }
        switch words.count {
        case 1:
            return [10, 16].contains { Self.number(words[0], $0) == size }
                || isCaddys(words[0], size)
        case 2: return areBoth(words[0], words[1]) || areBoth(words[1], words[0])
        case 3: return hasFraction ? areBoth(words[0], words[1]) : areBoth(words[2], words[1])
        default: return false
        }
    }

    private static let codings = ["gzip", "br", "zstd", "deflate"].map { Array($0.utf8) }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }

    private static func isZero(_ word: ArraySlice<UInt8>) -> Bool {
        word.allSatisfy { $0 == UInt8(ascii: "0") }
    }

    /// Returns the value of a word; `nil` if it is not a number or too large.
    private static func number(_ word: some Sequence<UInt8>, _ radix: Int) -> Int64? {
        Int64(String(decoding: Array(word), as: UTF8.self), radix: radix)
    }

    /// The time units in tags, in fractions of a second.
    private static let units: [Int64] = [1, 1000, 1_000_000, 1_000_000_000]

    /// Returns whether a number in a tag is a placeholder date in any unit.
    ///
    /// Without `date`, the number is read in the largest unit that yields a time before 2100.
    /// Otherwise a number of seconds could pass for milliseconds of 1970.
    private static func isPlaceholder(number: Int64, date: Int64?) -> Bool {
        if let date, isPlaceholder(date: date),
            units.contains(where: { number.isMultiple(of: $0) && number / $0 == date })
        {
            return true
        }
        let unit = units.first { number / $0 < 4_102_444_800 }
        return unit.map { isPlaceholder(date: number / $0) } ?? false
    }

    /// Returns whether a word is a tag of Caddy: a placeholder date in seconds or nanoseconds, and
    /// the size, in base 36.
    ///
    /// Sizes of one or two digits are ignored, since a word may end in them by chance.
    private static func isCaddys(_ word: ArraySlice<UInt8>, _ size: Int64) -> Bool {
        let end = String(size, radix: 36).utf8
        guard end.count > 2, word.count > end.count, word.suffix(end.count).elementsEqual(end),
            let number = number(word.dropLast(end.count), 36)
        else { return false }
        return isPlaceholder(number: number, date: nil)
    }
}
