/// Moves a part and its manifest; see ``Relocation``.
struct PartMove {
    let place: Relocation
    let source: Folder

    init(_ place: Relocation, _ source: Folder) {
        self.place = place
        self.source = source
    }

    func run(_ isCancelled: () -> Bool) throws(AssemblyError) -> Assembly.Moved {
        let (old, new, target) = (place.old, place.new, place.target)
        guard try source.status(of: old.part)?.isRegular == true else {
            return try tidy(nil)
        }
        let part = try PartialFile(folder: source, name: old.part)
        defer { part.unlock() }
        let there = try Assembly.Standing(old, in: source, owner: place.owner)
        guard case .ours(let record) = there.manifest, case .ours = there.part,
            record.finished == nil
        else { return try tidy(part) }
        let here = try Assembly.Standing(new, in: target, owner: place.owner)
        guard here.destination == .none else {
            throw .destinationExists(path: target.path(of: new.destination))
        }
        try place.checkFree(here) { $0.generation == record.generation }
        guard let bytes = try Manifest.bytes(of: old.manifest, in: source)?.get(or: source, old)
        else { return .nothing }
        if let copy = here.copy(of: record), copy != part.identity {
            // An earlier call completed the copy.
            return try finish(copy)
        }
        switch here.part {
        case .ours(part.identity), .none, .foreign: break
        // Remove an incomplete copy of an earlier call.
        case .ours, .empty: try target.remove(new.part)
        }
        if source.identity?.device == target.identity?.device {
            try place.write(bytes, over: here.manifest)
            try place.after(.manifestWritten)
            if try place.rename(old.part, to: new.part, in: source) {
                try source.removePart(old)
                return .part(part.identity)
            }
        }
        guard let copy = try copy(part, bytes, isCancelled) else { return .cancelled }
        return try finish(copy)
    }

    /// Removes the old part after it has been copied.
    private func finish(_ copy: FileIdentity) throws(AssemblyError) -> Assembly.Moved {
        try source.removePart(place.old)
        try place.after(.oldRemoved)
        return .part(copy)
    }

    /// Removes the remaining files at the old path if the part is missing or empty.
    private func tidy(_ empty: PartialFile?) throws(AssemblyError) -> Assembly.Moved {
        let there = try Assembly.Standing(place.old, in: source, owner: place.owner)
        let isOwn =
            switch (there.manifest, there.part) {
            case (.none, .empty): empty != nil
            case (.ours(let record), .none): record.finished == nil
            default: false
            }
        if isOwn { try source.removePart(place.old) }
        return place.arrived(
            try Assembly.Standing(place.new, in: place.target, owner: place.owner))
    }

    /// Copies the recorded extents and their manifest to another file system, durably.
    ///
    /// - Returns: The identity of the copy; `nil` after cancellation.
    private func copy(
        _ part: PartialFile, _ bytes: [UInt8], _ isCancelled: () -> Bool
    ) throws(AssemblyError) -> FileIdentity? {
        let manifest: Manifest
        do throws(Manifest.ReadError) {
            manifest = try Manifest(reading: bytes)
        } catch {
            throw .foreignPart(path: part.path)
        }
        let seed = Manifest.seed(generation: manifest.header.generation)
        let header = SealedLine.of(manifest.header, seed: seed)
        let copy = try place.newPart()
        defer { copy.unlock() }
        let present = try Assembly.Standing(place.new, in: place.target, owner: place.owner)
            .manifest
        try place.write(header, over: present)
        try place.after(.manifestWritten)
        try copy.checkSpace(for: manifest.extents.covered.count)
        let copying = FileCopy(
            source: part.descriptor, sourcePath: part.path, target: copy.descriptor,
            targetPath: copy.path)
        for range in manifest.extents.covered.ranges {
            guard try copying(range, isCancelled: isCancelled) else { return nil }
        }
        try copy.sync()
        try place.after(.copied)
        // The copy is a different file, so it is verified again before it is published.
        let records = JournalRewrite.records(for: manifest.extents.extents)
        let moved =
            manifest.publishing == nil
            ? bytes : records.reduce(header) { $0 + SealedLine.of($1, seed: seed) }
        try place.write(moved, over: .ours(Assembly.Standing.Record(manifest)))
        try place.after(.copyRecorded)
        return copy.identity
    }
}

extension Assembly.Standing {
    /// Returns the part if its own manifest records at least as many bytes as `record`.
    fileprivate func copy(of record: Record) -> FileIdentity? {
        guard case .ours(let identity) = part, let own = self.record, own.bytes > 0,
            own.bytes >= record.bytes
        else { return nil }
        return identity
    }
}

extension Result<[UInt8], Manifest.ReadError> {
    /// Returns the bytes of a manifest.
    ///
    /// - Throws: `foreignPart`.
    fileprivate func get(or folder: Folder, _ names: PartNames) throws(AssemblyError) -> [UInt8] {
        guard case .success(let bytes) = self else {
            throw .foreignPart(path: folder.path(of: names.manifest))
        }
        return bytes
    }
}
