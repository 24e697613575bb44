// Stops, discards or publishes an assembly; callable on any thread.
extension Assembly {
    /// Records the received bytes, stops the helper threads, and releases the part's lock.
    ///
    /// The part and the manifest remain.
    package func stop() throws(AssemblyError) {
        defer {
            stopThreads()
            file.unlock()
        }
        try recordAll()
        if let failure = stopThreads() { throw failure }
    }

    /// Stops the helper threads and removes the part and the manifest.
    ///
    /// - Throws: `io`.
    package func discard() throws(AssemblyError) {
        defer { file.unlock() }
        stopThreads()
        let (folder, journal) = (file.folder, recorder.journal)
        try folder.remove(file.name)
        // After a power cut, a part without its manifest would count as a foreign part.
        try folder.sync()
        try journal.remove()
    }

    /// Returns up to `count` bytes from the start of the part; fewer if they cannot be read.
    package func firstBytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let length = bytes.withUnsafeMutableBytes { readFully(file.descriptor, into: $0, at: 0) }
        return Array(bytes.prefix(length ?? 0))
    }

    /// Verifies the complete file of `size` bytes and renames it to its final name.
    ///
    /// May block on the disk.
    ///
    /// - Parameters:
    ///   - size: Length of the file in bytes; all of them have arrived.
    ///   - keeping: The bytes that a later run may keep if the digest is wrong; `nil` if no
    ///     later run may continue the part.
    ///   - onVerified: Called on this thread between verifying and renaming.
    ///   - isCurrent: Returns whether the file still matches the server's version. Called on this
    ///     thread once the data is durable; may block. If it returns false, the part remains.
    /// - Returns: The published file, or `nil` after `interrupt` or if the file is not current.
    /// - Throws: `digestMismatch` (the part remains), `destinationExists`, `partGone`,
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
        // Do not publish data that could not be made durable; only this line reports the error.
        if let failure = stopThreads() { throw failure }
        guard !wasInterrupted else { return nil }
        onVerified()
        let journal = recorder.journal
        let facts = FinishedFacts(
            header: journal.header.given, size: size, digests: computed, extents: recorded.extents)
        // Write the attributes before the mode: the umask may deny write access even to the owner.
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

    /// Returns the computed digests of the whole file and its CRC-32; `nil` after `interrupt`.
    private func digests(size: Int64, crc: UInt32) throws(AssemblyError) -> [Digest]? {
        guard let follower else { return [Digest(crc32: crc)] }
        guard let digests = try follower.finish(size: size) else { return nil }
        return digests + [Digest(crc32: crc)]
    }

    /// Records in the manifest that the digest is wrong, or reduces its extents to `keeping`.
    private func recordMismatch(_ actual: Digest, keeping: RangeSet?) {
        stopThreads()
        let arrived = recorded.extents
        if let keeping {
            recorder.retreat(to: file.extents(arrived, in: keeping), from: actual, arrived)
        } else {
            recorder.reject(actual, arrived)
        }
    }

    /// Writes the requested extended attributes.
    ///
    /// - Returns: The `errno` if the file system refused attributes that were explicitly requested.
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
