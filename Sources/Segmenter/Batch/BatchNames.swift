import Assembler
import Glibc
import SegmenterRules
import SegmenterTransport

/// Assigns names to the files of a session's batches, each name once.
///
/// Folders are identified by device and inode, not by the spelling of their paths. The methods
/// block on disk I/O.
final class BatchNames: Sendable {
    private struct State {
        var folders: [FolderPlace: FolderNames] = [:]
        /// The folder of the last call, which is mostly also the folder of the next one.
        var last: (identity: FileIdentity, folder: Folder, place: FolderPlace)?
        var users = 0
    }

    private let state = Monitor(State())
    /// The folders that were created for files of the batches.
    let made = MadeFolders()
    /// The parts of earlier runs in the folders of the session.
    let parts = BegunParts()

    /// Counts a batch that starts.
    func begin() { state.withLock { $0.users += 1 } }

    /// Counts a batch that has ended.
    ///
    /// After the last batch, all names are free again, and folders that were created but remained
    /// empty are removed.
    func end() {
        let isLast = state.withLock { state in
            state.users -= 1
            if state.users == 0 { state = State() }
            return state.users == 0
        }
        if isLast { made.removeEmpty() }
    }

    /// Assigns the path to a file unless another file has it.
    ///
    /// If the folder cannot be opened, the result is `true`, and the download itself reports the
    /// error.
    func take(_ target: FileTarget) -> Bool {
        state.withLock { state in
            guard let (place, _) = try? enter(target.folder, &state) else { return true }
            return state.folders[place]?.take(target.name) { Self.foldsCase(target.folder) } ?? true
        }
    }

    /// Assigns the name, or the first unused numbered name, to an existing file to be skipped.
    ///
    /// - Returns: The name; `nil` if no file of that name exists.
    func takeExisting(_ target: FileTarget) -> String? {
        state.withLock { state in
            guard let (place, folder) = try? enter(target.folder, &state), let folder else {
                return nil
            }
            return state.folders[place]?.takeExisting(target.name) { name in
                (try? folder.status(of: name))?.isRegular == true
            } folds: {
                Self.foldsCase(target.folder)
            }
        }
    }

    /// Returns whether a folder ignores case in names.
    ///
    /// For a missing folder, its nearest existing parent decides.
    static func foldsCase(_ path: String) -> Bool {
        var path = path
        while true {
            if let folder = try? Folder(path) { return folder.foldsCase }
            let above = FileTarget(path: path).folder
            guard above != path else { return false }
            path = above
        }
    }

    /// Returns whether a file at a path can only have been created by this run.
    func isNew(_ target: FileTarget) -> Bool {
        state.withLock { state in
            guard let (place, _) = try? enter(target.folder, &state) else { return false }
            return state.folders[place]?.isNew(target.name) ?? false
        }
    }

    /// Returns the names that a folder had when a batch first looked at it; `nil` if it is not open.
    func begunNames(in folder: String) -> Set<String>? {
        state.withLock { state in
            guard let (place, _) = try? enter(folder, &state) else { return nil }
            return state.folders[place]?.begunNames
        }
    }

    /// Assigns the name in the folder, or a numbered one.
    ///
    /// - Parameters:
    ///   - target: The folder and the suggested name.
    ///   - urls: The URLs of the file in full.
    ///   - mustBeFree: Whether to skip names that exist on disk, except those of parts that an
    ///     earlier run of the same URL began.
    ///   - keepsSuggested: Whether the suggested name may be used although it exists.
    ///   - isAnothers: Returns whether a manifest belongs to another file of the batch.
    /// - Returns: The name.
    /// - Throws: `folderUnavailable`.
    func claim(
        _ target: FileTarget, urls: [String], mustBeFree: Bool, keepsSuggested: Bool = false,
        isAnothers: (Manifest.Header) -> Bool
    ) throws(AssemblyError) -> String {
        let result = state.withLock { state -> Result<String, AssemblyError> in
            do throws(AssemblyError) {
                let (place, folder) = try enter(target.folder, &state)
                let begun = state.folders[place]?.begunNames ?? []
                // A copy of `FolderNames` here would copy all of its names for each file.
                let name = state.folders[place]?.claim(target.name) {
                    Self.foldsCase(target.folder)
                } owner: { candidate in
                    if mustBeFree, !(keepsSuggested && candidate == target.name),
                        (try? Assembly.isFree(candidate, folder: target.folder, urls: urls))
                            == false
                    {
                        return .another
                    }
                    guard begun.contains(candidate), let header = folder?.header(of: candidate)
                    else { return .nobody }
                    if urls.contains(where: header.belongs) { return .own }
                    return isAnothers(header) ? .another : .nobody
                }
                return .success(name ?? target.name)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Returns the place and the handle of a folder; a missing folder has a place but no handle.
    private func enter(
        _ path: String, _ state: inout State
    ) throws(AssemblyError) -> (FolderPlace, Folder?) {
        // The path may refer to another folder by now.
        if let last = state.last, last.folder.path == path,
            last.identity == Folder.identity(at: path)
        {
            return (last.place, last.folder)
        }
        let folder: Folder
        do throws(AssemblyError) {
            folder = try Folder(path)
        } catch {
            guard case .folderUnavailable(_, ENOENT) = error, let place = made.place(of: path)
            else {
                throw error
            }
            if state.folders[place] == nil { state.folders[place] = FolderNames() }
            return (place, nil)
        }
        guard let identity = folder.identity, let place = made.place(of: path) else {
            throw .folderUnavailable(path: path, errno: 0)
        }
        state.last = (identity, folder, place)
        if state.folders[place] == nil {
            state.folders[place] = FolderNames(begun: folder.fileNames())
        }
        return (place, folder)
    }
}
