// The end of an assembly, on any thread.
extension Assembly {
    /// Records what arrived, stops the helper threads, and lets go of the part's lock.
    ///
    /// The part and the manifest stay.
    package func stop() throws(AssemblyError) {
        defer {
            stopThreads()
            file.unlock()
        }
        try recordAll()
        if let failure = stopThreads() { throw failure }
    }

    /// Ends the attempt and removes part and manifest: nothing of them is of use.
    ///
    /// - Throws: `io`.
    package func discard() throws(AssemblyError) {
        defer { file.unlock() }
        stopThreads()
        let (folder, journal) = (file.folder, recorder.journal)
        try folder.remove(file.name)
        // A part that a power cut brings back without its manifest would be taken for a foreign one.
        try folder.sync()
        try journal.remove()
    }

    /// The first bytes of what arrived, at most so many; fewer where they cannot be read.
    package func firstBytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let length = bytes.withUnsafeMutableBytes { readFully(file.descriptor, into: $0, at: 0) }
        return Array(bytes.prefix(length ?? 0))
    }

    /// Verifies the complete file of `size` bytes and gives it its name.
    ///
    /// May block on the disk.
    ///
    /// - Parameters:
    ///   - size: Length of the file in bytes; all of them have arrived.
    ///   - keeping: The bytes that may be kept if the digest is wrong; `nil` when that is final, and no
    ///     later run is to continue the part.
    ///   - onVerified: Called on this thread between verifying and renaming.
    ///   - isCurrent: Called on this thread when the data is durable, and may wait: whether the file is still
    ///     the server's. If not, the part stays.
    /// - Returns: What was published, or `nil` after `interrupt`, or when it is not current.
    /// - Throws: `digestMismatch` (the part stays), `destinationExists`, `partGone`,
    ///   `partChanged`, `io`.
    package func publish(
        size: Int64, keeping: RangeSet? = nil, onVerified: () -> Void = {},
        isCurrent: () -> Bool = { true }
    ) throws(AssemblyError) -> PublishedFile? {
        defer {
            stopThreads()
            file.unlock()
        }
        stopVerifying()
        try record()
        guard let crc = recorded.combinedCRC(size: size) else {
            preconditionFailure("published before all \(size) bytes had arrived")
        }
        guard let computed = try digests(size: size, crc: crc) else { return nil }
        if let (digest, actual) = expected.mismatch(with: computed) {
            recordMismatch(actual, keeping: keeping)
            throw .digestMismatch(expected: digest, actual: actual, part: file.path)
        }
        // What could not be written through is reported once, here: it must not be published.
        if let failure = stopThreads() { throw failure }
        guard !wasInterrupted else { return nil }
        onVerified()
        let journal = recorder.journal
        let facts = FinishedFacts(
            header: journal.header.given, size: size, digests: computed, extents: recorded.extents)
        // Before the mode, which the umask may make one that not even the owner can write.
        let problem = try writeAttributes(facts)
        let refused = try file.finishAttributes(
            modified: request.modified, umask: request.umask)
        try file.sync()
        try file.checkUntouched(size: size, extents: recorded.extents)
        guard isCurrent() else { return nil }
        let way = try Publishing.publish(
            file, journal, facts, expected: expected, overwrite: request.mayReplace,
            keepsManifest: request.keepManifest)
        return PublishedFile(
            path: destination, size: size, crc32: crc, verified: expected,
            attributesProblem: problem, naming: way, refused: refused,
            syncProblem: file.syncProblem)
    }

    /// The digests that the whole file has, and its CRC-32; `nil` after `interrupt`.
    private func digests(size: Int64, crc: UInt32) throws(AssemblyError) -> [Digest]? {
        guard let follower else { return [Digest(crc32: crc)] }
        guard let digests = try follower.finish(size: size) else { return nil }
        return digests + [Digest(crc32: crc)]
    }

    /// Has the manifest say that the file has the wrong digest, or vouch for `keeping` only.
    private func recordMismatch(_ actual: Digest, keeping: RangeSet?) {
        stopThreads()
        let arrived = recorded.extents
        if let keeping {
            recorder.retreat(to: file.extents(arrived, in: keeping), from: actual, arrived)
        } else {
            recorder.reject(actual, arrived)
        }
    }

    /// Writes the extended attributes that are wanted.
    ///
    /// - Returns: The `errno` of what the file system refused, where they were asked for by name.
    private func writeAttributes(_ facts: FinishedFacts) throws(AssemblyError) -> Int32? {
        switch request.attributes {
        case .all: return facts.write(to: file.descriptor, includesOrigin: true)
        case .proof: _ = facts.write(to: file.descriptor, includesOrigin: false)
        case .none:
            guard request.keepsAttributes,
                let old = try FinishedFacts.attributes(of: request.name, in: file.folder)
            else { return nil }
            return facts.write(to: file.descriptor, includesOrigin: !old.header.url.isEmpty)
        }
        return nil
    }
}
