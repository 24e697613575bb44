import Glibc

// What is done to the files of a download that no run has open: looked at, taken away, moved. All of it blocks on
// the disk, and whatever stops it in between, it can be done again.
extension Assembly {
    /// What stands where a download's file is to be; only looks.
    ///
    /// - Parameters:
    ///   - target: Folder and name of the destination.
    ///   - owner: The download: what it is known by.
    /// - Returns: The facts; nothing stands in a folder that is not there.
    /// - Throws: `folderUnavailable`, `cannotCreate`, `io`.
    package static func standing(
        at target: FileTarget, owner: PartOwner
    ) throws(AssemblyError) -> Standing {
        guard let folder = try Folder.existing(target.folder) else {
            return Standing(part: .none, manifest: .none, destination: .none)
        }
        return try Standing(PartNames(target.name), in: folder, owner: owner)
    }

    /// Which part a manifest is about that stands beside a file's name; `nil` when none stands there, or it cannot be
    /// read: what ``PartOwner/generation`` says.
    package static func generation(at target: FileTarget) -> String? {
        guard let folder = try? Folder.existing(target.folder),
            case .success(let manifest)? = try? Manifest.read(
                PartNames(target.name).manifest, in: folder)
        else { return nil }
        return manifest.header.generation
    }

    /// What became of taking something away.
    package enum Removal: Sendable, Hashable {
        /// It is gone, for good: no power cut brings it back.
        case removed
        /// There was nothing that is known to be the download's own.
        case nothing
        /// Somebody works with it: all was left.
        case busy
        /// Another file stands there, or it was changed: all was left.
        case changed
    }

    /// Removes part and manifest, if they are of this download and nobody works with them.
    ///
    /// A finished file stays, and the manifest that is kept for it. The part goes first, durably: one that a power
    /// cut brings back without its manifest would be taken for a foreign one.
    ///
    /// - Parameters:
    ///   - target: Folder and name of the destination.
    ///   - owner: The download: what it is known by.
    ///   - known: The part as it was recorded elsewhere, so that it is known where its manifest is damaged.
    /// - Returns: What was done.
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

    /// Removes a finished file if it is still that one, unchanged, and the manifest that was kept for it.
    ///
    /// - Parameters:
    ///   - target: Folder and name of the file.
    ///   - version: Which file is meant.
    ///   - owner: The download: what it is known by.
    /// - Returns: What was done.
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
        // What is written down of a part that is there, or was to be, is somebody else's question.
        guard case .ours(let record) = there.manifest,
            record.finished != nil || record.publishing?.isSame(as: version.identity) == true
        else { return isGone ? .nothing : .removed }
        try folder.remove(names.manifest)
        try folder.sync()
        return isGone ? .nothing : .removed
    }

    /// What became of moving.
    package enum Moved: Sendable, Hashable {
        /// There was nothing that is known to be the download's own.
        case nothing
        /// The part, with its manifest: which file it is now.
        case part(FileIdentity)
        /// The finished file, as it stands there now.
        case finished(FileStatus)
        /// It was cancelled: all stands where it stood.
        case cancelled
    }

    /// Moves what a download has on the disk to another name or folder, and replaces nothing there.
    ///
    /// Where it was stopped in between, even by a power cut, the same call completes it; see ``Relocation``. To another
    /// file system it is copied.
    ///
    /// - Parameters:
    ///   - old: Folder and name of the destination as it was.
    ///   - new: Folder and name of the destination as it is to be; the folder is there.
    ///   - owner: The download: what it is known by.
    ///   - finished: Which file it is, where it is finished.
    ///   - isCancelled: Asked again and again while bytes are copied.
    /// - Returns: What was moved, by this call or an earlier one.
    /// - Throws: `destinationExists` with the path of what stands in the way, `busy`, `notARegularFile`, `noSpace`,
    ///   `partChanged` where the finished file was changed while it was copied, `folderUnavailable`,
    ///   `cannotCreate`, `io`: all stands where it stood then.
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
            // The first failure says more than one of tidying up.
            try? relocation.takeBack(hasBegun: hasBegun)
            throw error
        }
    }
}

extension Folder {
    /// A folder; `nil` when there is none of that path.
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

    /// Removes a part and its manifest, durably, in the order that leaves no part without a manifest.
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
