import Assembler
import Glibc

/// The folders in which runs download the blobs of a repository: `.segget/run-N`.
///
/// A run writes only in its own folder, so no lock is needed. The folder gets its name, which is
/// exclusive, when its owner and its claims are in it. May be used from any thread; blocks on the
/// disk.
struct HubRuns {
    private static let prefix = "run-"
    private static let unnamed = "new-"
    private static let owner = "owner"
    private static let claims = "blobs"
    /// The most bytes of the list of claims that are read.
    private static let longest = 64 << 20

    /// A run of this process.
    struct Own: Sendable {
        /// The name of its folder.
        var name: String
        /// The blobs that it claims.
        var blobs: [String]
    }

    let folder: Folder

    /// Claims the missing blobs that no other run is downloading.
    ///
    /// - Parameter wanted: The names of the missing blobs.
    /// - Returns: The run; `nil` if others are downloading all blobs.
    /// - Throws: `AssemblyError`.
    func claim(_ wanted: [String]) throws(AssemblyError) -> Own? {
        let claims = HubClaims(wanted, beside: others())
        guard !claims.own.isEmpty else { return nil }
        let unnamed = try make(adopting: claims.adopted)
        var own = Own(name: unnamed, blobs: claims.own)
        copyParts(from: claims.left, to: own)
        try write(own)
        own.name = try give(unnamed)
        // A run that has begun at the same moment, with a lower number, keeps its claims.
        let number = Self.number(of: own.name) ?? 0
        let earlier = others().filter { Self.number(of: $0.name) ?? .max < number }
        let again = HubClaims(claims.own, beside: earlier)
        guard again.own.count < claims.own.count else { return own }
        guard !again.own.isEmpty else {
            end(own, isComplete: false)
            return nil
        }
        own.blobs = again.own
        try write(own)
        return own
    }

    /// Returns whether other runs are downloading blobs; empty if none of them is.
    func waits(for wanted: [String]) -> (isAnyFree: Bool, runs: [String]) {
        let claims = HubClaims(wanted, beside: others())
        return (!claims.own.isEmpty, claims.waits)
    }

    /// Returns the process that works in a folder, for messages; `nil` if it is not known.
    func holder(of name: String) -> LockHolder? {
        folder.folder(name).flatMap { PartLock.holder(Self.owner, in: $0) ?? nil }
    }

    /// Ends a run: removes its folder if all is delivered, else leaves it to the next one.
    func end(_ own: Own, isComplete: Bool) {
        if isComplete { return folder.removeAll(own.name) }
        guard let inside = folder.folder(own.name) else { return }
        for name in [Self.owner, Self.claims] { try? inside.remove(name) }
    }

    /// Ends a run, and removes the parts of the blobs that it claims.
    ///
    /// Parts of other blobs, which it has taken over, are left to the next run.
    func discard(_ own: Own) {
        guard let inside = folder.folder(own.name) else { return }
        let claimed = Set(own.blobs)
        var hasOthers = false
        for name in inside.entryNames {
            let blob = String(name.prefix { $0 != "." })
            if claimed.contains(blob) {
                try? inside.remove(name)
            } else {
                hasOthers = hasOthers || Self.isBlob(blob)
            }
        }
        end(own, isComplete: !hasOthers)
    }

    /// Whether a name is that of a blob: a SHA-1 or SHA-256.
    private static func isBlob(_ name: String) -> Bool { [40, 64].contains(name.utf8.count) }

    /// Removes the folders of runs that are over, if all of their blobs are in the cache.
    ///
    /// Another program may have downloaded them meanwhile.
    ///
    /// - Parameter isThere: Returns whether the cache has a blob.
    func removeLeftovers(_ isThere: (String) -> Bool) {
        for name in HubClaims([], beside: others()).adopted {
            guard let inside = folder.folder(name) else { continue }
            let blobs = inside.entryNames.map { String($0.prefix { $0 != "." }) }.filter(
                Self.isBlob)
            let taken = Self.fresh
            // Another run may take it over at the same moment.
            guard blobs.allSatisfy({ isThere($0) }),
                folder.renameFolder(name, to: taken) == 0
            else { continue }
            folder.removeAll(taken)
        }
    }

    // MARK: Other runs

