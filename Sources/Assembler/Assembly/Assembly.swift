// Assembly: one file from its first byte until it is published. Defines the order of the steps for
// the part, manifest and digests, and checks the destination. Does not use servers or sockets.

import Glibc

/// A file that is being downloaded: `NAME.part`, its manifest, its digests and its publication.
///
/// Any thread may open and finish an assembly. In between, only the loop thread uses it; a message
/// transfers its ownership. Only `interrupt` may be called from any thread at any time.
package final class Assembly: @unchecked Sendable {
    // Unchecked, because messages transfer the ownership between threads, as described above.

    let request: Request
    let file: PartialFile
    private(set) var recorder: Recorder
    /// The expected digests of the whole file, without duplicates.
    let expected: [Digest]
    private let follower: DigestFollower?
    private var verifier: ExtentVerifier?
    private var writers = OpenWriters()
    private var isStopped = false
    private let isInterrupted = Monitor(false)

    /// The extents that are recorded in the manifest and verified.
    package private(set) var recorded = ExtentMap()
    /// An earlier run's extents that are not verified yet, by their offset.
    package private(set) var unverified: [Int64: Extent]
    /// The reason why an earlier part was not continued, if there was one.
    package let startedOver: StartOverReason?
    /// The `errno` of fallocate(2) if the file system cannot reserve space.
    package let allocationProblem: Int32?

    /// Opens or creates the part, takes its lock, decides whether an earlier run is continued,
    /// writes the manifest, and reserves the space.
    ///
    /// May block on the disk.
    ///
    /// - Throws: `AssemblyError`; existing files remain unchanged.
    package init(_ request: Request) throws(AssemblyError) {
        let opened = try OpenedPart(request)
        let file = opened.file
        self.request = request
        self.file = file
        startedOver = opened.startedOver
        allocationProblem = opened.allocationProblem
        unverified = Dictionary(
            uniqueKeysWithValues: opened.extents.map { ($0.range.start, $0) })
        expected = (request.expected + opened.journal.header.required).distinct
        let follower = DigestFollower(
            file: file, algorithms: Set(expected.map(\.algorithm)), size: request.identity.size,
            diskPriority: request.checkPriority)
        self.follower = follower
        // Drop a very large file from the page cache: other files' pages are more useful there.
        var forgettable: (@Sendable () -> Int64)?
        if request.identity.size ?? 0 >= physicalMemory() / 4 {
            forgettable = { follower?.position ?? .max }
        }
        recorder = Recorder(opened.journal, of: file, forgettable: forgettable)
    }

    deinit { stopThreads() }

    /// The path of the finished file.
    package var destination: String { file.folder.path(of: request.name) }
    /// The path of the part.
    package var partPath: String { file.path }
    /// The random number that distinguishes this part from other parts of the same file.
    package var generation: String { recorder.journal.header.generation }
    /// Whether the part has been renamed to the destination.
    package var isPublished: Bool { (try? file.stands(at: request.name)) == true }
    /// The number of bytes that a later run can keep: recorded, or not verified yet.
    package var bytesKept: Int64 {
        recorded.covered.count + unverified.values.reduce(0) { $0 + $1.range.count }
    }
}

// MARK: - During the download, on the loop thread

// A file accepts bytes at any offset and time, so it needs no window.
extension Assembly: Output {
    package var writtenPath: String { partPath }
    package var recordThreshold: Int64 { Self.usualRecordThreshold }
    package func takeWindow() -> OutputWindow? { nil }
    package func onMove(_ body: @escaping @Sendable () -> Void) {}

    /// The number of written bytes that the manifest does not record yet.
    package var unrecorded: Int64 { writers.unrecorded }

    package func makeWriter(at offset: Int64) -> ExtentWriter {
        writers.add(ExtentWriter(descriptor: file.descriptor, at: offset))
    }

    package func retire(_ writer: ExtentWriter) { writers.retire(writer) }

    /// Records the bytes received since the last call.
    ///
    /// Writes one line with one write(2) for all connections.
    ///
    /// - Throws: `partGone`, even if no bytes arrived; `io`, also if an earlier synchronization
    ///   failed.
    package func record() throws(AssemblyError) {
        try recorder.checkPresence()
        let fresh = writers.takeUnrecorded()
        guard !fresh.isEmpty else { return }
        do throws(AssemblyError) {
            try recorder.append(fresh)
        } catch {
            writers.giveBack(fresh)
            throw error
        }
        for extent in fresh { recorded.add(extent) }
        follower?.advance(to: recorded.covered.front)
        try recorder.settle(recorded.extents + unverified.values)
    }

    package func startVerifying(report: @escaping @Sendable (ByteRange, _ isIntact: Bool) -> Void) {
        guard !unverified.isEmpty, verifier == nil else { return }
        let extents = unverified.values.sorted { $0.range < $1.range }
        verifier = ExtentVerifier(
            file: file, extents: extents, diskPriority: request.checkPriority
        ) { report($0.range, $1) }
    }

    /// Records an intact extent; drops a damaged one, so that it is downloaded again.
    package func confirm(_ range: ByteRange, isIntact: Bool) {
        guard let extent = unverified.removeValue(forKey: range.start), isIntact else { return }
        recorded.add(extent)
        follower?.advance(to: recorded.covered.front)
    }

    /// Returns whether the bytes on the disk equal a server's sample.
    ///
    /// Reads as many bytes as the sample has.
    package func agrees(with sample: Extent) -> Bool {
        Assembler.isIntact(sample, in: file.descriptor)
    }
}

// MARK: - The helper threads

extension Assembly {
    package func interrupt() {
        isInterrupted.withLock { $0 = true }
        follower?.interrupt()
    }

    /// Whether `interrupt` was called.
    var wasInterrupted: Bool { isInterrupted.withLock { $0 } }

    /// Retires all writers and records their remaining bytes.
    func recordAll() throws(AssemblyError) {
        writers.retireAll()
        try record()
    }

    /// Stops verifying an earlier run's extents; no further outcomes are reported.
    private func stopVerifying() {
        verifier?.stop()
        verifier = nil
    }

    /// Stops the helper threads.
    ///
    /// - Returns: The error that kept data from becoming durable; only the first call returns it.
    @discardableResult
    private func stopThreads() -> AssemblyError? {
        stopVerifying()
        guard !isStopped else { return nil }
        isStopped = true
        let failure = recorder.stop()
        follower?.interrupt()
        follower?.join()
        return failure
    }
}

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
        var digests: [Digest] = []
        if let follower {
            guard let followed = try follower.finish(size: size) else { return nil }
            digests = followed
        }
        let whole = Digest(crc32: crc)
        // git's SHA-1 begins with the size, which was not known before.
        let known = digests.map(\.algorithm) + [.crc32]
        let missing = Set(expected.map(\.algorithm)).subtracting(known)
        guard !missing.isEmpty else { return digests + [whole] }
        let check = ContentCheck.run(
            file.descriptor, size: size, extents: [], algorithms: missing
        ) { _ in wasInterrupted }
        guard let check else { return nil }
        guard !check.digests.isEmpty else { throw file.failure("pread") }
        return digests + check.digests + [whole]
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
