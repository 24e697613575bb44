import Assembler
import Glibc

/// Makes the folders that are missing on the way to the destination, where that is wanted, and takes them
/// away again when nothing came of the download.
struct FolderMaker: Sendable {
    /// Times that a folder is made which another process takes away again, because it is empty.
    private static let attempts = 3

    private let made: MadeFolders
    private let rule: MissingFolders
    /// Whether they are other files' too.
    private let isShared: Bool

    /// Makes folders as a download's options say, on its own or, where a batch has its own, together with other files.
    init(_ options: FileOptions, sharing made: MadeFolders?) {
        self.made = made ?? MadeFolders(umask: options.umask)
        rule = options.missingFolders
        isShared = made != nil
    }

    /// Whether a folder is made if it is missing.
    func makes(_ path: String) -> Bool { rule != .refused && path != "." }

    /// Makes a folder unless it is there; blocks.
    ///
    /// - Throws: `folderUnavailable` where it is missing and not to be made.
    func make(_ path: String) throws(AssemblyError) {
        guard path != "." else { return }
        try made.make(path, rule)
    }

    /// The folder in which a missing one would be made; `nil` when that is there, or is not to be made.
    ///
    /// Blocks.
    func parent(ofMissing path: String) throws(AssemblyError) -> String? {
        guard makes(path) else { return nil }
        return try made.parent(ofMissing: path, rule)
    }

    /// Opens the part, in a folder that is made again if another process has removed it meanwhile; blocks.
    ///
    /// - Throws: `partGone` where the run had a part in that folder.
    func open(_ request: Assembly.Request) throws(AssemblyError) -> Assembly {
        var attempts = makes(request.folder) ? Self.attempts : 0
        while true {
            do throws(AssemblyError) {
                return try Assembly(request)
            } catch {
                if request.hasPart, case .folderUnavailable(_, ENOENT) = error {
                    let names = PartNames(request.name)
                    let place = FileTarget(folder: request.folder, name: names.part)
                    throw .partGone(path: place.path, .removed)
                }
                guard attempts > 0, error.mayBeMissingFolder else { throw error }
                attempts -= 1
                try make(request.folder)
            }
        }
    }

    /// Notes that a finished file is in a folder.
    func keep(_ path: String) { made.keep(path) }

    /// Removes those that hold nothing, unless they are other files' too; blocks.
    func removeEmpty() {
        guard !isShared, rule != .refused else { return }
        made.removeEmpty()
    }
}

extension AssemblyError {
    /// Whether a folder that is gone may be the cause.
    fileprivate var mayBeMissingFolder: Bool {
        switch self {
        case .folderUnavailable(_, ENOENT), .cannotCreate(_, ENOENT), .io(_, _, ENOENT): true
        default: false
        }
    }
}
