/// The properties that distinguish one version of a remote file from another.
public struct RemoteIdentity: Sendable, Hashable {
    /// The length of the representation in bytes; `nil` if unknown.
    public var size: Int64?
    /// The `ETag` field as sent, weak ones included (RFC 9110 §8.8.3).
    public var etag: String?
    /// The `Last-Modified` field as sent (RFC 9110 §8.8.2).
    public var lastModified: String?
    /// Whether `lastModified` is a strong validator by RFC 9110 §8.8.2.2.
    ///
    /// A strong date is at least one second older than the `Date` of the same response.
    public var lastModifiedIsStrong: Bool
    /// The content coding of the saved bytes, in lower case (RFC 9110 §8.4); `nil` if they are not
    /// encoded.
    public var coding: String?
    /// The validators that only responses to `HEAD` contain.
    public var headOnly: HeadOnly = []
    /// The validators that do not distinguish versions although they look strong.
    public private(set) var blank: Blank = []

    /// The validators that only responses to `HEAD` contain.
    public struct HeadOnly: OptionSet, Sendable, Hashable {
        /// A bit for each field.
        public let rawValue: Int

        /// Creates a set of these bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// `ETag`.
        public static let etag = HeadOnly(rawValue: 1)
        /// `Last-Modified`.
        public static let lastModified = HeadOnly(rawValue: 2)
    }

    /// Creates an identity from the fields of a response.
    public init(
        size: Int64?, etag: String? = nil, lastModified: String? = nil,
        lastModifiedIsStrong: Bool = false, coding: String? = nil
    ) {
        self.size = size
        self.coding = coding
        self.etag = etag
        self.lastModified = lastModified
        self.lastModifiedIsStrong = lastModifiedIsStrong && lastModified != nil
    }

    /// Marks validators as blank, so that they count as weak.
    package mutating func distrust(_ validators: Blank) {
        blank.formUnion(validators)
        if blank.contains(.lastModified) { lastModifiedIsStrong = false }
    }

    /// The entity tag if it is strong, not blank, and a single one (RFC 9110 §8.8.3).
    public var strongETag: String? {
        guard let etag, !blank.contains(.etag), Self.isQuoted(etag) else { return nil }
        return etag
    }

    /// The entity tag, strong or weak, in the form that a conditional request requires.
    ///
    /// A malformed tag, for example one without quotes, yields `nil`. Such a tag is never sent and
    /// proves nothing. A difference still shows another version, as with a weak tag.
    public var wellFormedETag: String? {
        guard let etag, Self.isQuoted(etag.hasPrefix("W/") ? etag.dropFirst(2) : etag[...]) else {
            return nil
        }
        return etag
    }

    /// Returns whether a text is one opaque tag in quotes (RFC 9110 §8.8.3).
    private static func isQuoted(_ text: some StringProtocol) -> Bool {
        text.hasPrefix("\"") && text.hasSuffix("\"")
            && text.utf8.count(where: { $0 == UInt8(ascii: "\"") }) == 2
    }

    /// Returns whether both have the same strong entity tag, and no different dates.
    ///
    /// Validators cannot show more than that for files of two URLs.
    package func hasSameStrongETag(as other: RemoteIdentity) -> Bool {
        let dates = [lastModified, other.lastModified].compactMap { $0 }
        return strongETag != nil && strongETag == other.strongETag && Set(dates).count < 2
    }

    /// Returns whether both have the same strong tag and size, but different dates.
    ///
    /// This is ambiguous. Servers of a cluster may differ in the date; other servers compute a
    /// file's tag once and miss its changes. Only a sample of the bytes can decide.
    public func isDoubted(by offered: RemoteIdentity) -> Bool {
        guard let mine = lastModified, let theirs = offered.lastModified else { return false }
        return strongETag != nil && strongETag == offered.strongETag && size == offered.size
            && mine != theirs
    }

