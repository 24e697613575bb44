import Assembler
import SegmenterRules
import SegmenterTransport

/// Remembers the parts of earlier runs in the folders of a session.
///
/// A changed folder is read again, but reading takes at most a tenth of the time. New parts of
/// other programs are thus found soon, and many downloads do not each read a large folder. Each
/// manifest is opened once. May be used from any thread.
final class BegunParts: Sendable {
    /// The known parts of one folder.
    private struct Shelf {
        var identity: FileIdentity?
        var reading = FolderReading()
        var inodes: [String: UInt64] = [:]
        /// The headers of the manifests, by the names of the destinations.
        var headers: [String: Manifest.Header] = [:]
        /// The names of the destinations, by the URL in the manifest.
        var names: [String: Set<String>] = [:]
        /// The names of parts that a newer link may have begun, so that their manifests show
        /// another URL.
        var given: Set<String> = []
    }

    /// The number of folders that are remembered.
    private static let most = 256

    private let shelves = Monitor<[String: Shelf]>([:])

    /// Returns the parts in a folder that may have been begun for one of the URLs; blocks.
    ///
    /// - Returns: The names of the destinations, sorted. The manifests may have changed since they
    ///   were read.
    func candidates(in path: String, for urls: [WebURL]) -> [String] {
        shelves.withLock { shelves in
            guard let folder = try? Folder(path) else { return [] }
            var shelf = shelves.removeValue(forKey: path) ?? Shelf()
            if shelf.identity != folder.identity { shelf = Shelf(identity: folder.identity) }
            if shelf.reading.isDue(monotonicSeconds(), modified: folder.modified) {
                Self.read(folder, &shelf)
            }
            if shelves.count >= Self.most { shelves = [:] }
            shelves[path] = shelf
            return urls.reduce(into: shelf.given) { names, url in
                names.formUnion(shelf.names[url.redacted] ?? [])
            }.sorted()
        }
    }

    private static func read(_ folder: Folder, _ shelf: inout Shelf) {
        let (modified, began) = (folder.modified, monotonicSeconds())
        let manifests = folder.manifests()
        var gone = shelf.inodes
        for manifest in manifests {
            if gone.removeValue(forKey: manifest.name) == manifest.inode { continue }
            forget(manifest.name, &shelf)
            shelf.inodes[manifest.name] = manifest.inode
            guard let header = folder.headerOfPart(manifest.name) else { continue }
            shelf.headers[manifest.name] = header
            shelf.names[header.url, default: []].insert(manifest.name)
            if header.givenHash != nil { shelf.given.insert(manifest.name) }
        }
        for name in gone.keys { forget(name, &shelf) }
        shelf.reading.took(from: began, to: monotonicSeconds(), modified: modified)
    }

    private static func forget(_ name: String, _ shelf: inout Shelf) {
        shelf.inodes[name] = nil
        shelf.given.remove(name)
        guard let header = shelf.headers.removeValue(forKey: name) else { return }
        shelf.names[header.url]?.remove(name)
        if shelf.names[header.url]?.isEmpty == true { shelf.names[header.url] = nil }
    }
}

/// Decides when a folder is read again.
///
/// Pure; times are seconds on the monotonic clock, unless stated otherwise.
struct FolderReading: Sendable {
    /// The resolution of a file system's clock, in nanoseconds.
    ///
    /// A folder that has just changed may change again without a new modification time.
    private static let tick: Int64 = 20_000_000

    /// The end and the duration of the last reading, and the folder's modification time before it.
    private var last: (end: Double, duration: Double, modified: Int64?)?

    /// Returns whether to read the folder now.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - modified: The folder's modification time, in nanoseconds since 1970; `nil` if it is
    ///     unknown.
    /// - Returns: Whether the folder may have changed, and the last reading was long enough ago.
    func isDue(_ now: Double, modified: Int64?) -> Bool {
        guard let last else { return true }
        if let modified, modified == last.modified { return false }
        return now - last.end >= 9 * last.duration
    }

    /// Records a reading.
    ///
    /// - Parameters:
    ///   - began: When the reading began.
    ///   - end: When the reading ended.
    ///   - modified: The folder's modification time before the reading, in nanoseconds since 1970.
    ///   - date: The time of day when the reading began, in nanoseconds since 1970.
    mutating func took(
        from began: Double, to end: Double, modified: Int64?,
        date: Int64 = Int64(secondsSince1970() * 1e9)
    ) {
        let isSettled = modified.map { abs(date - $0) > Self.tick } ?? false
        last = (end, end - began, isSettled ? modified : nil)
    }
}
