import CLinux
import Glibc

/// What becomes of a folder that is missing on the way to a destination.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum MissingFolders: Sendable, Hashable {
    /// The download fails.
    case refused
    /// It is made, and those above it.
    case made
    /// It is made where its path leads below one of these folders, without `..` and through no symbolic
    /// link out of it; these folders themselves are made wherever they are.
    case madeBelow([String])
}

extension MissingFolders: Codable {
    /// Reads `"refused"`, `"made"`, or the list of folders below which they are made.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let folders = try? container.decode([String].self) {
            self = .madeBelow(folders)
            return
        }
        switch try container.decode(String.self) {
        case "refused": self = .refused
        case "made": self = .made
        default:
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "neither `refused` nor `made` nor a list")
        }
    }

    /// Stores `"refused"`, `"made"`, or the list of folders below which they are made.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .refused: try container.encode("refused")
        case .made: try container.encode("made")
        case .madeBelow(let folders): try container.encode(folders)
        }
    }
}

/// Where a folder is or will be: the same before it is made and afterwards.
package struct FolderPlace: Sendable, Hashable {
    /// The folder that was there.
    var root: FileIdentity
    /// Names of the folders below it.
    var below: [String] = []
}

/// The folders that downloads have made on the way to their destinations, each of which is removed again
/// unless something was put into it.
///
/// May be used from any thread; blocks on the disk.
package final class MadeFolders: Sendable {
    private struct Made {
        let path: String
        let identity: FileIdentity
    }

    private struct State {
        /// In the order in which they were made.
        var made: [Made] = []
        /// Paths of finished files' folders, and of those above them.
        var kept: Set<String> = []
        var places: [FileIdentity: FolderPlace] = [:]
    }

    private let state = Monitor(State())

    private let umask: mode_t?

    /// Makes them with the permissions that a file mode creation mask leaves; `nil` for the process's.
    package init(umask: UInt32? = nil) { self.umask = umask.map { mode_t($0) } }

    /// Makes a folder, and those above it, unless it is there.
    ///
    /// Each one has the permissions that the mask leaves, and is durable when this returns.
    ///
    /// - Throws: `folderUnavailable` where the rule forbids it, and where something that is no folder
    ///   stands in the way; `cannotCreate`, `io`.
    package func make(_ path: String, _ rule: MissingFolders) throws(AssemblyError) {
        // Under the lock: nobody builds on a folder that another one has made and not yet synced.
        let result = state.withLock { state -> Result<Void, AssemblyError> in
            do throws(AssemblyError) {
                guard try Self.isMissing(path) else { return .success(()) }
                let ways = try Self.ways(to: path, rule)
                for way in ways { _ = try walk(way, makes: true, &state) }
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    /// The folder in which a missing one would be made; `nil` when that is there.
    ///
    /// Only looks.
    ///
    /// - Throws: As ``make(_:_:)``, as far as can be seen.
    package func parent(
        ofMissing path: String, _ rule: MissingFolders
    ) throws(AssemblyError) -> String? {
        guard try Self.isMissing(path) else { return nil }
        var state = State()
        for way in try Self.ways(to: path, rule) {
            if let parent = try walk(way, makes: false, &state) { return parent }
        }
        return nil
    }

    /// Where a folder is or will be; `nil` when the system does not say.
    package func place(of path: String) -> FolderPlace? {
        if let identity = Folder.identity(at: path) {
            return state.withLock { $0.places[identity] } ?? FolderPlace(root: identity)
        }
        let code = errno
        var steps = Self.steps(of: path)
        guard code == ENOENT, let last = steps.popLast() else { return nil }
        let above = (path.hasPrefix("/") ? "/" : "") + steps.joined(separator: "/")
        guard var place = place(of: FileTarget.folder(above)) else { return nil }
        place.below.append(last)
        return place
    }

    /// Notes that a finished file was put into a folder, whatever becomes of the file then.
    package func keep(_ path: String) {
        state.withLock { state in
            guard !state.made.isEmpty else { return }
            var path = Self.plain(path)
            while state.kept.insert(path).inserted, let slash = path.lastIndex(of: "/") {
                path = String(path[..<slash])
            }
        }
    }

    /// Removes those of them that are empty, the last one first.
    package func removeEmpty() {
        let made = state.withLock { state in
            let made = state.made.filter { !state.kept.contains(Self.plain($0.path)) }
            state = State()
            return made
        }
        for folder in made.reversed() where Folder.identity(at: folder.path) == folder.identity {
            // rmdir(2) removes nothing that has something in it, and follows no link.
            _ = rmdir(folder.path)
        }
    }
}

// MARK: - The way to a folder

extension MadeFolders {
    /// Folders to be made one in the other.
    private struct Way {
        /// The folder from which they count, which is there.
        var base: String
        var steps: [String]
        /// Whether none may be made elsewhere than below `base`.
        var isBound = false
    }

    private static func isMissing(_ path: String) throws(AssemblyError) -> Bool {
        let descriptor = open(path, segget_path_only | O_DIRECTORY | O_CLOEXEC)
        guard descriptor < 0 else {
            close(descriptor)
            return false
        }
        guard errno == ENOENT else { throw .folderUnavailable(path: path, errno: errno) }
        return true
    }

    /// What is to be walked, in order, to make a folder.
    private static func ways(
        to path: String, _ rule: MissingFolders
    ) throws(AssemblyError) -> [Way] {
        let free = { (path: String) in
            Way(base: path.hasPrefix("/") ? "/" : ".", steps: steps(of: path))
        }
        switch rule {
        case .refused: break
        case .made: return [free(path)]
        case .madeBelow(let folders):
            for folder in folders {
                guard let below = steps(from: folder, to: path) else { continue }
                return [free(folder), Way(base: folder, steps: below, isBound: true)]
            }
        }
        throw .folderUnavailable(path: path, errno: ENOENT)
    }

    /// The names on the way from one folder down to another; `nil` where that does not lie below it.
    private static func steps(from folder: String, to path: String) -> [String]? {
        var (start, end) = (steps(of: folder), steps(of: path))
        if folder.hasPrefix("/") != path.hasPrefix("/") {
            guard let here = getcwd(nil, 0) else { return nil }
            defer { free(here) }
            let own = steps(of: String(cString: here))
            if folder.hasPrefix("/") { end = own + end } else { start = own + start }
        }
        guard end.starts(with: start), !end.dropFirst(start.count).contains("..") else {
            return nil
        }
        return Array(end.dropFirst(start.count))
    }

    private static func steps(of path: String) -> [String] {
        path.split(separator: "/").filter { $0 != "." }.map(String.init)
    }

    /// A path without what means nothing in it.
    private static func plain(_ path: String) -> String {
        (path.hasPrefix("/") ? "/" : "") + steps(of: path).joined(separator: "/")
    }

    /// Goes down folder by folder, and makes those that are missing.
    ///
    /// - Returns: Where it would make the first one, when it `makes` none.
    private func walk(
        _ way: Way, makes: Bool, _ state: inout State
    ) throws(AssemblyError) -> String? {
        let flags = segget_path_only | O_DIRECTORY | O_CLOEXEC
        let base = open(way.base, flags)
        guard base >= 0 else { throw .folderUnavailable(path: way.base, errno: errno) }
        defer { close(base) }
        var here = fcntl(base, F_DUPFD_CLOEXEC, 0)
        defer { close(here) }
        var path = way.base
        for step in way.steps {
            let above = path
            path = FileTarget(folder: path, name: step).path
            var next = openat(here, step, flags)
            if next < 0, errno == ENOENT {
                guard !way.isBound || Self.lies(here, in: base) else {
                    throw .folderUnavailable(path: path, errno: ENOENT)
                }
                guard makes else {
                    guard
                        faccessat(here, ".", W_OK | X_OK, AT_EACCESS) == 0
                            || isUnsupported(errno: errno)
                    else {
                        throw .cannotCreate(path: path, errno: errno)
                    }
                    return above
                }
                let isMine = mkdirat(here, step, 0o777) == 0
                guard isMine || errno == EEXIST else {
                    throw .cannotCreate(path: path, errno: errno)
                }
                if isMine, let umask, !Self.inheritsList(here),
                    fchmodat(here, step, 0o777 & ~umask, 0) != 0, !isUnsupported(errno: errno)
                {
                    throw .cannotCreate(path: path, errno: errno)
                }
                next = openat(here, step, flags | O_NOFOLLOW)
                if isMine, let identity = FileStatus(of: next)?.identity {
                    state.made.append(Made(path: path, identity: identity))
                    state.places[identity] = Self.place(of: step, in: here, state)
                }
                if isMine { try Self.sync(here, path: above) }
            }
            guard next >= 0 else { throw .folderUnavailable(path: path, errno: errno) }
            close(here)
            here = next
        }
        return nil
    }

    private static func place(of step: String, in folder: Int32, _ state: State) -> FolderPlace? {
        guard let identity = FileStatus(of: folder)?.identity else { return nil }
        var place = state.places[identity] ?? FolderPlace(root: identity)
        place.below.append(step)
        return place
    }

    /// Whether a folder gives what is made in it an access control list, for which no umask counts.
    private static func inheritsList(_ folder: Int32) -> Bool {
        let descriptor = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return FilePermissions.areInherited(in: descriptor)
    }

    /// Makes what was made in a folder durable.
    private static func sync(_ folder: Int32, path: String) throws(AssemblyError) {
        let descriptor = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // One that may be written to and not read cannot be synced.
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 || isUnsupported(errno: errno) else {
            throw .io(operation: "fsync", path: path, errno: errno)
        }
    }

    /// Whether an open folder is another one, or lies below it, by what the kernel says is above it.
    private static func lies(_ folder: Int32, in root: Int32) -> Bool {
        guard let end = FileStatus(of: root)?.identity, var place = FileStatus(of: folder)?.identity
        else { return false }
        var here = fcntl(folder, F_DUPFD_CLOEXEC, 0)
        defer { close(here) }
        while place != end {
            let above = openat(here, "..", segget_path_only | O_DIRECTORY | O_CLOEXEC)
            guard above >= 0 else { return false }
            close(here)
            here = above
            // Above the root of all is that root.
            guard let identity = FileStatus(of: above)?.identity, identity != place else {
                return false
            }
            place = identity
        }
        return true
    }
}
