// Whose a name is, and what stands at it: all of this only looks.
extension Assembly {
    /// Whether a download may have a name: nothing stands there, nor at the names of its part and
    /// its manifest, but what an earlier run of the same URL left.
    ///
    /// - Parameters:
    ///   - name: Name of the destination.
    ///   - path: Folder of the destination.
    ///   - urls: The URLs of the download in full.
    /// - Returns: Whether the name is free, or this download's already.
    /// - Throws: `folderUnavailable`, `cannotCreate`, `io`.
    package static func isFree(
        _ name: String, folder path: String, urls: [String]
    ) throws(AssemblyError) -> Bool {
        let folder = try Folder(path)
        let manifest: Result<Manifest, Manifest.Problem>?
        do throws(AssemblyError) {
            manifest = try readManifest(Journal.name(for: name), in: folder)
            try JournalRewrite.checkPlace(of: Journal.name(for: name), in: folder)
        } catch {
            switch error {
            case .notARegularFile, .foreignPart: return false
            default: throw error
            }
        }
        var begun: Manifest?
        if case .success(let found)? = manifest, urls.contains(where: found.header.isFor) {
            begun = found
        }
        if let there = try folder.status(of: name) {
            // Renamed by a run that was killed before it could tidy up.
            return there.identity.isSame(as: begun?.publishing)
        }
        guard let part = try folder.status(of: partName(for: name)) else {
            return manifest == nil || begun != nil
        }
        return part.isRegular && (manifest == nil ? part.size == 0 : begun != nil)
    }

    /// Checks, without touching anything, that the file system has room for what the file of
    /// `request` still needs.
    ///
    /// - Throws: `noSpace`, `folderUnavailable`, `cannotCreate`.
    package static func checkSpace(_ request: Request) throws(AssemblyError) {
        let folder = try Folder(request.folder)
        let part = partName(for: request.name)
        guard let size = request.identity.size, let free = folder.freeBytes() else { return }
        let needed = size - min(size, try folder.status(of: part)?.allocated ?? 0)
        if free < needed {
            throw .noSpace(path: folder.path(of: part), needed: needed, free: free)
        }
    }

    /// Checks that the file system of a folder has room for a file of `size` bytes.
    ///
    /// - Throws: `noSpace` with `path`, `folderUnavailable`.
    package static func checkSpace(
        for size: Int64?, in folder: String, path: String
    ) throws(AssemblyError) {
        guard let size, let free = try Folder(folder).freeBytes(), free < size else { return }
        throw .noSpace(path: path, needed: size, free: free)
    }

    /// The path of a name in a folder, as it is shown.
    package static func path(of name: String, in folder: String) -> String {
        folder == "." ? name : folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
    }
}
