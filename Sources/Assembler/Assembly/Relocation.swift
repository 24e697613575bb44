import Glibc

/// Moves a download's files to another name or folder; at any time, one of both paths is complete.
///
/// A part, in one file system:
///
/// 1. The manifest is written beside the new name. A manifest without a part has no effect.
/// 2. The part is renamed. Before, a run can continue at the old path; afterwards, at the new one.
/// 3. Both folders are synchronized, the new one first. Then the old manifest is removed.
///
/// On another file system, the part is copied to a part of this download whose manifest records
/// nothing. When the copy is durable, all records are written to its manifest; now two complete
/// parts exist. The old part is removed durably, and then the old manifest.
///
/// A finished file is renamed. On another file system, the file is copied to a part whose manifest
/// records nothing. Its manifest then records `publishing`, as before any publication. The copy is
/// renamed, the old file is removed, and finally the manifest. A manifest that describes the file
/// is moved with it.
///
/// A repeated call determines the completed steps by the manifests' generations, by inodes and by
/// `publishing`.
struct Relocation {
    /// A step after which a test can interrupt the move.
    enum Step: Hashable, CaseIterable {
        case manifestWritten, copied, copyRecorded, moved, synchronized, oldRemoved
    }

    let source: Folder?
    let old: PartNames
    let target: Folder
    let new: PartNames
    let owner: PartOwner
    let finished: FileVersion?
    /// Called after each step.
    var after: (Step) throws(AssemblyError) -> Void = { (_) throws(AssemblyError) in }

    /// Opens both folders; a missing source folder counts as empty.
    ///
    /// - Throws: `folderUnavailable`.
    init(
        from old: FileTarget, to new: FileTarget, owner: PartOwner, finished: FileVersion?
    ) throws(AssemblyError) {
        source = try Folder.existing(old.folder)
        target = try Folder(new.folder)
        (self.old, self.new) = (PartNames(old.name), PartNames(new.name))
        (self.owner, self.finished) = (owner, finished)
    }

    /// Starts the move, or continues an interrupted one.
    func run(isCancelled: () -> Bool = { false }) throws(AssemblyError) -> Assembly.Moved {
        let here = try Assembly.Standing(new, in: target, owner: owner)
        guard let source else { return arrived(here) }
        if old == new, source.identity == target.identity { return arrived(here) }
        let there = try Assembly.Standing(old, in: source, owner: owner)
        // Also a file that was published by a run that did not remove its manifest.
        if let version = finished ?? there.published?.version {
            return try FileMove(self, source, version).run(isCancelled)
        }
        return try PartMove(self, source).run(isCancelled)
    }

    /// Returns the outcome for the files at the new path if no files remain to be moved.
    func arrived(_ here: Assembly.Standing) -> Assembly.Moved {
        if let finished {
            guard case .regular(let status) = here.destination,
                status.version.hasSameContent(as: finished)
            else { return .nothing }
            return .finished(status)
        }
        if let status = here.published { return .finished(status) }
        if case .ours(let identity) = here.part { return .part(identity) }
        return .nothing
    }

    /// Removes the incomplete files of this move if the old file still exists.
    ///
    /// - Parameter hasBegun: Whether this call has completed any step.
    /// - Throws: `cannotCreate`, `io`.
    func takeBack(hasBegun: Bool) throws(AssemblyError) {
        guard let source, old != new || source.identity != target.identity else { return }
        let there = try Assembly.Standing(old, in: source, owner: owner)
        let here = try Assembly.Standing(new, in: target, owner: owner)
        guard case .ours(let copy) = here.manifest, here.published == nil else { return }
        if let version = finished ?? there.published?.version {
            guard hasBegun, case .regular(let status) = there.destination,
                status.version.isSame(as: version),
                copy.isOfCopy || copy.generation == there.record?.generation
            else { return }
        } else {
            guard case .ours = there.part, copy.generation == there.record?.generation else {
                return
            }
        }
        try target.removePart(new)
    }

    /// Checks that only files of an earlier call exist beside the new name.
    ///
    /// - Throws: `destinationExists`.
    func checkFree(
        _ here: Assembly.Standing, isOwn: (Assembly.Standing.Record) -> Bool
    ) throws(AssemblyError) {
        switch here.manifest {
        case .none: break
        case .ours(let record) where isOwn(record): break
        default: throw .destinationExists(path: target.path(of: new.manifest))
        }
        if case .foreign = here.part { throw .destinationExists(path: target.path(of: new.part)) }
        do throws(AssemblyError) {
            try JournalRewrite.checkPlace(of: new, in: target)
        } catch {
            throw .destinationExists(path: target.path(of: new.rewrite))
        }
    }

    /// Writes a manifest beside the new name, durably, and replaces `present`.
    ///
    /// - Throws: `destinationExists` if a manifest was created in the meantime; `cannotCreate`,
    ///   `io`.
    func write(
        _ manifest: [UInt8], over present: Assembly.Standing.Sidecar
    ) throws(AssemblyError) {
        close(try JournalRewrite(folder: target, names: new, bytes: manifest).descriptor)
        if present == .none {
            do throws(AssemblyError) {
                try target.renameWithoutReplacing(new.rewrite, to: new.manifest)
            } catch {
                try? target.remove(new.rewrite)
                throw error
            }
        } else {
            try target.rename(new.rewrite, to: new.manifest)
        }
        try target.sync()
    }

    /// Creates an empty, locked part at the new path.
    func newPart() throws(AssemblyError) -> PartialFile {
        let part = try PartialFile(folder: target, name: new.part)
        guard part.initialSize ?? 0 > 0 else { return part }
        // Remove the copy of an earlier call; its manifest records no bytes.
        try target.remove(new.part)
        part.unlock()
        return try PartialFile(folder: target, name: new.part)
    }

    /// Renames a file without replacing another one, if necessary with link(2) and unlink(2).
    ///
    /// - Returns: Whether the file was renamed; false across file systems.
    func rename(_ name: String, to other: String, in source: Folder) throws(AssemblyError) -> Bool {
        if let there = try target.status(of: other)?.identity,
            try source.status(of: name)?.identity == there, source.hasOtherNames(name)
        {
            // An earlier call stopped between link(2) and unlink(2).
            try target.sync()
            try source.remove(name)
        } else if try !source.moveWithoutReplacing(name, to: other, in: target) {
            return false
        }
        try after(.moved)
        try target.sync()
        try source.sync()
        try after(.synchronized)
        return true
    }
}

extension Assembly.Standing {
    /// The record in the manifest, if the manifest belongs to this download.
    var record: Record? {
        guard case .ours(let record) = manifest else { return nil }
        return record
    }
}

extension Assembly.Standing.Record {
    /// Whether the manifest may be that of an incomplete copy, which records no bytes.
    var isOfCopy: Bool { bytes == 0 && finished == nil }
}
