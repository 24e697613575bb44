import Glibc

/// One file being put together: `NAME.part`, its manifest, and what follows them.
///
/// Opened and finished on any thread, in between used by the loop thread only: whoever holds it
/// passes it on with a message. `interrupt` alone may be called from any thread at any time.
package final class Assembly: @unchecked Sendable {
    // Unchecked, because ownership moves from thread to thread as said above.

    /// Bytes that may be unrecorded before `record` is due.
    package static let recordThreshold: Int64 = 4 << 20
    /// A manifest shorter than this is not rewritten, in bytes.
    private static let rewriteThreshold = 256 << 10

    let request: Request
    let folder: Folder
    let file: PartialFile
    let journal: Journal
    /// What the whole file must have, each once.
    private let expected: [Digest]
    private let follower: DigestFollower?
    private let syncer: Syncer
    private var verifier: ExtentVerifier?
    private var isStopped = false
    private let isInterrupted = Monitor(false)

    /// What is on the disk, recorded and checked.
    package private(set) var recorded: ExtentMap = ExtentMap()
    /// An earlier run's extents that are not checked yet, by their offset.
    package private(set) var unverified: [Int64: Extent] = [:]
    /// Why an earlier part was not continued, when there was one.
    package let startedOver: StartOverReason?
    /// `errno` of fallocate(2), where the file system cannot reserve space.
    package let allocationProblem: Int32?
    private var writers: [ExtentWriter] = []
    private var loose: [Extent] = []
    private var sinceRewrite: [Extent]?
    private var lengthAfterRewrite: Int

    /// Path of the finished file.
    package var destination: String { folder.path(of: request.name) }
    /// Path of the part.
    package var partPath: String { file.path }
    /// Whether the part has got its name.
    package var isPublished: Bool {
        (try? folder.status(of: request.name))?.identity == file.identity
    }
    /// Bytes that a later run can build on: recorded, or still to be checked.
    package var bytesKept: Int64 {
        recorded.covered.count + unverified.values.reduce(0) { $0 + $1.range.count }
    }

    /// Opens or creates the part, takes its lock, decides whether an earlier run is continued,
    /// writes the manifest, and reserves the space.
    ///
    /// May block on the disk.
    ///
    /// - Throws: `AssemblyError`; what stood there is left as it was.
    package init(_ request: Request) throws(AssemblyError) {
        self.request = request
        folder = try Folder(request.folder)
        try Self.checkDestination(request.name, in: folder, overwrite: request.mayReplace)
        let manifestName = Journal.name(for: request.name)
        var file = try PartialFile(folder: folder, name: Self.partName(for: request.name))
        var resumed: Manifest?
        var made: Manifest.Header?
        do throws(AssemblyError) {
            switch try Self.decide(request, in: folder, partSize: file.initialSize) {
            case .refuse(let path): throw .foreignPart(path: path)
            case .begin: startedOver = nil
            case .startOver(let reason): startedOver = reason
            case .resume(let manifest):
                startedOver = nil
                resumed = request.mirroring.continued(manifest)
                file.makePrivate()
            }
            // Before anything is thrown away: the old part's space is the new one's.
            if let size = request.identity.size { try file.checkSpace(for: size) }
            if resumed == nil, (file.initialSize ?? 0) > 0 {
                // A new file, so that nothing of the old one can ever show through.
                try folder.remove(file.name)
                file = try PartialFile(folder: folder, name: file.name)
            }
            // Before the part has a length: without a manifest it would be taken for a foreign one.
            var header =
                resumed?.header
                ?? Manifest.Header(
                    identity: request.mirroring.recorded(request.identity), url: request.url,
                    fullURL: request.fullURL, generation: UInt64.random(in: 0...UInt64.max),
                    needsChecksum: request.mirroring.isHeldByChecksum)
            header.require(request.required)
            // What is continued has ranges, whatever it was begun with.
            header.isOneStream = request.servesRanges ? nil : true
            made = header
            let journal = try Journal(
                folder: folder, name: manifestName, header: header,
                records: JournalRewrite.records(for: resumed?.extents.extents ?? []))
            if let size = request.identity.size {
                allocationProblem = try file.preallocate(size, request.allocation)
            } else {
                allocationProblem = nil
            }
            self.journal = journal
        } catch {
            // The first failure says more than one of tidying up.
            if resumed == nil,
                case .success(let there)? = try? Self.readManifest(manifestName, in: folder),
                there.header.generation == made?.generation
            {
                try? folder.remove(manifestName)
            }
            if file.initialSize == nil { try? folder.remove(file.name) }
            throw error
        }
        let header = journal.header
        let extents = resumed?.extents.extents ?? []
        lengthAfterRewrite = journal.length
        unverified = Dictionary(uniqueKeysWithValues: extents.map { ($0.range.start, $0) })
        self.file = file
        expected = ([request.checksum].compactMap { $0 } + request.advertised + header.required)
            .reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        let follower = DigestFollower(file: file, algorithms: Set(expected.map(\.algorithm)))
        self.follower = follower
        // What others have in the page cache is worth more than all of a very large file.
        var forgettable: (@Sendable () -> Int64)?
        if request.identity.size ?? 0 >= physicalMemory() / 4 {
            forgettable = { follower?.position ?? .max }
        }
        syncer = Syncer(
            file: file, journalDescriptor: journal.descriptor, journalPath: journal.path,
            forgettable: forgettable
        ) { [folder] extents throws(AssemblyError) in
            try JournalRewrite(
                folder: folder, name: manifestName, header: header,
                records: JournalRewrite.records(for: extents))
        }
    }

    deinit { stopThreads() }

    /// What would be done with what an earlier run left, without touching it.
    package static func preview(_ request: Request) throws(AssemblyError) -> ResumeDecision {
        let folder = try Folder(request.folder)
        let part = try folder.status(of: partName(for: request.name))
        guard part?.isRegular ?? true else {
            throw .notARegularFile(path: folder.path(of: partName(for: request.name)))
        }
        return try decide(request, in: folder, partSize: part?.size)
    }

    private static func decide(
        _ request: Request, in folder: Folder, partSize: Int64?
    ) throws(AssemblyError) -> ResumeDecision {
        let manifestName = Journal.name(for: request.name)
        let manifest = try readManifest(manifestName, in: folder)
        try JournalRewrite.checkPlace(of: manifestName, in: folder, overwrite: request.overwrite)
        if let reason = request.startOver { return .startOver(reason) }
        return ResumeDecision(
            .init(
                manifest: manifest, partSize: partSize, offered: request.identity,
                fullURL: request.fullURL, url: request.url, servesRanges: request.servesRanges,
                checksum: request.checksum, wantsResume: request.resume,
                mayOverwrite: request.overwrite, otherURLs: request.mirroring.otherURLs,
                sampled: request.sampled),
            partPath: folder.path(of: partName(for: request.name)),
            manifestPath: folder.path(of: manifestName))
    }

    /// The name of the part of the file `name`.
    package static func partName(for name: String) -> String { name + ".part" }
}

