import CLinux
import Glibc

/// The rule for a missing folder in the path of a destination.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum MissingFolders: Sendable, Hashable {
    /// The download fails.
    case refused
    /// The folder and its missing parents are created.
    case made
    /// The folder is created only below one of these folders.
    ///
    /// Its path may not contain `..` or leave that folder through a symbolic link. The listed
    /// folders themselves are created anywhere.
    case madeBelow([String])
}

extension MissingFolders: Codable {
    /// Reads `"refused"`, `"made"`, or the list of folders below which folders may be created.
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

    /// Stores `"refused"`, `"made"`, or the list of folders below which folders may be created.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .refused: try container.encode("refused")
        case .made: try container.encode("made")
        case .madeBelow(let folders): try container.encode(folders)
        }
    }
}

/// The location of a folder, which is the same before and after the folder is created.
package struct FolderPlace: Sendable, Hashable {
    /// The closest parent folder that already existed.
    var root: FileIdentity
    /// The names of the folders below `root`.
    var below: [String] = []
}

/// The folders that downloads created for their destinations.
///
/// Folders that remain empty can be removed again. May be used from any thread; blocks on the disk.
package final class MadeFolders: Sendable {
    private struct Made {
        let path: String
        let identity: FileIdentity
    }

    private struct State {
        /// The created folders, in the order of creation.
        var made: [Made] = []
        /// The paths of folders with finished files, and of their parents.
        var kept: Set<String> = []
        var places: [FileIdentity: FolderPlace] = [:]
    }

    private let state = Monitor(State())

    private let umask: mode_t?

    /// Sets the file mode creation mask for new folders; `nil` for the mask of the process.
    package init(umask: UInt32? = nil) { self.umask = umask.map { mode_t($0) } }

    /// Creates a folder and its missing parents, unless the folder exists.
    ///
    /// The mask applies to each new folder, and each is durable when this method returns.
    ///
    /// - Throws: `folderUnavailable` if the rule forbids it or a file that is not a folder is in the
    ///   path; `cannotCreate`, `io`.
    package func make(_ path: String, _ rule: MissingFolders) throws(AssemblyError) {
        // Under the lock, so that no thread uses a folder that another thread has not synced yet.
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

    /// Returns the folder in which the first missing folder of a path would be created.
    ///
    /// `nil` if the path exists. This method creates nothing.
    ///
    /// - Throws: The errors of ``make(_:_:)`` that can be detected without creating folders.
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

    /// Returns the location of an existing or future folder; `nil` if a system call fails.
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

    /// Records that a folder received a finished file, so that ``removeEmpty()`` keeps the folder.
    package func keep(_ path: String) {
        state.withLock { state in
            guard !state.made.isEmpty else { return }
            var path = Self.plain(path)
            while state.kept.insert(path).inserted, let slash = path.lastIndex(of: "/") {
                path = String(path[..<slash])
            }
        }
    }

    /// Removes the created folders that are empty, the last one first.
    package func removeEmpty() {
        let made = state.withLock { state in
            let made = state.made.filter { !state.kept.contains(Self.plain($0.path)) }
            state = State()
            return made
        }
        for folder in made.reversed() where Folder.identity(at: folder.path) == folder.identity {
            // rmdir(2) fails for folders that are not empty, and does not follow links.
            _ = rmdir(folder.path)
        }
    }
}

// MARK: - The path to a folder

extension MadeFolders {
    /// A chain of nested folders to create.
    private struct Way {
        /// The existing folder in which the chain starts.
        var base: String
        var steps: [String]
        /// Whether folders may be created only below `base`.
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

    /// Returns the chains to create, in order, for a folder.
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

    /// Returns the path components from `folder` to `path`; `nil` if `path` is not below `folder`.
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

    /// Returns a path without `.` components and redundant slashes.
    private static func plain(_ path: String) -> String {
        (path.hasPrefix("/") ? "/" : "") + steps(of: path).joined(separator: "/")
    }

    /// Follows a chain of folders, and creates the missing ones if `makes` is set.
    ///
    /// - Returns: Without `makes`, the parent of the first missing folder; otherwise `nil`.
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

    /// Returns whether new folders inherit an access control list, which overrides the umask.
    private static func inheritsList(_ folder: Int32) -> Bool {
        let descriptor = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return FilePermissions.areInherited(in: descriptor)
    }

    /// Makes new entries of a folder durable.
    private static func sync(_ folder: Int32, path: String) throws(AssemblyError) {
        let descriptor = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // A folder that is writable but not readable cannot be synced.
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 || isUnsupported(errno: errno) else {
            throw .io(operation: "fsync", path: path, errno: errno)
        }
    }

    /// Returns whether an open folder is `root` or lies below it, by following `..`.
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
            // The parent of `/` is `/`.
            guard let identity = FileStatus(of: above)?.identity, identity != place else {
                return false
            }
            place = identity
        }
        return true
    }
}
