// Publish: how a verified part gets its final name, and how that is finished after a crash. This
// folder determines the order of renames and synchronizations. It never decides whether a part may
// be published.

import Glibc

/// Gives a verified file its final name, and finishes that after a crash.
package enum Publishing {
    /// Gives a verified, durable part its final name, and removes or keeps its manifest.
    ///
    /// After a crash at any point, the next run can finish publishing or resume.
    ///
    /// - Parameters:
    ///   - file: The part.
    ///   - journal: The manifest of the part.
    ///   - facts: The facts about the part's content.
    ///   - expected: The digests that were verified.
    ///   - overwrite: Whether to replace a regular file at the destination.
    ///   - keepsManifest: Whether to keep the manifest beside the finished file.
    /// - Returns: How the file got its name.
    /// - Throws: `destinationExists`, `notARegularFile`, `partGone`, `partChanged`, `cannotCreate`,
    ///   `io`.
    static func publish(
        _ file: PartialFile, _ journal: Journal, _ facts: FinishedFacts, expected: [Digest],
        overwrite: Bool, keepsManifest: Bool
    ) throws(AssemblyError) -> NamingWay {
        let names = journal.names
        let before = journal.length
        let way: NamingWay
        do throws(AssemblyError) {
            try journal.append(Manifest.Record(publishing: file.identity, digests: expected))
            try journal.synchronize()
            // Write the manifest to keep before the rename: if the disk is full, the download can
            // still be resumed.
            if keepsManifest { try facts.prepareManifest(names, in: file.folder) }
            way = try rename(file, to: names.destination, overwrite: overwrite)
        } catch {
            try? file.folder.remove(names.rewrite)
            // A later run finishes a recorded publishing without a request to the server, which is
            // only correct after a crash. By the time the destination is free, the version may be
            // outdated.
            if (try? file.stands(at: names.destination)) != true { journal.takeBack(to: before) }
            throw error
        }
        if keepsManifest { try journal.replace() } else { try journal.remove() }
        return way
    }

    /// Renames the part to `name` and makes the rename durable.
    ///
    /// - Returns: How the file got its name.
    @discardableResult
    static func rename(
        _ file: PartialFile, to name: String, overwrite: Bool
    ) throws(AssemblyError) -> NamingWay {
        var way = NamingWay.renamed
        guard try file.stands(at: file.name) else { throw file.changed() }
        if overwrite {
            try checkDestination(name, in: file.folder, overwrite: true)
            try file.folder.rename(file.name, to: name)
        } else {
            way = try file.folder.renameWithoutReplacing(file.name, to: name)
        }
        try file.folder.sync()
        return way
    }

    /// Checks that the destination does not exist or may be replaced.
    ///
    /// - Throws: `destinationExists`, `notARegularFile`, `cannotCreate`.
    static func checkDestination(
        _ name: String, in folder: Folder, overwrite: Bool
    ) throws(AssemblyError) {
        guard let there = try folder.status(of: name) else { return }
        guard there.isRegular else { throw .notARegularFile(path: folder.path(of: name)) }
        guard overwrite else { throw .destinationExists(path: folder.path(of: name)) }
    }
}

extension Publishing {
    /// Finishes the publishing of a file for the same URL, if an earlier run was killed during it.
    ///
    /// All data is verified again. Requires no network. May block on the disk.
    ///
    /// - Parameters:
    ///   - path: The folder of the destination.
    ///   - name: The name of the destination in the folder.
    ///   - fullURL: The URL with which the download must have been begun.
    ///   - checksum: The digest that the caller expects.
    ///   - keepManifest: Whether the manifest is kept beside the finished file.
    ///   - isCancelled: Called repeatedly while the data is verified; returns whether to stop.
    /// - Returns: The file; `nil` if there is nothing to finish, or after cancellation.
    /// - Throws: `folderUnavailable`, `busy`, `notARegularFile`, `destinationExists`, `io`.
    package static func recover(
        folder path: String, name: String, fullURL: String, checksum: Digest?,
        keepManifest: Bool = false, isCancelled: () -> Bool = { false }
    ) throws(AssemblyError) -> PublishedFile? {
        let folder = try Folder(path)
        let names = PartNames(name)
        // If the second name cannot be removed, it only clutters the folder.
        try? JournalRewrite.removeSecondName(of: names, in: folder)
        let left = try left(
            in: folder, name: name, fullURL: fullURL, hasChecksum: checksum != nil)
        guard let (manifest, action) = left else { return nil }
        if action != .proceed { try JournalRewrite.checkPlace(of: names, in: folder) }
        switch action {
        case .proceed: return nil
        case .finish:
            guard let descriptor = folder.open(name, O_RDONLY) else { return nil }
            defer { close(descriptor) }
            let path = folder.path(of: name)
            guard let file = verified(descriptor, manifest, checksum, path, isCancelled) else {
                return nil
            }
            if let part = try folder.status(of: names.part)?.identity,
                part.isSame(as: manifest.publishing)
            {
                try folder.remove(names.part)
            }
            try folder.sync()
            try settleManifest(names, manifest, file, in: folder, isKept: keepManifest)
            return file
        case .rename:
            let part = try PartialFile(folder: folder, name: names.part)
            guard part.identity.isSame(as: manifest.publishing),
                let file = verified(
                    part.descriptor, manifest, checksum, folder.path(of: name), isCancelled)
            else { return nil }
            try part.sync()
            try rename(part, to: name, overwrite: false)
            try settleManifest(names, manifest, file, in: folder, isKept: keepManifest)
            return file
        }
    }

