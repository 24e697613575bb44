import Glibc

// Inspects, removes and moves the files of a download that no run has open. All functions block on
// the disk. An interrupted call can be repeated.
extension Assembly {
    /// Returns which files exist at a download's destination, without changing anything.
    ///
    /// - Parameters:
    ///   - target: Folder and name of the destination.
    ///   - owner: The URLs and generation that identify the download.
    /// - Returns: The files; all `.none` if the folder does not exist.
    /// - Throws: `folderUnavailable`, `cannotCreate`, `io`.
    package static func standing(
        at target: FileTarget, owner: PartOwner
    ) throws(AssemblyError) -> Standing {
        guard let folder = try Folder.existing(target.folder) else {
            return Standing(part: .none, manifest: .none, destination: .none)
        }
        return try Standing(PartNames(target.name), in: folder, owner: owner)
    }

    /// Returns the generation in the manifest beside a file's name, for ``PartOwner/generation``.
    ///
    /// - Returns: The generation; `nil` if there is no manifest or it cannot be read.
    package static func generation(at target: FileTarget) -> String? {
        guard let folder = try? Folder.existing(target.folder),
            case .success(let manifest)? = try? Manifest.read(
                PartNames(target.name).manifest, in: folder)
        else { return nil }
        return manifest.header.generation
    }

    /// The outcome of removing a download's files.
    package enum Removal: Sendable, Hashable {
        /// The files were removed durably.
        case removed
        /// No file is known to belong to the download.
        case nothing
        /// Another process uses the part; nothing was removed.
        case busy
        /// The file was changed or replaced by another file; nothing was removed.
        case changed
    }

    /// Removes part and manifest if they belong to this download and no other process uses them.
    ///
    /// A finished file and its manifest remain. The part is removed first, durably: after a power
    /// cut, a part without its manifest would count as a foreign part.
    ///
    /// - Parameters:
    ///   - target: Folder and name of the destination.
    ///   - owner: The URLs and generation that identify the download.
    ///   - known: The part's identity from another record, used if its manifest is damaged.
    /// - Returns: The outcome.
    /// - Throws: `folderUnavailable`, `cannotCreate`, `io`.
    package static func discard(
        at target: FileTarget, owner: PartOwner, known: FileIdentity? = nil
    ) throws(AssemblyError) -> Removal {
        guard let folder = try Folder.existing(target.folder) else { return .nothing }
        let names = PartNames(target.name)
        let part = folder.open(names.part, O_RDWR)
        let code = errno
        defer { if let part { close(part) } }
        var lock: PartLock?
        defer { lock?.release() }
        if let part {
            guard case .taken(let taken) = PartLock.take(part, names, in: folder) else {
                return .busy
            }
            lock = taken
            guard let opened = FileStatus(of: part)?.identity,
                try folder.status(of: names.part)?.identity == opened
            else { return .busy }
        }
        let there = try Standing(names, in: folder, owner: owner)
        if case .ours = there.part, part == nil {
            throw .cannotCreate(path: folder.path(of: names.part), errno: code)
        }
        switch (there.manifest, there.part) {
        case (.ours(let record), .ours), (.ours(let record), .none):
            guard record.finished == nil else { return .nothing }
            try folder.removePart(names)
        case (.none, .empty): try folder.removePart(names)
        case (.unreadable, .foreign(let identity)) where identity.isSame(as: known):
            try folder.removePart(names)
        default: return .nothing
        }
        return .removed
    }

    /// Removes a finished file, if it is unchanged, and the manifest that was kept for it.
    ///
    /// - Parameters:
    ///   - target: Folder and name of the file.
    ///   - version: The expected version of the file.
    ///   - owner: The URLs and generation that identify the download.
    /// - Returns: The outcome.
    /// - Throws: `folderUnavailable`, `cannotCreate`, `io`.
    package static func removeFinished(
        at target: FileTarget, _ version: FileVersion, owner: PartOwner
    ) throws(AssemblyError) -> Removal {
        guard let folder = try Folder.existing(target.folder) else { return .nothing }
        let names = PartNames(target.name)
        let there = try Standing(names, in: folder, owner: owner)
        switch there.destination {
        case .none: break
        case .other: return .changed
        case .regular(let status):
            guard status.version.isSame(as: version) else { return .changed }
            try folder.remove(target.name)
            try folder.sync()
        }
        let isGone = there.destination == .none
        // Keep a manifest that describes a part instead of the finished file.
        guard case .ours(let record) = there.manifest,
            record.finished != nil || record.publishing?.isSame(as: version.identity) == true
        else { return isGone ? .nothing : .removed }
        try folder.remove(names.manifest)
        try folder.sync()
        return isGone ? .nothing : .removed
    }

    /// The outcome of moving a download's files.
    package enum Moved: Sendable, Hashable {
        /// No file is known to belong to the download.
        case nothing
        /// The part and its manifest were moved; contains the new identity of the part.
        case part(FileIdentity)
        /// The finished file was moved; contains its new status.
        case finished(FileStatus)
        /// The move was cancelled; the files remain at the old path.
        case cancelled
    }

    /// Moves a download's files to another name or folder without replacing existing files.
    ///
    /// The same call completes a move that was interrupted, even by a power cut. Files are copied
    /// if the new folder is on another file system. See ``Relocation``.
    ///
    /// - Parameters:
    ///   - old: The old folder and name of the destination.
    ///   - new: The new folder and name of the destination; the folder exists.
    ///   - owner: The URLs and generation that identify the download.
    ///   - finished: The version of the finished file, if the download is finished.
    ///   - isCancelled: Called repeatedly while bytes are copied.
    /// - Returns: The outcome of this call or of an earlier one.
    /// - Throws: `destinationExists` with the path of the existing file, `busy`, `notARegularFile`,
    ///   `noSpace`, `partChanged` if the finished file changed during the copy,
    ///   `folderUnavailable`, `cannotCreate`, `io`. The files then remain at the old path.
    package static func move(
        from old: FileTarget, to new: FileTarget, owner: PartOwner, finished: FileVersion? = nil,
        isCancelled: () -> Bool = { false }
    ) throws(AssemblyError) -> Moved {
        var relocation = try Relocation(from: old, to: new, owner: owner, finished: finished)
        var hasBegun = false
        relocation.after = { (_) throws(AssemblyError) in hasBegun = true }
        do throws(AssemblyError) {
            let moved = try relocation.run(isCancelled: isCancelled)
            if moved == .cancelled { try relocation.takeBack(hasBegun: hasBegun) }
            return moved
        } catch {
            // Throw the first error; an error of the cleanup is less informative.
            try? relocation.takeBack(hasBegun: hasBegun)
            throw error
        }
    }
}

extension Folder {
    /// Opens the folder at a path; returns `nil` if it does not exist.
    ///
    /// - Throws: `folderUnavailable`.
    static func existing(_ path: String) throws(AssemblyError) -> Folder? {
        do throws(AssemblyError) {
            return try Folder(path)
        } catch {
            if case .folderUnavailable(_, ENOENT) = error { return nil }
            throw error
        }
    }

    /// Removes a part and then its manifest, durably, so that no part remains without a manifest.
    func removePart(_ names: PartNames) throws(AssemblyError) {
        try remove(names.part)
        if (try? JournalRewrite.checkPlace(of: names, in: self)) != nil {
            try remove(names.rewrite)
        }
        try sync()
        try remove(names.manifest)
        try sync()
    }
}
