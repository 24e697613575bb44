import Glibc

// What a run that has come to nothing takes away again.
extension Assembly {
    /// Tells this part from others that are made for the same file.
    package var generation: String { journal.header.generation }

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
        let folder = try Folder(path)
        let part = partName(for: name)
        guard let descriptor = folder.open(part, O_RDWR) else { return }
        // Closing lets go of the lock.
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0,
            let opened = FileStatus(of: descriptor)?.identity,
            try folder.status(of: part)?.identity == opened,
            case .success(let manifest)? = try readManifest(Journal.name(for: name), in: folder),
            manifest.header.generation == generation, manifest.extents.extents.isEmpty,
            manifest.damagedLines == 0, manifest.rejected == nil, manifest.finished == nil,
            manifest.publishing == nil
        else { return }
        try folder.remove(part)
        // A part that a power cut brings back without its manifest would be taken for a foreign one.
        try folder.sync()
        try folder.remove(Journal.name(for: name))
    }
}
