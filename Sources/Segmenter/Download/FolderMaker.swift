import Assembler
import Glibc
import SegmenterRules
import SegmenterTransport

/// Creates missing folders of the destination, if the options permit that.
///
/// Removes them again if the download leaves no file in them.
struct FolderMaker: Sendable {
    /// How often a folder is created again after another process has removed it while it was empty.
    private static let attempts = 3

    private let made: MadeFolders
    private let rule: MissingFolders
    /// Whether other files of a batch share the folders.
    private let isShared: Bool

    /// Follows the options of a download; `made` has the folders of the file's batch, if there is
    /// one.
    init(_ options: FileOptions, sharing made: MadeFolders?) {
        self.made = made ?? MadeFolders(umask: options.umask)
        rule = options.missingFolders
        isShared = made != nil
    }

    /// Returns whether a folder is created if it is missing.
    func makes(_ path: String) -> Bool { rule != .refused && path != "." }

    /// Creates a folder unless it exists; blocks.
    ///
    /// - Throws: `folderUnavailable` if it is missing and must not be created; `cannotCreate`,
    ///   `io`.
    func make(_ path: String) throws(AssemblyError) {
        guard path != "." else { return }
        try made.make(path, rule)
    }

    /// Returns the folder in which a missing one would be created; blocks.
    ///
    /// `nil` if the path exists, or if the options do not permit to create it.
    func parent(ofMissing path: String) throws(AssemblyError) -> String? {
        guard makes(path) else { return nil }
        return try made.parent(ofMissing: path, rule)
    }

    /// Opens the part, and creates its folder again if another process has removed it; blocks.
    ///
    /// - Throws: `partGone` if an earlier attempt of this run had a part in that folder; the errors
    ///   of `Assembly.init` and ``make(_:)``.
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

    /// Records that a folder has a finished file.
    func keep(_ path: String) { made.keep(path) }

    /// Removes the created folders that are empty, unless a batch shares them; blocks.
    func removeEmpty() {
        guard !isShared, rule != .refused else { return }
        made.removeEmpty()
    }
}

extension AssemblyError {
    /// Whether a removed folder may be the cause.
    fileprivate var mayBeMissingFolder: Bool {
        switch self {
        case .folderUnavailable(_, ENOENT), .cannotCreate(_, ENOENT), .io(_, _, ENOENT): true
        default: false
        }
    }
}