    /// Returns the number of bytes that an earlier run of the same URL was about to publish when it
    /// was killed.
    ///
    /// Does not verify or change anything.
    ///
    /// - Parameters:
    ///   - path: The folder of the destination.
    ///   - name: The name of the destination in the folder.
    ///   - fullURL: The URL with which the download must have been begun.
    ///   - hasChecksum: Whether the caller expects a digest.
    /// - Returns: The number of bytes that the manifest records; `nil` if there is nothing to
    ///   finish.
    /// - Throws: `folderUnavailable`, `notARegularFile`, `cannotCreate`, `io`.
    package static func pending(
        folder path: String, name: String, fullURL: String, hasChecksum: Bool
    ) throws(AssemblyError) -> Int64? {
        let left = try left(
            in: try Folder(path), name: name, fullURL: fullURL, hasChecksum: hasChecksum)
        guard let (manifest, action) = left, action != .proceed else { return nil }
        return manifest.extents.covered.count
    }

    /// Returns the manifest of a run that was killed during publishing, and the action to take.
    private static func left(
        in folder: Folder, name: String, fullURL: String, hasChecksum: Bool
    ) throws(AssemblyError) -> (Manifest, Action)? {
        let names = PartNames(name)
        guard
            case .success(let manifest)? = try Manifest.read(names.manifest, in: folder),
            manifest.publishing != nil, manifest.rejected == nil,
            manifest.header.isFor(fullURL: fullURL),
            // Without the checksum, the bytes could be those of another URL's file.
            manifest.header.needsChecksum != true || hasChecksum
        else { return nil }
        let situation = Situation(
            publishing: manifest.publishing,
            destination: try folder.status(of: name)?.identity,
            part: try folder.status(of: names.part)?.identity)
        return (manifest, action(for: situation))
    }

    /// Removes the manifest of a finished file, or replaces it with the one to keep.
    ///
    /// A manifest of another generation is not touched. Without a part, no lock prevents another
    /// run from creating one.
    private static func settleManifest(
        _ names: PartNames, _ manifest: Manifest, _ file: PublishedFile, in folder: Folder,
        isKept: Bool
    ) throws(AssemblyError) {
        guard case .success(let now)? = try Manifest.read(names.manifest, in: folder),
            now.header.generation == manifest.header.generation
        else { return }
        guard isKept else {
            // Remove the manifest last, because only the manifest shows that the other file may
            // remain.
            try folder.remove(names.rewrite)
            try folder.remove(names.manifest)
            return
        }
        let facts = FinishedFacts(
            header: manifest.header, size: file.size,
            digests: (file.verified + [Digest(crc32: file.crc32)]).distinct,
            extents: manifest.extents.extents)
        try facts.writeManifest(names, in: folder)
    }

    /// Verifies an open file against the manifest's checksums and the expected digest.
    ///
    /// - Returns: The file, or `nil` if it is incomplete, anything differs, or after cancellation.
    private static func verified(
        _ descriptor: Int32, _ manifest: Manifest, _ checksum: Digest?, _ path: String,
        _ isCancelled: () -> Bool
    ) -> PublishedFile? {
        guard let status = FileStatus(of: descriptor),
            manifest.header.size ?? status.size == status.size,
            // Without a known size, a damaged line may have recorded the last extent.
            manifest.header.size != nil || manifest.damagedLines == 0,
            let crc = manifest.extents.combinedCRC(size: status.size)
        else { return nil }
        let expected = ([checksum].compactMap { $0 } + manifest.digests).distinct
        let check = ContentCheck.run(
            descriptor, size: status.size, extents: manifest.extents.extents,
            algorithms: Set(expected.map(\.algorithm))
        ) { _ in isCancelled() }
        guard let check, check.damaged.isEmpty, expected.allSatisfy(check.digests.contains)
        else { return nil }
        return PublishedFile(path: path, size: status.size, crc32: crc, verified: expected)
    }
}
