import Assembler
import Glibc

/// Gives the files of a session's batches their names, each name once.
///
/// Folders are distinguished by device and inode, not by how their paths are spelled. Blocks on the
/// disk.
final class BatchNames: Sendable {
    private struct State {
        var folders: [FolderPlace: FolderNames] = [:]
        /// The folder that was entered last, which is mostly the next one too.
        var last: (identity: FileIdentity, folder: Folder, place: FolderPlace)?
        var users = 0
    }

    private let state = Monitor(State())
    /// The folders that are made for its files.
    let made = MadeFolders()
    /// The parts that earlier runs have left in its folders.
    let parts = BegunParts()

    /// Notes that a batch begins.
    func begin() { state.withLock { $0.users += 1 } }

    /// Notes that a batch is over; with the last one all names are free again, and folders that were
    /// made in vain are gone.
    func end() {
        let isLast = state.withLock { state in
            state.users -= 1
            if state.users == 0 { state = State() }
            return state.users == 0
        }
        if isLast { made.removeEmpty() }
    }

    /// Takes the path of a file, if no other file has it.
    ///
    /// A folder that cannot be entered is the download's to report.
    func take(_ target: FileTarget) -> Bool {
        state.withLock { state in
            guard let (place, _) = try? enter(target.folder, &state) else { return true }
            return state.folders[place]?.take(target.name) { Self.foldsCase(target.folder) } ?? true
        }
    }

    /// Takes the name in the folder, or a numbered one that no other file has, if a file of that name exists.
    ///
    /// - Returns: The name; `nil` where no such file exists.
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

    /// Whether names that differ in case only are one name in a folder, or in the one in which it will be made.
    private static func foldsCase(_ path: String) -> Bool {
        var path = path
        while true {
            if let folder = try? Folder(path) { return folder.foldsCase }
            let above = FileTarget(path: path).folder
            guard above != path else { return false }
            path = above
        }
    }

    /// Whether what stands at a path can only be a file of this run.
    func isNew(_ target: FileTarget) -> Bool {
        state.withLock { state in
            guard let (place, _) = try? enter(target.folder, &state) else { return false }
            return state.folders[place]?.isNew(target.name) ?? false
        }
    }

    /// Takes the name in the folder, or a numbered one.
    ///
    /// - Parameters:
    ///   - target: Folder, and the name that is suggested.
    ///   - urls: The file's URLs in full.
    ///   - mustBeFree: Whether a name is passed over that stands on the disk, but for what an
    ///     earlier run of the same URL left.
    ///   - keepsSuggested: Whether that does not hold for the name that is suggested.
    ///   - isAnothers: Whether a manifest was begun for another file of the batch.
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
                // In its place: a copy of all names would be made for each file.
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

    /// Finds a folder; one that is missing may be made yet, and has a place of its own all the same.
    private func enter(
        _ path: String, _ state: inout State
    ) throws(AssemblyError) -> (FolderPlace, Folder?) {
        // The path may lead to another one by now.
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