// MARK: - While fetching, on the loop thread

extension Assembly {
    /// A writer for bytes from `offset` on.
    ///
    /// Nobody else may write or have written them.
    package func makeWriter(at offset: Int64) -> ExtentWriter {
        let writer = ExtentWriter(descriptor: file.descriptor, at: offset)
        writers.append(writer)
        return writer
    }

    /// Takes a writer back; what it wrote is recorded with the next `record`.
    package func retire(_ writer: ExtentWriter) {
        writers.removeAll { $0 === writer }
        if let extent = writer.takeUnrecorded() { loose.append(extent) }
    }

    /// Bytes on the disk that are not in the manifest yet.
    package var unrecorded: Int64 {
        writers.reduce(loose.reduce(0) { $0 + $1.range.count }) { $0 + $1.unrecorded }
    }

    /// Writes down what arrived since the last call: one line and one write(2) for all connections.
    ///
    /// - Throws: `io`, also when an earlier synchronization failed.
    package func record() throws(AssemblyError) {
        var fresh = loose
        for writer in writers {
            if let extent = writer.takeUnrecorded() { fresh.append(extent) }
        }
        guard !fresh.isEmpty else { return }
        loose = fresh
        try journal.append(Manifest.Record(extents: fresh))
        loose = []
        for extent in fresh { recorded.add(extent) }
        sinceRewrite?.append(contentsOf: fresh)
        try syncer.noteRecorded()
        follower?.advance(to: recorded.covered.front)
        try rewriteIfGrown()
    }

    /// Starts checking the earlier run's extents against the data, on a thread of its own.
    ///
    /// - Parameter report: Called on that thread; must lead to `confirm` on the loop thread.
    package func startVerifying(report: @escaping @Sendable (ByteRange, _ isIntact: Bool) -> Void) {
        guard !unverified.isEmpty, verifier == nil else { return }
        let extents = unverified.values.sorted { $0.range < $1.range }
        verifier = ExtentVerifier(file: file, extents: extents) { report($0.range, $1) }
    }

    /// Takes the outcome of checking an extent: it counts from now on, or must be fetched again.
    package func confirm(_ range: ByteRange, isIntact: Bool) {
        guard let extent = unverified.removeValue(forKey: range.start), isIntact else { return }
        recorded.add(extent)
        follower?.advance(to: recorded.covered.front)
    }

    /// Takes a rewritten manifest into use, and asks for one when the manifest has grown.
    private func rewriteIfGrown() throws(AssemblyError) {
        if let since = sinceRewrite {
            guard let rewrite = syncer.takeRewrite() else { return }
            sinceRewrite = nil
            try journal.adopt(rewrite, since: since)
            lengthAfterRewrite = journal.length
        } else if journal.length > 4 * lengthAfterRewrite + Self.rewriteThreshold {
            sinceRewrite = []
            syncer.requestRewrite(of: recorded.extents + unverified.values)
        }
    }
}