    private func others() -> [HubClaims.Run] {
        let own = LockHolder.current()
        var now: Int64?
        var runs: [HubClaims.Run] = []
        for name in folder.entryNames.sorted() {
            let isNamed = Self.number(of: name) != nil
            guard isNamed || name.hasPrefix(Self.unnamed), let inside = folder.folder(name) else {
                continue
            }
            // A folder without a name is being made, or was left by a crash.
            let isOver = isNamed && Self.isOver(inside, own)
            guard !isOver || (try? inside.isOwn) != true else {
                runs.append(.init(name: name, blobs: [], life: .over, idle: 0))
                continue
            }
            guard !isOver else { continue }
            now = now ?? folder.serverTime
            let changed = inside.lastChange ?? now ?? 0
            let idle = Double((now ?? changed) - changed) / 1e9
            let isLeft = !isNamed && idle >= HubClaims.patience && (try? inside.isOwn) == true
            let life: HubClaims.Run.Life = isLeft ? .over : .possible
            let list = inside.read(Self.claims, most: Self.longest) ?? []
            let blobs = String(decoding: list, as: UTF8.self).split(separator: "\n").map(
                String.init)
            runs.append(.init(name: name, blobs: Set(blobs), life: life, idle: idle))
        }
        return runs
    }

    /// Whether the run in a folder has ended, or its process no longer exists.
    private static func isOver(_ folder: Folder, _ own: LockHolder) -> Bool {
        guard case .some(let holder) = PartLock.holder(owner, in: folder) else { return true }
        return LockDecision(found: holder, own: own, life: LockHolder.life) == .takeOver
    }

    // MARK: The own run

    /// Makes a folder without a name, from those of runs that are over if there are any.
    private func make(adopting names: [String]) throws(AssemblyError) -> String {
        var made: String?
        for name in names {
            let taken = Self.fresh
            // Another run may take it over at the same moment.
            guard folder.renameFolder(name, to: taken) == 0, let inside = folder.folder(taken)
            else {
                continue
            }
            for name in [Self.owner, Self.claims] { try inside.remove(name) }
            guard let made, let target = folder.folder(made) else {
                made = taken
                continue
            }
            for name in inside.entryNames where name != HubCache.own {
                _ = try? inside.moveWithoutReplacing(name, to: name, in: target)
            }
            folder.removeAll(taken)
        }
        if let made { return made }
        let name = Self.fresh
        let code = folder.makeFolder(name)
        guard code == 0 else { throw .cannotCreate(path: folder.path(of: name), errno: code) }
        return name
    }

    /// Copies the parts of runs that may work no longer, because they may still write to theirs.
    private func copyParts(from names: [String], to own: Own) {
        guard !names.isEmpty, let target = folder.folder(own.name) else { return }
        for source in names.compactMap({ folder.folder($0) }) {
            for blob in own.blobs {
                target.takePart(PartNames(blob), from: source, isOver: false)
            }
        }
    }

    private func write(_ own: Own) throws(AssemblyError) {
        guard let inside = folder.folder(own.name) else {
            throw .folderUnavailable(path: folder.path(of: own.name), errno: errno)
        }
        try inside.replace(Self.claims, Array(own.blobs.joined(separator: "\n").utf8))
        try inside.replace(Self.owner, Array(LockHolder.current().text.utf8))
    }

    /// Gives a folder the next number.
    ///
    /// - Returns: Its name.
    private func give(_ unnamed: String) throws(AssemblyError) -> String {
        let identity = folder.folder(unnamed)?.identity
        var number = (folder.entryNames.compactMap { Self.number(of: $0) }.max() ?? 0) + 1
        while true {
            let name = "\(Self.prefix)\(number)"
            let code = folder.renameFolder(unnamed, to: name)
            // A file server may have done what it reports as failed.
            if code == 0 || identity != nil && folder.folder(name)?.identity == identity {
                return name
            }
            guard [EEXIST, ENOTEMPTY, ENOTDIR].contains(code) else {
                throw .cannotCreate(path: folder.path(of: name), errno: code)
            }
            number += 1
        }
    }

    private static var fresh: String {
        unnamed + String(UInt64.random(in: 0...UInt64.max), radix: 16)
    }

    private static func number(of name: String) -> Int? {
        name.hasPrefix(prefix) ? Int(name.dropFirst(prefix.count)) : nil
    }
}
