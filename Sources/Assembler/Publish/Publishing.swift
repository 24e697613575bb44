import Glibc

/// A file that has its name.
package struct PublishedFile: Sendable, Hashable {
    /// Path of the file.
    package var path: String
    /// Size in bytes.
    package var size: Int64
    /// CRC-32 of the whole file.
    package var crc32: UInt32
    /// The digests that were compared with the content.
    package var verified: [Digest]
    /// `errno` of the extended attributes that could not be written, when they could not.
    package var attributesProblem: Int32?
    /// Whether it got its name by link(2) and unlink(2), for want of a rename that replaces nothing.
    package var isLinked = false
}

/// Giving a verified file its name, and finishing that after a crash.
package enum Publishing {
    /// What a start finds of an earlier run that was about to rename.
    package struct Situation: Sendable, Hashable {
        /// What the manifest says was about to be renamed.
        package var publishing: FileIdentity?
        /// What stands at the destination.
        package var destination: FileIdentity?
        /// What stands at the part's name.
        package var part: FileIdentity?

        package init(publishing: FileIdentity?, destination: FileIdentity?, part: FileIdentity?) {
            self.publishing = publishing
            self.destination = destination
            self.part = part
        }
    }

    /// What to do about it.
    package enum Action: Sendable, Hashable {
        /// Nothing was about to be renamed, or something else has happened since: as always.
        case proceed
        /// The destination is that file: only tidying up is left.
        case finish
        /// The part is that file, and the destination is free: rename.
        case rename
    }

    /// The start-up table.
    ///
    /// Pure.
    package static func action(for now: Situation) -> Action {
        guard let file = now.publishing else { return .proceed }
        guard let destination = now.destination else {
            return file.isSame(as: now.part) ? .rename : .proceed
        }
        return file.isSame(as: destination) ? .finish : .proceed
    }

    /// Renames the part to `name` and makes that durable.
    ///
    /// - Returns: Whether that took link(2) and unlink(2).
    @discardableResult
    static func rename(
        _ file: PartialFile, to name: String, overwrite: Bool
    ) throws(AssemblyError) -> Bool {
        var isLinked = false
        guard try file.folder.status(of: file.name)?.identity == file.identity else {
            throw .partChanged(path: file.path)
        }
        if overwrite {
            if let there = try file.folder.status(of: name), !there.isRegular {
                throw .notARegularFile(path: file.folder.path(of: name))
            }
            try file.folder.rename(file.name, to: name)
        } else {
            isLinked = try file.folder.renameWithoutReplacing(file.name, to: name)
        }
        try file.folder.sync()
        return isLinked
    }

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
        let manifestName = Journal.name(for: name)
        let partName = Assembly.partName(for: name)
        // Where it cannot be removed, it costs nothing but its name.
        try? JournalRewrite.removeSecondName(of: manifestName, in: folder)
        let left = try left(
            in: folder, name: name, fullURL: fullURL, hasChecksum: checksum != nil)
        guard let (manifest, action) = left else { return nil }
        if action != .proceed { try JournalRewrite.checkPlace(of: manifestName, in: folder) }
        switch action {
        case .proceed: return nil
        case .finish:
            guard let descriptor = folder.open(name, O_RDONLY) else { return nil }
            defer { close(descriptor) }
            let path = folder.path(of: name)
            guard let file = verified(descriptor, manifest, checksum, path, isCancelled) else {
                return nil
            }
            if let part = try folder.status(of: partName)?.identity,
                part.isSame(as: manifest.publishing)
            {
                try folder.remove(partName)
            }
            try folder.sync()
            try settleManifest(manifestName, manifest, file, in: folder, isKept: keepManifest)
            return file
        case .rename:
            let part = try PartialFile(folder: folder, name: partName)
            guard part.identity.isSame(as: manifest.publishing),
                let file = verified(
                    part.descriptor, manifest, checksum, folder.path(of: name), isCancelled)
            else { return nil }
            try part.sync()
            try rename(part, to: name, overwrite: false)
            try settleManifest(manifestName, manifest, file, in: folder, isKept: keepManifest)
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
    /// - Returns: Bytes that the manifest tells of, or `nil` when there is nothing to finish.
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
        guard
            case .success(let manifest)? = try Assembly.readManifest(
                Journal.name(for: name), in: folder),
            manifest.publishing != nil, manifest.rejected == nil,
            manifest.header.isFor(fullURL: fullURL),
            // With the checksum it may have been another URL's file that was to get the name.
            manifest.header.needsChecksum != true || hasChecksum
        else { return nil }
        let situation = Situation(
            publishing: manifest.publishing,
            destination: try folder.status(of: name)?.identity,
            part: try folder.status(of: Assembly.partName(for: name))?.identity)
        return (manifest, action(for: situation))
    }

    /// Removes the manifest of a file that has its name, or leaves it as one that is kept.
    ///
    /// Unless it is another one by now: there is no part any more whose lock would keep others away.
    private static func settleManifest(
        _ name: String, _ manifest: Manifest, _ file: PublishedFile, in folder: Folder, isKept: Bool
    ) throws(AssemblyError) {
        guard case .success(let now)? = try Assembly.readManifest(name, in: folder),
            now.header.generation == manifest.header.generation
        else { return }
        guard isKept else {
            // The manifest last: without it nobody knows what else is left.
            try folder.remove(JournalRewrite.name(for: name))
            try folder.remove(name)
            return
        }
        var digests = file.verified
        let crc = Digest(crc32: file.crc32)
        if !digests.contains(crc) { digests.append(crc) }
        let facts = FinishedFacts(
            header: manifest.header, size: file.size, digests: digests,
            extents: manifest.extents.extents)
        try facts.prepareManifest(name, in: folder)
        try folder.rename(JournalRewrite.name(for: name), to: name)
        try folder.sync()
    }

    /// The facts of an open file, when all its bytes have the checksums that the manifest says and
    /// the digest that the caller expects.
    private static func verified(
        _ descriptor: Int32, _ manifest: Manifest, _ checksum: Digest?, _ path: String,
        _ isCancelled: () -> Bool
    ) -> PublishedFile? {
        guard let status = FileStatus(of: descriptor),
            manifest.header.size ?? status.size == status.size,
            // Without a size, a line that is lost may have told of the end.
            manifest.header.size != nil || manifest.damagedLines == 0,
            let crc = manifest.extents.combinedCRC(size: status.size)
        else { return nil }
        var expected = [checksum].compactMap { $0 }
        for digest in manifest.digests where !expected.contains(digest) { expected.append(digest) }
        let check = ContentCheck.run(
            descriptor, size: status.size, extents: manifest.extents.extents,
            algorithms: Set(expected.map(\.algorithm))
        ) { _ in isCancelled() }
        guard let check, check.damaged.isEmpty, expected.allSatisfy(check.digests.contains)
        else { return nil }
        return PublishedFile(path: path, size: status.size, crc32: crc, verified: expected)
    }
}

