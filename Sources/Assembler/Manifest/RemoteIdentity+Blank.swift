extension RemoteIdentity {
    /// Validators that prove nothing, although their form is that of a strong one.
    ///
    /// They are worth no more than weak ones: a change of them is a change, and that they are equal
    /// proves nothing.
    public struct Blank: OptionSet, Sendable, Hashable {
        /// A bit for each field.
        public let rawValue: Int

        /// Makes a set of these bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// `ETag`.
        public static let etag = Blank(rawValue: 1)
        /// `Last-Modified`.
        public static let lastModified = Blank(rawValue: 2)
    }

    /// Has the validators that are blank by their form count for no more than weak ones.
    ///
    /// - Parameter date: `lastModified` in seconds since 1970; `nil` where it is none.
    package mutating func distrustBlank(date: Int64?) {
        if let date, Self.isPlaceholder(date: date) { distrust(.lastModified) }
        if let etag, Self.isBlank(etag: etag, size: size, date: date) { distrust(.etag) }
    }

    /// Whether a date is a placeholder, and not the time of a change.
    ///
    /// Package stores, reproducible archives and images set the time of each file to the epoch, or to a
    /// day after it that no time zone and no old file system moves in front of it; npm has a date of its
    /// own in each archive.
    ///
    /// - Parameter seconds: Since 1970.
    /// - Returns: Whether it says nothing of a change.
    package static func isPlaceholder(date seconds: Int64) -> Bool {
        seconds <= lastOfEpoch || seconds == npmDate
    }

    /// 1980-01-02 00:00:00 UTC.
    private static let lastOfEpoch: Int64 = 315_619_200
    /// 1985-10-26 08:15:00 UTC.
    private static let npmDate: Int64 = 499_162_500

    /// Whether a tag is made of nothing that another file of the same size would change: of a placeholder
    /// date and the size, of the size alone, or of zeros.
    ///
    /// Such are those of nginx (`mtime-size` in hexadecimal), Apache (`size-mtime`, microseconds, and
    /// `inode-size-mtime`: file systems use an inode again), aiohttp (nanoseconds), werkzeug (decimal,
    /// with a hash of the name) and Caddy (both in base 36, without a separator).
    ///
    /// - Parameters:
    ///   - etag: As sent, weak ones included.
    ///   - size: The file's, in bytes.
    ///   - date: What the same reply states as `Last-Modified`, in seconds since 1970.
    /// - Returns: Whether it proves nothing.
    package static func isBlank(etag: String, size: Int64?, date: Int64?) -> Bool {
        let weak = etag.utf8.starts(with: "W/".utf8)
        let opaque = etag.utf8.dropFirst(weak ? 2 : 0).lazy.filter { $0 != UInt8(ascii: "\"") }
            .map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        let text = Array(opaque)
        var words = text.split { !Self.isAlphanumeric($0) }
        // Servers that encode on the way add the coding.
        while let last = words.last, codings.contains(where: last.elementsEqual) {
            words.removeLast()
        }
        if words.allSatisfy(Self.isZero) { return true }
        guard let size else { return false }
        // A time in Python's words: seconds and their fraction.
        let hasFraction =
            words.count > 1 && words[0].startIndex == 0
            && text[words[0].endIndex] == UInt8(ascii: ".")
        if hasFraction {
            guard Self.isZero(words[1]) else { return false }
            words.remove(at: 1)
        }
        // Which of both are the date and the size, in one base.
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

    /// The number that a word is; `nil` where it is none, or too large.
    private static func number(_ word: some Sequence<UInt8>, _ radix: Int) -> Int64? {
        Int64(String(decoding: Array(word), as: UTF8.self), radix: radix)
    }

    /// Parts of a second in which tags state times.
    private static let units: [Int64] = [1, 1000, 1_000_000, 1_000_000_000]

    /// Whether a number in a tag is a placeholder date, in whichever unit.
    ///
    /// Without a date beside it, it is taken for a number of the largest unit in which it would be a time
    /// between 1980 and 2100: a number of seconds is not one of milliseconds of 1970.
    private static func isPlaceholder(number: Int64, date: Int64?) -> Bool {
        if let date, isPlaceholder(date: date),
            units.contains(where: { number.isMultiple(of: $0) && number / $0 == date })
        {
            return true
        }
        let unit = units.first { number / $0 < 4_102_444_800 }
        return unit.map { isPlaceholder(date: number / $0) } ?? false
    }

    /// Whether a word is Caddy's: seconds or nanoseconds and the size, in base 36.
    ///
    /// Short sizes end words by chance.
    private static func isCaddys(_ word: ArraySlice<UInt8>, _ size: Int64) -> Bool {
        let end = String(size, radix: 36).utf8
        guard end.count > 2, word.count > end.count, word.suffix(end.count).elementsEqual(end),
            let number = number(word.dropLast(end.count), 36)
        else { return false }
        return isPlaceholder(number: number, date: nil)
    }
}
