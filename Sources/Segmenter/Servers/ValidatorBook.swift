import Assembler

/// Which dates and tags hosts have sent for which sizes: one that a host sends for two files of different
/// size distinguishes no versions there.
///
/// Knows hashes of them only. May be used from any thread.
final class ValidatorBook: Sendable {
    /// What a host has sent with a date or a tag.
    struct Sighting: Sendable, Hashable {
        /// Size of the file in bytes; `nil` once there were several.
        var size: Int64?
        /// When that was learned, in seconds since 1970.
        var learned: Double
    }

    /// Most of them that are remembered, of those with one size, and of those with several.
    static let most = 256
    /// Seconds after which what is seen again is written down again: a day.
    fileprivate static let freshness = 86_400.0

    /// Seconds within which another size at the same URL corrects the one before: `HEAD` may have lied.
    fileprivate static let correction = 600.0

    fileprivate struct State {
        var sightings: [UInt64: Sighting] = [:]
        /// Of which URL of this session a size is.
        var urls: [UInt64: String] = [:]
        /// Those that are not written down yet.
        var news: Set<UInt64> = []
        /// Has what is new written down soon; `nil` while that is due already.
        var save: (@Sendable () -> Void)?
    }

    private let state = Monitor(State())

    /// Begins with what earlier sessions have seen.
    ///
    /// - Parameters:
    ///   - sightings: By hash.
    ///   - save: Called once as soon as there is something new, and not again before `takeNews`.
    func begin(
        with sightings: [UInt64: Sighting], save: @escaping @Sendable () -> Void
    ) {
        state.withLock { state in
            state.sightings = sightings
            state.save = save
        }
    }

    /// What stands for a date or a tag of a host.
    static func key(_ value: String, at origin: String) -> UInt64 {
        shortHash(of: "\(origin) \(value)")
    }

    /// Takes what a host states of a file of `size` bytes.
    ///
    /// - Returns: Whether it has stated the same of a file of another size.
    func note(_ key: UInt64, size: Int64, url: String, now: Double) -> Bool {
        let (isShared, save) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
            let isShared = state.note(key, size, url, now)
            guard !state.news.isEmpty else { return (isShared, nil) }
            defer { state.save = nil }
            return (isShared, state.save)
        }
        save?()
        return isShared
    }

    /// What was not written down yet, and counts as written down from now on.
    ///
    /// - Parameter save: Called once there is more.
    /// - Returns: By hash.
    func takeNews(save: (@Sendable () -> Void)? = nil) -> [UInt64: Sighting] {
        state.withLock { state in
            defer { (state.news, state.save) = ([], save) }
            return state.sightings.filter { state.news.contains($0.key) }
        }
    }
}

extension ValidatorBook.State {
    fileprivate mutating func note(
        _ key: UInt64, _ size: Int64, _ url: String, _ now: Double
    ) -> Bool {
        guard let before = sightings[key] else {
            bound()
            write(key, size, url, now)
            return false
        }
        let age = now - before.learned
        let isCorrected = urls[key] == url && age < ValidatorBook.correction
        let isShared = before.size.map { $0 != size && !isCorrected } ?? true
        let news = isShared ? nil : size
        if news != before.size || age > ValidatorBook.freshness { write(key, news, url, now) }
        return isShared
    }

    private mutating func write(_ key: UInt64, _ size: Int64?, _ url: String, _ now: Double) {
        sightings[key] = ValidatorBook.Sighting(size: size, learned: now)
        urls[key] = url
        news.insert(key)
    }

    /// Forgets the oldest, long before there are too many.
    private mutating func bound() {
        guard sightings.count >= 8 * ValidatorBook.most else { return }
        sightings = ValidatorBook.latest(sightings)
        urls = urls.filter { sightings[$0.key] != nil }
        news.formIntersection(sightings.keys)
    }
}

extension ValidatorBook {
    /// Those that were learned last, as many as are remembered.
    static func latest(_ all: [UInt64: Sighting]) -> [UInt64: Sighting] {
        let shared = all.filter { $0.value.size == nil }
        let others = all.filter { $0.value.size != nil }
        return [shared, others].reduce(into: [:]) { kept, some in
            let last = some.sorted { $0.value.learned > $1.value.learned }.prefix(most)
            for (key, sighting) in last { kept[key] = sighting }
        }
    }

    /// What one session has seen, and another one.
    static func joined(_ one: Sighting, _ other: Sighting) -> Sighting {
        Sighting(
            size: one.size == other.size ? one.size : nil, learned: max(one.learned, other.learned))
    }
}

/// Which validators one download trusts.
///
/// What it has trusted once, it trusts to its end: that other files have the same date is no reason to begin
/// again in the middle. May be used from any thread.
final class ValidatorTrust: Sendable {
    private let book: ValidatorBook
    private let shared = Monitor<[UInt64: Bool]>([:])

    init(_ book: ValidatorBook) { self.book = book }

    /// Which of the validators of a file its host has stated of a file of another size.
    ///
    /// - Parameters:
    ///   - identity: What a reply states.
    ///   - origin: Whose reply.
    ///   - url: The URL that was asked for, in full.
    ///   - now: In seconds since 1970.
    /// - Returns: Those that prove nothing.
    func shared(
        in identity: RemoteIdentity, at origin: String, of url: String, now: Double
    ) -> RemoteIdentity.Blank {
        // Encoded bytes have another size, and often the date of those that they were made of.
        guard let size = identity.size, identity.coding == nil else { return [] }
        var blank: RemoteIdentity.Blank = []
        if let tag = identity.strongETag, isShared(tag, size, origin, url, now) {
            blank.insert(.etag)
        }
        if let date = identity.lastModified, identity.lastModifiedIsStrong,
            isShared(date, size, origin, url, now)
        {
            blank.insert(.lastModified)
        }
        return blank
    }

    private func isShared(
        _ value: String, _ size: Int64, _ origin: String, _ url: String, _ now: Double
    ) -> Bool {
        let key = ValidatorBook.key(value, at: origin)
        let isShared = book.note(key, size: size, url: url, now: now)
        return shared.withLock { known in
            if let before = known[key] { return before }
            known[key] = isShared
            return isShared
        }
    }
}
