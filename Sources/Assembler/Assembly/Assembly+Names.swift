import Glibc

// Checks which files exist at a destination's names and which download they belong to. Only
// `removeIfEmpty` changes anything.
extension Assembly {
    /// Returns whether a download may use a name.
    ///
    /// The name, its part and its manifest must not exist, or must be from an earlier run of the
    /// same URL.
    ///
    /// - Parameters:
    ///   - name: Name of the destination.
    ///   - path: Folder of the destination.
    ///   - urls: The URLs of the download in full.
    /// - Returns: Whether the name is free or already belongs to this download.
    /// - Throws: `folderUnavailable`, `cannotCreate`, `io`.
    package static func isFree(
        _ name: String, folder path: String, urls: [String]
    ) throws(AssemblyError) -> Bool {
        let (folder, names) = (try Folder(path), PartNames(name))
        let manifest: Result<Manifest, Manifest.ReadError>?
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
            // An earlier run renamed the file and was killed before it removed the manifest.
            return there.identity.isSame(as: begun?.publishing)
        }
        guard let part = try folder.status(of: names.part) else {
            return manifest == nil || begun != nil
        }
        return part.isRegular && (manifest == nil ? part.size == 0 : begun != nil)
    }

    /// Checks that the file system has space for the remaining bytes of the requested file.
    ///
    /// Changes nothing.
    ///
    /// - Throws: `noSpace`, `folderUnavailable`, `cannotCreate`.
    package static func checkSpace(_ request: Request) throws(AssemblyError) {
        let folder = try Folder(request.folder)
        guard let size = request.identity.size else { return }
        let part = PartNames(request.name).part
        let allocated = try folder.status(of: part)?.allocated ?? 0
        try folder.checkSpace(for: size - min(size, allocated), path: folder.path(of: part))
    }

    /// Checks that the file system of a folder has space for a file of `size` bytes.
    ///
    /// - Throws: `noSpace` with `path`, `folderUnavailable`.
    package static func checkSpace(
        for size: Int64?, in folder: String, path: String
    ) throws(AssemblyError) {
        if let size { try Folder(folder).checkSpace(for: size, path: path) }
    }

    /// Returns whether neither the file nor a part or manifest of an earlier run exists.
    package static func isUntouched(_ name: String, in folder: Folder) -> Bool {
        folder.isFree(name) && isUnbegun(name, in: folder)
    }

    /// Returns whether the file, or a part or manifest of it, may be among the files of a folder.
    ///
    /// - Parameters:
    ///   - name: The name of the file.
    ///   - names: The result of ``Folder/fileNames()``.
    /// - Returns: Whether one of them may be there.
    package static func mayBeTouched(_ name: String, among names: Set<String>) -> Bool {
        guard !names.isEmpty else { return false }
        return names.contains(name) || PartNames.suffixes.contains { names.contains(name + $0) }
    }

    /// Returns whether no part or manifest of an earlier run exists beside a name.
    static func isUnbegun(_ name: String, in folder: Folder) -> Bool {
        PartNames.suffixes.allSatisfy { folder.isFree(name + $0) }
    }

    /// Throws if a file that must not be replaced exists at the destination.
    ///
    /// - Throws: `folderUnavailable`, `destinationExists`, `notARegularFile`, `cannotCreate`.
    package static func checkDestination(
        folder: String, name: String, overwrite: Bool
    ) throws(AssemblyError) {
        try Publishing.checkDestination(name, in: try Folder(folder), overwrite: overwrite)
    }

    /// Checks that there is a part with its manifest.
    ///
    /// - Throws: `noPart`, `folderUnavailable`, `notARegularFile`, `foreignPart`, `cannotCreate`,
    ///   `io`.
    package static func checkPart(folder path: String, name: String) throws(AssemblyError) {
        let (folder, names) = (try Folder(path), PartNames(name))
        let part = try folder.status(of: names.part)
        guard part != nil, try Manifest.read(names.manifest, in: folder) != nil else {
            throw .noPart(path: folder.path(of: names.part), isThere: part != nil)
        }
    }

    /// Returns what a run would do with an earlier run's part, without changing it.
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

    /// Returns the number of bytes that an earlier run's manifest records; 0 without a manifest.
    ///
    /// Used in messages.
    package static func bytesRecorded(folder: String, name: String) -> Int64 {
        manifestOfPart(folder: folder, name: name)?.extents.covered.count ?? 0
    }

    /// Returns the header of an earlier run's manifest; `nil` if there is no manifest.
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

// MARK: - Removing an empty part

extension Assembly {
    /// Removes the part and its manifest if the manifest records no byte of the file.
    ///
    /// Does nothing if they have another generation or another process has locked them. Also does
    /// nothing if the manifest records that the file was complete or that its digest was wrong.
    ///
    /// - Parameters:
    ///   - name: Name of the destination.
    ///   - path: Folder of the destination.
    ///   - generation: The generation of the part to remove; its lock must have been released.
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
        // After a power cut, a part without its manifest would count as a foreign part.
        try folder.sync()
        try folder.remove(names.manifest)
    }
}