extension Assembly {
    /// Refuses a destination that may not be replaced.
    ///
    /// - Throws: `folderUnavailable`, `destinationExists`, `notARegularFile`.
    package static func checkDestination(
        folder: String, name: String, overwrite: Bool
    ) throws(AssemblyError) {
        try checkDestination(name, in: try Folder(folder), overwrite: overwrite)
    }

    static func checkDestination(
        _ name: String, in folder: Folder, overwrite: Bool
    ) throws(AssemblyError) {
        guard let there = try folder.status(of: name) else { return }
        guard there.isRegular else {
            throw .notARegularFile(path: folder.path(of: name))
        }
        guard overwrite else { throw .destinationExists(path: folder.path(of: name)) }
    }

    /// Bytes that an earlier run's manifest tells of, for messages; 0 when there is none.
    package static func bytesRecorded(folder: String, name: String) -> Int64 {
        manifestOfPart(folder: folder, name: name)?.extents.covered.count ?? 0
    }

    /// What an earlier run's part was begun for; `nil` when there is no manifest.
    package static func headerRecorded(folder: String, name: String) -> Manifest.Header? {
        manifestOfPart(folder: folder, name: name)?.header
    }

    private static func manifestOfPart(folder: String, name: String) -> Manifest? {
        guard let folder = try? Folder(folder),
            case .success(let manifest)? = try? readManifest(Journal.name(for: name), in: folder),
            manifest.finished == nil, manifest.rejected == nil
        else { return nil }
        return manifest
    }

    /// Reads a manifest; `nil` when there is none.
    static func readManifest(
        _ name: String, in folder: Folder
    ) throws(AssemblyError) -> Result<Manifest, Manifest.Problem>? {
        let path = folder.path(of: name)
        guard let descriptor = folder.open(name, O_RDONLY) else {
            switch errno {
            case ENOENT: return nil
            case ELOOP, ENXIO: throw .notARegularFile(path: path)
            default: throw .cannotCreate(path: path, errno: errno)
            }
        }
        defer { close(descriptor) }
        let status = try FileStatus(of: descriptor, path)
        guard status.isRegular else { throw .notARegularFile(path: path) }
        guard try folder.trusts(status) else { throw .foreignPart(path: path) }
        guard status.size <= Int64(Manifest.longest) else {
            return .failure(.unreadable(isOurs: false))
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.size))
        let count = bytes.withUnsafeMutableBytes { readFully(descriptor, into: $0, at: 0) }
        guard let count else { throw .io(operation: "pread", path: path, errno: errno) }
        bytes.removeLast(bytes.count - count)
        do throws(Manifest.Problem) {
            return .success(try Manifest(reading: bytes))
        } catch {
            return .failure(error)
        }
    }
}
