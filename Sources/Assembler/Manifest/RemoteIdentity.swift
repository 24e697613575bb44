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
