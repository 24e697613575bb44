/// Keeps the manifest of a part up to date.
///
/// Received extents are appended immediately, and become durable every few seconds. A manifest that
/// has grown is rewritten with merged extents.
///
/// Used by one thread at a time.
struct Recorder {
    /// A manifest is rewritten only if it is longer than this, in bytes.
    private static let rewriteThreshold = 256 << 10

    /// The manifest of the part.
    let journal: Journal
    private let folder: Folder
    private let syncer: Syncer
    /// The extents that were recorded since a rewrite was requested; `nil` if no rewrite is in
    /// progress.
    private var sinceRewrite: [Extent]?
    /// The length of the manifest after the last rewrite, in bytes.
    private var lengthAfterRewrite: Int

    /// Starts the thread that makes part and manifest durable.
    ///
    /// - Parameters:
    ///   - journal: The manifest of the part.
    ///   - file: The part.
    ///   - forgettable: Returns the offset before which durable bytes may leave the page cache;
    ///     `nil` if all of them may stay there.
    init(_ journal: Journal, of file: PartialFile, forgettable: (@Sendable () -> Int64)?) {
        self.journal = journal
        folder = file.folder
        lengthAfterRewrite = journal.length
        let (folder, names, header) = (folder, journal.names, journal.header)
        syncer = Syncer(
            file: file, journalDescriptor: journal.descriptor, journalPath: journal.path,
            forgettable: forgettable
        ) { extents throws(AssemblyError) in
            try JournalRewrite(
                folder: folder, names: names, header: header,
                records: JournalRewrite.records(for: extents))
        }
    }

    /// Appends received extents to the manifest: one line and one write(2).
    ///
    /// - Throws: `io`. After an error, the manifest is unchanged.
    mutating func append(_ fresh: [Extent]) throws(AssemblyError) {
        try journal.append(Manifest.Record(extents: fresh))
        sinceRewrite?.append(contentsOf: fresh)
    }

    /// Throws if the part is lost.
    ///
    /// - Throws: `partGone`.
    func checkPresence() throws(AssemblyError) { try syncer.checkPresence() }

    /// Requests that appended records become durable, and rewrites the manifest when it has grown.
    ///
    /// A rewritten manifest is used as soon as the thread has written it.
    ///
    /// - Parameter extents: All extents that the manifest records; evaluated only for a rewrite.
    /// - Throws: `io`, also if an earlier synchronization failed; `partGone`.
    mutating func settle(_ extents: @autoclosure () -> [Extent]) throws(AssemblyError) {
        try syncer.noteRecorded()
        if let since = sinceRewrite {
            guard let rewrite = syncer.takeRewrite() else { return }
            sinceRewrite = nil
            try journal.adopt(rewrite, since: since)
            lengthAfterRewrite = journal.length
        } else if journal.length > 4 * lengthAfterRewrite + Self.rewriteThreshold {
            sinceRewrite = []
            syncer.requestRewrite(of: extents())
        }
    }

    /// Ends the thread and removes an unfinished rewrite; must be called once.
    ///
    /// - Returns: The error of the thread, if any.
    func stop() -> AssemblyError? {
        let failure = syncer.stop()
        try? folder.remove(journal.names.rewrite)
        return failure
    }
}

// MARK: - A wrong digest, after `stop`

extension Recorder {
    /// Records that the part has a wrong digest, and that none of its extents may be used.
    ///
    /// The caller reports the wrong digest even if this fails. The record is therefore appended
    /// first, which needs the least space; then the manifest is rewritten, if possible.
    ///
    /// - Parameters:
    ///   - actual: The digest of the part.
    ///   - extents: The received extents.
    func reject(_ actual: Digest, _ extents: [Extent]) {
        var record = Manifest.Record(rejected: actual.description)
        try? journal.append(record)
        record.extents = Manifest.Record(extents: extents).extents
        // Only a caller who expects exactly this digest can resume the part. The previously
        // required digests would contradict that.
        var header = journal.header
        header.requiredDigests = nil
        try? rewrite([record], header)
    }

    /// Rewrites the manifest immediately so that it records only the extents in `kept`.
    ///
    /// The other extents have a wrong digest, and no later run may use them. If the rewrite fails,
    /// the whole part is rejected.
    func retreat(to kept: [Extent], from actual: Digest, _ extents: [Extent]) {
        do throws(AssemblyError) {
            try rewrite(JournalRewrite.records(for: kept), journal.header)
        } catch {
            reject(actual, extents)
        }
    }

    private func rewrite(
        _ records: [Manifest.Record], _ header: Manifest.Header
    ) throws(AssemblyError) {
        _ = try Journal(folder: folder, names: journal.names, header: header, records: records)
    }
}