// MARK: - The end, on any thread

extension Assembly {
    /// Makes a blocking `publish` on another thread give up.
    ///
    /// Any thread may call this.
    package func interrupt() {
        isInterrupted.withLock { $0 = true }
        follower?.interrupt()
    }

    /// Records what arrived, stops the helper threads, and lets go of the part's lock.
    ///
    /// The part and the manifest stay.
    package func stop() throws(AssemblyError) {
        defer {
            stopThreads()
            file.unlock()
        }
        for writer in writers { retire(writer) }
        try record()
        if let failure = stopThreads() { throw failure }
    }

    /// Ends the attempt and removes part and manifest: nothing of them is of use.
    ///
    /// - Throws: `io`.
    package func discard() throws(AssemblyError) {
        defer { file.unlock() }
        stopThreads()
        try folder.remove(Self.partName(for: request.name))
        // A part that a power cut brings back without its manifest would be taken for a foreign one.
        try folder.sync()
        try journal.remove()
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
    /// - Throws: `digestMismatch` (the part stays), `destinationExists`, `partChanged`, `io`.
    package func publish(
        size: Int64, keeping: RangeSet? = nil, onVerified: () -> Void = {},
        isCurrent: () -> Bool = { true }
    ) throws(AssemblyError) -> PublishedFile? {
        defer {
            stopThreads()
            file.unlock()
        }
        verifier?.stop()
        verifier = nil
        try record()
        guard let crc = recorded.combinedCRC(size: size) else {
            preconditionFailure("published before all \(size) bytes had arrived")
        }
        guard let computed = try digests(size: size, crc: crc) else { return nil }
        for digest in expected {
            let actual = computed.first { $0.algorithm == digest.algorithm }
            guard let actual, actual != digest else { continue }
            if let keeping { retreat(to: keeping, from: actual) } else { reject(actual) }
            throw .digestMismatch(expected: digest, actual: actual, part: file.path)
        }
        // What could not be written through is told once, here: it must not be published.
        if let failure = stopThreads() { throw failure }
        guard !isInterrupted.withLock({ $0 }) else { return nil }
        onVerified()
        let facts = FinishedFacts(
            header: journal.header, size: size, digests: computed, extents: recorded.extents)
        // Before the mode, which the umask may make one that not even the owner can write.
        let problem = try writeAttributes(facts)
        try file.finishAttributes(modified: request.modified)
        try file.sync()
        try file.checkUntouched(size: size, extents: recorded.extents)
        guard isCurrent() else { return nil }
        let before = journal.length
        let isLinked: Bool
        do throws(AssemblyError) {
            try journal.append(Manifest.Record(publishing: file.identity, digests: expected))
            try journal.synchronize()
            // Before the rename: what does not fit on the disk shall fail while it can be resumed.
            if request.keepManifest { try facts.prepareManifest(journal.name, in: folder) }
            isLinked = try Publishing.rename(
                file, to: request.name, overwrite: request.mayReplace)
        } catch {
            try? folder.remove(JournalRewrite.name(for: journal.name))
            // Only what a crash leaves is finished without asking the server; this may be out of date
            // when the name is free.
            if !isPublished { journal.takeBack(to: before) }
            throw error
        }
        if request.keepManifest { try journal.replace() } else { try journal.remove() }
        return PublishedFile(
            path: destination, size: size, crc32: crc, verified: expected,
            attributesProblem: problem, isLinked: isLinked)
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
                let old = try FinishedFacts.attributes(of: request.name, in: folder)
            else { return nil }
            return facts.write(to: file.descriptor, includesOrigin: !old.header.url.isEmpty)
        }
        return nil
    }

    private func digests(size: Int64, crc: UInt32) throws(AssemblyError) -> [Digest]? {
        guard let follower else { return [Digest(crc32: crc)] }
        guard let digests = try follower.finish(size: size) else { return nil }
        return digests + [Digest(crc32: crc)]
    }

    /// Has the manifest say what is wrong with the part, and vouch for its bytes in no other line.
    ///
    /// That the digest is wrong is the error to tell, whatever else fails: the record is appended
    /// first, which needs the least space, and the rest is rewritten when that can be done.
    func reject(_ actual: Digest) {
        stopThreads()
        var record = Manifest.Record(rejected: actual.description)
        try? journal.append(record)
        record.extents = Manifest.Record(extents: recorded.extents).extents
        _ = try? Journal(
            folder: folder, name: Journal.name(for: request.name), header: journal.header,
            records: [record])
    }

    /// Ends the helper threads.
    ///
    /// - Returns: What failed in making data durable, once.
    @discardableResult
    func stopThreads() -> AssemblyError? {
        verifier?.stop()
        verifier = nil
        guard !isStopped else { return nil }
        isStopped = true
        let failure = syncer.stop()
        follower?.interrupt()
        follower?.join()
        try? folder.remove(JournalRewrite.name(for: Journal.name(for: request.name)))
        return failure
    }
}
