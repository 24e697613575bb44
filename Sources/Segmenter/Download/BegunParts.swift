import Assembler

/// The parts that earlier runs have left in the folders of a session.
///
/// A folder is read once, and again when it has changed, but in no more than a tenth of the time: what other
/// programs begin there is found soon, and a folder of many files costs each of many downloads nothing. A manifest
/// is opened once.
final class BegunParts: Sendable {
    /// What was found in one folder.
    private struct Shelf {
        var identity: FileIdentity?
        var reading = FolderReading()
        var inodes: [String: UInt64] = [:]
        /// What the parts were begun for, by the name of their files.
        var headers: [String: Manifest.Header] = [:]
        /// Their names by what their manifests show of the URL.
        var names: [String: Set<String>] = [:]
        /// Those that may be another URL's than their manifests show.
        var given: Set<String> = []
    }

    /// Most folders that are remembered.
    private static let most = 256

    private let shelves = Monitor<[String: Shelf]>([:])

    /// The parts in a folder that may have been begun for one of the URLs; blocks.
    ///
    /// - Returns: The names of their files, in no order; the manifests may be others by now.
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

/// When a folder is read again.
///
/// Pure; times are seconds on the monotonic clock.
struct FolderReading: Sendable {
    /// A folder that has just changed may change again within the same tick of the file system's clock.
    private static let tick: Int64 = 20_000_000

    /// When the last reading ended, how long it took, and when the folder had last changed before it.
    private var last: (end: Double, duration: Double, modified: Int64?)?

    /// Whether it is to be read now.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - modified: When it has last changed, in nanoseconds since 1970.
    /// - Returns: Whether it is.
    func isDue(_ now: Double, modified: Int64?) -> Bool {
        guard let last else { return true }
        if let modified, modified == last.modified { return false }
        return now - last.end >= 9 * last.duration
    }

    /// Notes a reading.
    ///
    /// - Parameters:
    ///   - began: When it began.
    ///   - end: When it ended.
    ///   - modified: When the folder had last changed before it began.
    ///   - date: The time of day when it began, in nanoseconds since 1970.
    mutating func took(
        from began: Double, to end: Double, modified: Int64?,
        date: Int64 = Int64(secondsSince1970() * 1e9)
    ) {
        let isSettled = modified.map { abs(date - $0) > Self.tick } ?? false
        last = (end, end - began, isSettled ? modified : nil)
    }
}
