import Glibc

/// Moving what a download has on the disk to another name or folder, such that it is whole in one of the two places
/// at any moment.
///
/// A part, in one file system:
///
/// 1. The manifest is written beside the new name: without a part it says nothing.
/// 2. The part is renamed: before, the old place can be gone on with, and afterwards the new one.
/// 3. Both folders are synchronized, the new one first; then the old manifest goes.
///
/// To another file system, the copy is made as a part of this download with a manifest that records nothing. When
/// it is durable, its manifest gets all records: from now on there are two. The old part goes, durably, and then
/// the old manifest.
///
/// A finished file is renamed. To another file system it is copied to a part with a manifest that records nothing;
/// that becomes one that says `publishing`, as before any renaming; the copy gets its name, the old file goes, and
/// at last the manifest. A manifest that is about the file goes with it.
///
/// Run again, it sees by the manifests' generations, by inodes and by `publishing` how far it had come.
struct Relocation {
    /// After what it can be stopped by a test.
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

    /// Opens the folders; a source that is gone had nothing.
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

    /// Moves, or goes on with moving.
    func run(isCancelled: () -> Bool = { false }) throws(AssemblyError) -> Assembly.Moved {
        let here = try Assembly.Standing(new, in: target, owner: owner)
        guard let source else { return arrived(here) }
        if old == new, source.identity == target.identity { return arrived(here) }
        let there = try Assembly.Standing(old, in: source, owner: owner)
        // A name that was given and not tidied up after counts too.
        if let version = finished ?? there.published?.version {
            return try FileMove(self, source, version).run(isCancelled)
        }
        return try PartMove(self, source).run(isCancelled)
    }

    /// What stands at the new place when nothing is left to be moved.
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

    /// Removes what this move has come to that is not of use, when the old file stands still.
    ///
    /// - Parameter hasBegun: Whether this call has written anything.
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

    /// Checks that nothing stands beside the new name but what an earlier call has left.
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

    /// Writes a manifest beside the new name, durable, in the place of `present`.
    ///
    /// - Throws: `destinationExists` where there was none and is one now; `cannotCreate`, `io`.
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

    /// A new part at the new place, locked, without a byte.
    func newPart() throws(AssemblyError) -> PartialFile {
        let part = try PartialFile(folder: target, name: new.part)
        guard part.initialSize ?? 0 > 0 else { return part }
        // What an earlier call had copied; its manifest vouches for nothing.
        try target.remove(new.part)
        part.unlock()
        return try PartialFile(folder: target, name: new.part)
    }

    /// Renames without replacing, by another name of the same file if need be.
    ///
    /// - Returns: Whether it was done: not across file systems.
    func rename(_ name: String, to other: String, in source: Folder) throws(AssemblyError) -> Bool {
        if let there = try target.status(of: other)?.identity,
            try source.status(of: name)?.identity == there, source.hasOtherNames(name)
        {
            // Stopped between link(2) and unlink(2).
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
    /// What the manifest says, if it is of this download.
    var record: Record? {
        guard case .ours(let record) = manifest else { return nil }
        return record
    }
}

extension Assembly.Standing.Record {
    /// Whether it may be the one that a copy is made with: it vouches for no byte.
    var isOfCopy: Bool { bytes == 0 && finished == nil }
}
