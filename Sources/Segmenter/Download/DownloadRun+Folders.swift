import Assembler
import Glibc

// Folders that are missing on the way to the destination, and what is taken away again.
extension DownloadRun {
    /// Times that a folder is made which another process takes away again, because it is empty.
    private static let folderAttempts = 3

    /// Makes the destination's folder, where that is wanted, now that the server has answered that there
    /// is a file.
    func makeFolder(_ target: Target?) async throws(DownloadError.Reason) {
        guard let target, makesFolder(target) else { return }
        try await onDisk { [self] () throws(AssemblyError) in try makeFolder(target.folder) }
    }

    /// The same on this thread; blocks.
    func makeFolder(_ path: String) throws(AssemblyError) {
        guard path != "." else { return }
        try folders.make(path, options.files.missingFolders)
    }

    private func makesFolder(_ target: Target) -> Bool {
        options.files.missingFolders != .refused && target.folder != "."
    }

    /// The folder in which the destination's one would be made; `nil` when that is there, or is not to
    /// be made.
    func parentOfMissingFolder(_ target: Target) throws(AssemblyError) -> String? {
        guard makesFolder(target) else { return nil }
        return try folders.parent(ofMissing: target.folder, options.files.missingFolders)
    }

    /// Opens the part, in a folder that is made again if another process has removed it meanwhile.
    func openPart(
        _ request: Assembly.Request
    ) async -> Result<Assembly, DownloadError.Reason> {
        let makesFolder = makesFolder(Target(folder: request.folder, name: request.name))
        return await onDiskResult { [self] () throws(AssemblyError) -> Assembly in
            var attempts = makesFolder ? Self.folderAttempts : 0
            while true {
                do throws(AssemblyError) {
                    return try Assembly(request)
                } catch {
                    guard attempts > 0, error.mayBeMissingFolder else { throw error }
                    attempts -= 1
                    try makeFolder(request.folder)
                }
            }
        }
    }

    /// Takes away what holds nothing: the part that this run made, and its folders.
    func tidyUp(_ state: State) async {
        if !isRepair, let target = state.target, let generation = state.generation {
            // The failure that led here says more than one of tidying up.
            _ = await onDiskResult { () throws(AssemblyError) in
                try Assembly.removeIfEmpty(
                    target.name, folder: target.folder, generation: generation)
            }
        }
        // Those of a batch are other files' too.
        guard batch == nil, options.files.missingFolders != .refused else { return }
        _ = await onDiskResult { [folders] () throws(AssemblyError) in folders.removeEmpty() }
    }

    /// What would be done with a file whose folder is missing.
    func preview(
        _ primary: Primary, _ target: Target, in parent: String
    ) async throws(DownloadError.Reason) -> DownloadPreview {
        var finding = primary.finding
        var room = await room(for: finding, target, in: parent)
        if case .failure(.assembly(.noSpace)) = room, !finding.isProven {
            // A size that only a `HEAD` has told.
            finding = try await find(primary.probe, byGet: true, range: Probe.firstByte)
            room = await self.room(for: finding, target, in: parent)
        }
        try room.get()
        return DownloadPreview(
            action: .begin, path: target.path, file: finding.file, bytesKept: 0,
            connections: finding.file.plan == .segments ? connections : 1,
            missingFolder: target.folder)
    }

    private func room(
        for finding: Probe.Finding, _ target: Target, in parent: String
    ) async -> Result<Void, DownloadError.Reason> {
        await onDiskResult { () throws(AssemblyError) in
            try Assembly.checkSpace(
                for: finding.file.identity.size, in: parent, path: target.path)
        }
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
