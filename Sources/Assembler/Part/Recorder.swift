/// Keeps the manifest of a part up to date: what has arrived is appended at once, made durable every few
/// seconds, and written anew, merged, when the manifest has grown.
///
/// Used by one thread at a time.
struct Recorder {
    /// A manifest shorter than this is not rewritten, in bytes.
    private static let rewriteThreshold = 256 << 10

    /// The manifest.
    let journal: Journal
    private let folder: Folder
    private let syncer: Syncer
    /// What was recorded since a rewrite was asked for; `nil` while none is under way.
    private var sinceRewrite: [Extent]?
    /// In bytes.
    private var lengthAfterRewrite: Int

    /// Starts the thread that makes part and manifest durable.
    ///
    /// - Parameters:
    ///   - journal: The manifest of the part.
    ///   - file: The part.
    ///   - forgettable: How far nobody will read what is durable, in bytes; `nil` where the page cache may
    ///     keep it.
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

    /// Appends what has arrived to the manifest: one line and one write(2).
    ///
    /// - Throws: `io`; nothing of it is in the manifest then.
    mutating func append(_ fresh: [Extent]) throws(AssemblyError) {
        try journal.append(Manifest.Record(extents: fresh))
        sinceRewrite?.append(contentsOf: fresh)
    }

    /// Fails once the part is lost.
    ///
    /// - Throws: `partGone`.
    func checkPresence() throws(AssemblyError) { try syncer.checkPresence() }

    /// Has what was appended made durable before long, takes a rewritten manifest into use, and asks for
    /// one when the manifest has grown.
    ///
    /// - Parameter extents: All that the manifest records; asked for only when it is to be
    ///   rewritten.
    /// - Throws: `io`, also when an earlier synchronization failed.
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

    /// Ends the thread, once, and removes what it has not finished.
    ///
    /// - Returns: What failed in making data durable and was not reported yet.
    func stop() -> AssemblyError? {
        let failure = syncer.stop()
        try? folder.remove(journal.names.rewrite)
        return failure
    }
}

// MARK: - A wrong digest, after `stop`

extension Recorder {
    /// Has the manifest say what is wrong with the part, and vouch for its bytes in no other line.
    ///
    /// That the digest is wrong is the error to report, whatever else fails: the record is appended
    /// first, which needs the least space, and the rest is rewritten when that can be done.
    ///
    /// - Parameters:
    ///   - actual: The digest that the part has.
    ///   - extents: What has arrived.
    func reject(_ actual: Digest, _ extents: [Extent]) {
        var record = Manifest.Record(rejected: actual.description)
        try? journal.append(record)
        record.extents = Manifest.Record(extents: extents).extents
        // Nothing continues it but a caller who expects just this digest: what had been required before was
        // wrong then.
        var header = journal.header
        header.requiredDigests = nil
        try? rewrite([record], header)
    }

    /// Has the manifest vouch for `kept` only, at once.
    ///
    /// What else is there has the wrong digest, and no later run may take it for right. Where that
    /// cannot be written, all of it is rejected.
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
