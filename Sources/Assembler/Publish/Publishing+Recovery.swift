import Glibc

extension Publishing {
    /// Finishes what an earlier run of the same URL was about to publish when it was killed.
    ///
    /// The data is checked in full once more. Needs no network. May block on the disk.
    ///
    /// - Parameters:
    ///   - path: Folder of the destination.
    ///   - name: Name of the destination in it.
    ///   - fullURL: What the download must have been begun for.
    ///   - checksum: The digest that the caller expects.
    ///   - keepManifest: Whether the manifest stays beside the finished file.
    ///   - isCancelled: Asked again and again while the data is checked.
    /// - Returns: The file, or `nil` when there is nothing to finish, or after cancelling.
    /// - Throws: `folderUnavailable`, `busy`, `notARegularFile`, `destinationExists`, `io`.
    package static func recover(
        folder path: String, name: String, fullURL: String, checksum: Digest?,
        keepManifest: Bool = false, isCancelled: () -> Bool = { false }
    ) throws(AssemblyError) -> PublishedFile? {
        let folder = try Folder(path)
        let names = PartNames(name)
        // Where it cannot be removed, it costs nothing but its name.
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

    /// What an earlier run of the same URL was about to publish when it was killed, unchecked.
    ///
    /// Only looks.
    ///
    /// - Parameters:
    ///   - path: Folder of the destination.
    ///   - name: Name of the destination in it.
    ///   - fullURL: What the download must have been begun for.
    ///   - hasChecksum: Whether the caller expects a digest.
    /// - Returns: Bytes that the manifest records, or `nil` when there is nothing to finish.
    /// - Throws: `folderUnavailable`, `notARegularFile`, `cannotCreate`, `io`.
    package static func pending(
        folder path: String, name: String, fullURL: String, hasChecksum: Bool
    ) throws(AssemblyError) -> Int64? {
        let left = try left(
            in: try Folder(path), name: name, fullURL: fullURL, hasChecksum: hasChecksum)
        guard let (manifest, action) = left, action != .proceed else { return nil }
        return manifest.extents.covered.count
    }

    /// The manifest of a run of the same URL that was about to rename, and what to do about it.
    private static func left(
        in folder: Folder, name: String, fullURL: String, hasChecksum: Bool
    ) throws(AssemblyError) -> (Manifest, Action)? {
        let names = PartNames(name)
        guard
            case .success(let manifest)? = try Manifest.read(names.manifest, in: folder),
            manifest.publishing != nil, manifest.rejected == nil,
            manifest.header.isFor(fullURL: fullURL),
            // With the checksum it may have been another URL's file that was to get the name.
            manifest.header.needsChecksum != true || hasChecksum
        else { return nil }
        let situation = Situation(
            publishing: manifest.publishing,
            destination: try folder.status(of: name)?.identity,
            part: try folder.status(of: names.part)?.identity)
        return (manifest, action(for: situation))
    }

    /// Removes the manifest of a file that has its name, or leaves it as one that is kept.
    ///
    /// Unless it is another one by now: there is no part any more whose lock would keep others away.
    private static func settleManifest(
        _ names: PartNames, _ manifest: Manifest, _ file: PublishedFile, in folder: Folder,
        isKept: Bool
    ) throws(AssemblyError) {
        guard case .success(let now)? = try Manifest.read(names.manifest, in: folder),
            now.header.generation == manifest.header.generation
        else { return }
        guard isKept else {
            // The manifest last: without it nobody knows what else is left.
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

    /// The facts of an open file, when all its bytes have the checksums that the manifest says and
    /// the digest that the caller expects.
    private static func verified(
        _ descriptor: Int32, _ manifest: Manifest, _ checksum: Digest?, _ path: String,
        _ isCancelled: () -> Bool
    ) -> PublishedFile? {
        guard let status = FileStatus(of: descriptor),
            manifest.header.size ?? status.size == status.size,
            // Without a size, a line that is lost may have stated the end.
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
