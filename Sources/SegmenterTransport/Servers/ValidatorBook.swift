/// The dates and entity tags that hosts have sent, with the sizes of the files.
///
/// A date or tag that a host sends for two files of different sizes does not distinguish versions
/// there. Only hashes are stored. May be used from any thread.
package final class ValidatorBook: Sendable {
    /// The file sizes that a host has sent with a date or tag.
    package struct Sighting: Sendable, Hashable {
        /// The size of the file in bytes; `nil` after different sizes.
        package var size: Int64?
        /// The time at which the size was learned, in seconds since 1970.
        package var learned: Double
    }

    /// The maximum number of sightings with one size, and of sightings with several, that are
    /// stored.
    package static let most = 256
    /// The seconds after which a repeated sighting is written again: a day.
    fileprivate static let freshness = 86_400.0

    /// The seconds within which another size of the same URL replaces the first: `HEAD` may have
    /// been wrong.
    fileprivate static let correction = 600.0

    fileprivate struct State {
        var sightings: [UInt64: Sighting] = [:]
        /// The URLs of this session whose sizes are stored.
        var urls: [UInt64: String] = [:]
        /// The sightings that have not been written yet.
        var news: Set<UInt64> = []
        /// Schedules writing; `nil` if that is already scheduled.
        var save: (@Sendable () -> Void)?
    }

    private let state = Monitor(State())

    /// Starts with the sightings of earlier sessions.
    ///
    /// - Parameters:
    ///   - sightings: The sightings by hash.
    ///   - save: Called when there is a new sighting, once until `takeNews` is called.
    package func begin(
        with sightings: [UInt64: Sighting], save: @escaping @Sendable () -> Void
    ) {
        state.withLock { state in
            state.sightings = sightings
            state.save = save
        }
    }

    /// Returns the hash of a date or tag of a host.
    package static func key(_ value: String, at origin: String) -> UInt64 {
        shortHash(of: "\(origin) \(value)")
    }

    /// Records the date or tag that a host states for a file of `size` bytes.
    ///
    /// - Returns: Whether the host has stated the same for a file of another size.
    package func note(_ key: UInt64, size: Int64, url: String, now: Double) -> Bool {
        let (isShared, save) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
            let isShared = state.note(key, size, url, now)
            guard !state.news.isEmpty else { return (isShared, nil) }
            defer { state.save = nil }
            return (isShared, state.save)
        }
        save?()
        return isShared
    }

    /// Returns the sightings that have not been written, and marks them as written.
    ///
    /// - Parameter save: Called when there is a new sighting after this.
    /// - Returns: The sightings by hash.
    package func takeNews(save: (@Sendable () -> Void)? = nil) -> [UInt64: Sighting] {
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

    /// Removes the oldest sightings, once there are eight times as many as are written.
    private mutating func bound() {
        guard sightings.count >= 8 * ValidatorBook.most else { return }
        sightings = ValidatorBook.latest(sightings)
        urls = urls.filter { sightings[$0.key] != nil }
        news.formIntersection(sightings.keys)
    }
}

extension ValidatorBook {
    /// Returns the latest sightings, up to the maximum number that is stored.
    package static func latest(_ all: [UInt64: Sighting]) -> [UInt64: Sighting] {
        let shared = all.filter { $0.value.size == nil }
        let others = all.filter { $0.value.size != nil }
        return [shared, others].reduce(into: [:]) { kept, some in
            let last = some.sorted { $0.value.learned > $1.value.learned }.prefix(most)
            for (key, sighting) in last { kept[key] = sighting }
        }
    }

    /// Merges the sightings of two sessions.
    package static func joined(_ one: Sighting, _ other: Sighting) -> Sighting {
        Sighting(
            size: one.size == other.size ? one.size : nil, learned: max(one.learned, other.learned))
    }
}

/// The validators that one download trusts.
///
/// A validator that was trusted once is trusted until the end of the download. The same date on
/// another file is no reason to start over in the middle. May be used from any thread.
package final class ValidatorTrust: Sendable {
    private let book: ValidatorBook
    private let shared = Monitor<[UInt64: Bool]>([:])

    init(_ book: ValidatorBook) { self.book = book }

    /// Returns the validators of a file that its host has also stated for a file of another size.
    ///
    /// - Parameters:
    ///   - identity: The size and validators that a response states.
    ///   - origin: The origin of the response.
    ///   - url: The requested URL, in full.
    ///   - now: The time in seconds since 1970.
    /// - Returns: The validators that distinguish no versions.
    package func shared(
        in identity: RemoteIdentity, at origin: String, of url: String, now: Double
    ) -> RemoteIdentity.Blank {
        // Encoded bytes have another size, but often the date of the original file.
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