    /// The validator that identifies the version: a strong entity tag, otherwise a strong date.
    public var strongValidator: String? {
        strongETag ?? (lastModifiedIsStrong ? lastModified : nil)
    }

    /// The value for `If-Range` (RFC 9110 §13.1.5); excludes validators that responses to `GET`
    /// omit.
    package var ifRange: String? {
        if !headOnly.contains(.etag), let strongETag { return strongETag }
        return lastModifiedIsStrong && !headOnly.contains(.lastModified) ? lastModified : nil
    }

    /// Adds validators from a `HEAD` response of the same version that the `GET` response omitted.
    package mutating func remember(_ said: RemoteIdentity) {
        guard said.size == nil || size == nil || said.size == size, said.coding == coding,
            etag == nil || said.etag == nil || etag == said.etag,
            lastModified == nil || said.lastModified == nil || lastModified == said.lastModified
        else { return }
        if etag == nil, let tag = said.etag {
            etag = tag
            headOnly.insert(.etag)
            distrust(said.blank.intersection(.etag))
        }
        if lastModified == nil, let date = said.lastModified {
            (lastModified, lastModifiedIsStrong) = (date, said.lastModifiedIsStrong)
            headOnly.insert(.lastModified)
            distrust(said.blank.intersection(.lastModified))
        }
    }

    /// The kind of the strong validator: `etag`, `last-modified` or `none`.
    public var kind: String {
        if strongETag != nil { return "etag" }
        return lastModifiedIsStrong ? "last-modified" : "none"
    }

    /// Returns why bytes of this version may not be continued with bytes of `offered`.
    ///
    /// The result is `nil` if a strong validator shows that both are the same version.
    public func obstacle(toContinuingWith offered: RemoteIdentity) -> StartOverReason? {
        // Without a size on either side, ranges cannot be requested.
        guard size != nil || offered.size != nil else { return .noRanges }
        guard let size, size == offered.size else {
            return .sizeChanged(was: size, now: offered.size)
        }
        if let mine = etag, let theirs = offered.etag, mine != theirs {
            return .etagChanged(was: mine, now: theirs)
        }
        guard coding == offered.coding else {
            return .codingChanged(was: coding, now: offered.coding)
        }
        // A strong tag is sufficient (RFC 9110 §8.8.1, §13.1.5) unless the dates contradict it.
        if strongETag != nil, offered.strongETag != nil, !isDoubted(by: offered) { return nil }
        if let mine = lastModified, let theirs = offered.lastModified, mine != theirs {
            return .lastModifiedChanged(was: mine, now: theirs)
        }
        if lastModifiedIsStrong, offered.lastModifiedIsStrong {
            return nil
        }
        if let etag, offered.etag == nil { return .etagChanged(was: etag, now: nil) }
        return .noValidator
    }
}

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
            Self.radixes.contains { radix in
                Self.number(length, radix) == size
                    && Self.number(mtime, radix).map { isPlaceholder(number: $0, date: date) }
                        ?? false
            }
        }
        switch words.count {
        case 1:
            return Self.radixes.contains { Self.number(words[0], $0) == size }
                || isCaddys(words[0], size)
        case 2: return areBoth(words[0], words[1]) || areBoth(words[1], words[0])
        case 3: return hasFraction ? areBoth(words[0], words[1]) : areBoth(words[2], words[1])
        default: return false
        }
    }

    private static let radixes = [10, 16]
    private static let codings = ["gzip", "br", "zstd", "deflate"].map { Array($0.utf8) }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }

    private static func isZero(_ word: ArraySlice<UInt8>) -> Bool {
        word.allSatisfy { $0 == UInt8(ascii: "0") }
    }

    /// Returns the value of a word; `nil` if it is not a number or too large.
    private static func number(_ word: ArraySlice<UInt8>, _ radix: Int) -> Int64? {
        Int64(String(decoding: word, as: UTF8.self), radix: radix)
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
