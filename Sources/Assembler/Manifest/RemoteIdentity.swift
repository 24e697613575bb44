/// What distinguishes one version of a remote file from another.
public struct RemoteIdentity: Sendable, Hashable {
    /// Length of the representation in bytes, `nil` when unknown.
    public var size: Int64?
    /// The `ETag` field as sent, weak ones included (RFC 9110 §8.8.3).
    public var etag: String?
    /// The `Last-Modified` field as sent (RFC 9110 §8.8.2).
    public var lastModified: String?
    /// Whether `lastModified` is a strong validator by RFC 9110 §8.8.2.2: at least a second older
    /// than the `Date` of the reply that brought it.
    public var lastModifiedIsStrong: Bool
    /// The content coding in which the bytes are saved, in lower case (RFC 9110 §8.4); `nil` when they are
    /// the file's own.
    public var coding: String?
    /// What of this only `HEAD` states: replies to `GET` leave it out.
    public var headOnly: HeadOnly = []
    /// What of this proves nothing, although its form is that of a strong validator.
    public private(set) var blank: Blank = []

    /// Fields that only `HEAD` states.
    public struct HeadOnly: OptionSet, Sendable, Hashable {
        /// A bit for each field.
        public let rawValue: Int

        /// Makes a set of these bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// `ETag`.
        public static let etag = HeadOnly(rawValue: 1)
        /// `Last-Modified`.
        public static let lastModified = HeadOnly(rawValue: 2)
    }

    /// Makes an identity from what a reply said.
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

    /// Has validators count for no more than weak ones.
    package mutating func distrust(_ validators: Blank) {
        blank.formUnion(validators)
        if blank.contains(.lastModified) { lastModifiedIsStrong = false }
    }

    /// The entity tag, when it is a strong one that proves something; not several in one field (RFC 9110
    /// §8.8.3).
    public var strongETag: String? {
        guard let etag, !blank.contains(.etag), Self.isQuoted(etag) else { return nil }
        return etag
    }

    /// The entity tag as a condition may carry it, weak or strong; `nil` for one that is malformed, as
    /// one without quotes is.
    ///
    /// A malformed tag proves nothing and is sent to nobody. That it differs shows another version
    /// all the same, as with a weak one.
    public var wellFormedETag: String? {
        guard let etag, Self.isQuoted(etag.hasPrefix("W/") ? etag.dropFirst(2) : etag[...]) else {
            return nil
        }
        return etag
    }

    /// Whether a text is one opaque tag in quotes (RFC 9110 §8.8.3).
    private static func isQuoted(_ text: some StringProtocol) -> Bool {
        text.hasPrefix("\"") && text.hasSuffix("\"")
            && text.utf8.count(where: { $0 == UInt8(ascii: "\"") }) == 2
    }

    /// Whether both are known by the same strong entity tag, and by no different date: all that one
    /// server's validators can say of another URL's file.
    package func hasSameStrongETag(as other: RemoteIdentity) -> Bool {
        let dates = [lastModified, other.lastModified].compactMap { $0 }
        return strongETag != nil && strongETag == other.strongETag && Set(dates).count < 2
    }

    /// Whether both have the same strong tag and size, and dates that differ.
    ///
    /// That proves neither: servers of a cluster may differ in the date, and some servers compute a
    /// file's tag once and do not notice that it changed. A sample of the bytes shows it.
    public func isDoubted(by offered: RemoteIdentity) -> Bool {
        guard let mine = lastModified, let theirs = offered.lastModified else { return false }
        return strongETag != nil && strongETag == offered.strongETag && size == offered.size
            && mine != theirs
    }

    /// The validator that proves the version: a strong entity tag, else a strong date.
    public var strongValidator: String? {
        strongETag ?? (lastModifiedIsStrong ? lastModified : nil)
    }

    /// The value for `If-Range` (RFC 9110 §13.1.5): nothing that a reply to `GET` would not state.
    package var ifRange: String? {
        if !headOnly.contains(.etag), let strongETag { return strongETag }
        return lastModifiedIsStrong && !headOnly.contains(.lastModified) ? lastModified : nil
    }

    /// Adds what `HEAD` said of the same version, and a reply to `GET` left out.
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

    /// What identifies the version, in a word: `etag`, `last-modified` or `none`.
    public var kind: String {
        if strongETag != nil { return "etag" }
        return lastModifiedIsStrong ? "last-modified" : "none"
    }

    /// Why bytes of this version may not be continued with bytes of `offered`; `nil` when a strong
    /// validator proves that both are the same version.
    public func obstacle(toContinuingWith offered: RemoteIdentity) -> StartOverReason? {
        // Without a size on either side nothing can be fetched by ranges.
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
        // A strong tag decides alone (RFC 9110 §8.8.1, §13.1.5) unless the date contradicts it.
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
