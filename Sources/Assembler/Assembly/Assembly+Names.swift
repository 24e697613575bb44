import Glibc

// Whose a name is, and what stands at it: all of this only looks, but for what takes away.
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
        let (folder, names) = (try Folder(path), PartNames(name))
        let manifest: Result<Manifest, Manifest.Problem>?
        do throws(AssemblyError) {
            manifest = try Manifest.read(names.manifest, in: folder)
            try JournalRewrite.checkPlace(of: names, in: folder)
        } catch {
            switch error {
            case .notARegularFile, .foreignPart: return false
            default: throw error
            }
        }
        var begun: Manifest?
        if case .success(let found)? = manifest, urls.contains(where: found.header.belongs) {
            begun = found
        }
        if let there = try folder.status(of: name) {
            // Renamed by a run that was killed before it could tidy up.
            return there.identity.isSame(as: begun?.publishing)
        }
        guard let part = try folder.status(of: names.part) else {
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
        guard let size = request.identity.size else { return }
        let part = PartNames(request.name).part
        let allocated = try folder.status(of: part)?.allocated ?? 0
        try folder.checkSpace(for: size - min(size, allocated), path: folder.path(of: part))
    }

    /// Checks that the file system of a folder has room for a file of `size` bytes.
    ///
    /// - Throws: `noSpace` with `path`, `folderUnavailable`.
    package static func checkSpace(
        for size: Int64?, in folder: String, path: String
    ) throws(AssemblyError) {
        if let size { try Folder(folder).checkSpace(for: size, path: path) }
    }

    /// Whether nothing stands at a name, nor what an earlier run may have left beside it.
    package static func isUntouched(_ name: String, in folder: Folder) -> Bool {
        folder.isFree(name) && isUnbegun(name, in: folder)
    }

    /// Whether an earlier run has left nothing beside a name, as far as the system says.
    static func isUnbegun(_ name: String, in folder: Folder) -> Bool {
        PartNames.suffixes.allSatisfy { folder.isFree(name + $0) }
    }

    /// Refuses a destination that may not be replaced.
    ///
    /// - Throws: `folderUnavailable`, `destinationExists`, `notARegularFile`, `cannotCreate`.
    package static func checkDestination(
        folder: String, name: String, overwrite: Bool
    ) throws(AssemblyError) {
        try Publishing.checkDestination(name, in: try Folder(folder), overwrite: overwrite)
    }

    /// Checks that there is a part with its manifest.
    ///
    /// - Throws: `noPart`, `folderUnavailable`, `notARegularFile`, `foreignPart`, `cannotCreate`, `io`.
    package static func checkPart(folder path: String, name: String) throws(AssemblyError) {
        let (folder, names) = (try Folder(path), PartNames(name))
        let part = try folder.status(of: names.part)
        guard part != nil, try Manifest.read(names.manifest, in: folder) != nil else {
            throw .noPart(path: folder.path(of: names.part), isThere: part != nil)
        }
    }

    /// What would be done with what an earlier run left, without touching it.
    ///
    /// - Throws: `folderUnavailable`, `notARegularFile`, `foreignPart`, `cannotCreate`, `io`.
    package static func preview(_ request: Request) throws(AssemblyError) -> ResumeDecision {
        let folder = try Folder(request.folder)
        let name = PartNames(request.name).part
        let part = try folder.status(of: name)
        guard part?.isRegular ?? true else {
            throw .notARegularFile(path: folder.path(of: name))
        }
        return try OpenedPart.decide(request, in: folder, partSize: part?.size)
    }

    /// Bytes that an earlier run's manifest records, for messages; 0 when there is none.
    package static func bytesRecorded(folder: String, name: String) -> Int64 {
        manifestOfPart(folder: folder, name: name)?.extents.covered.count ?? 0
    }

    /// What an earlier run's part was begun for; `nil` when there is no manifest.
    package static func headerRecorded(folder: String, name: String) -> Manifest.Header? {
        manifestOfPart(folder: folder, name: name)?.header
    }

    private static func manifestOfPart(folder: String, name: String) -> Manifest? {
        guard let folder = try? Folder(folder),
            case .success(let manifest)? = try? Manifest.read(
                PartNames(name).manifest, in: folder),
            manifest.finished == nil, manifest.rejected == nil
        else { return nil }
        return manifest
    }
}

// MARK: - What a run that has come to nothing takes away again

extension Assembly {
    /// Removes part and manifest when not a byte of the file is recorded in them.
    ///
    /// Does nothing where they are of another generation, where somebody else works with them, and where
    /// the manifest says anything more: that the part was whole, or its digest wrong.
    ///
    /// - Parameters:
    ///   - name: Name of the destination.
    ///   - path: Folder of the destination.
    ///   - generation: Which part is meant; whoever opened it has let go of its lock.
    /// - Throws: `folderUnavailable`, `cannotCreate`, `notARegularFile`, `foreignPart`, `io`.
    package static func removeIfEmpty(
        _ name: String, folder path: String, generation: String
    ) throws(AssemblyError) {
        let (folder, names) = (try Folder(path), PartNames(name))
        guard let descriptor = folder.open(names.part, O_RDWR) else { return }
        defer { close(descriptor) }
        guard case .taken(let lock) = PartLock.take(descriptor, names, in: folder) else { return }
        defer { lock.release() }
        guard let opened = FileStatus(of: descriptor)?.identity,
            try folder.status(of: names.part)?.identity == opened,
            case .success(let manifest)? = try Manifest.read(names.manifest, in: folder),
            manifest.header.generation == generation, manifest.extents.extents.isEmpty,
            manifest.damagedLines == 0, manifest.rejected == nil, manifest.finished == nil,
            manifest.publishing == nil
        else { return }
        try folder.remove(names.part)
        // A part that a power cut brings back without its manifest would be taken for a foreign one.
        try folder.sync()
        try folder.remove(names.manifest)
    }
}
