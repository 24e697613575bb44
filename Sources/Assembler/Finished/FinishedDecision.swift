/// The decision whether the file at the destination is the version that the server offers.
///
/// Pure. The file's content is checked separately.
package enum FinishedDecision: Sendable, Hashable {
    /// The file is the version that the server offers.
    case same
    /// The file is another version, or no validator shows that it is the same one.
    case doubtful(FinishedDoubt)

    /// Decides from the stored facts and the server's offer.
    ///
    /// - Parameters:
    ///   - facts: The facts that an earlier run stored.
    ///   - size: The present length of the file in bytes.
    ///   - offered: The version that the server offers.
    ///   - fullURL: The requested URL, with query.
    ///   - url: The requested URL without credentials and query.
    ///   - otherURLs: Other full URLs that the caller gave for the same file.
    package init(
        _ facts: FinishedFacts, size: Int64, offered: RemoteIdentity, fullURL: String, url: String,
        otherURLs: [String] = []
    ) {
        guard facts.size == size else {
            self = .doubtful(.resized(was: facts.size, now: size))
            return
        }
        var (mine, theirs) = (facts.header.identity, offered)
        // If the server states no size, equal validators are sufficient.
        if theirs.size == nil { theirs.size = size }
        mine.size = size
        if let reason = mine.obstacle(toContinuingWith: theirs) {
            self = .doubtful(.remote(reason))
        } else if facts.header.isFor(fullURL: fullURL)
            || (mine.hasSameStrongETag(as: offered)
                && (facts.header.url == url || otherURLs.contains(where: facts.header.isFor)))
        {
            self = .same
        } else {
            // Tags of different resources may be equal by chance, as for a part.
            self = .doubtful(.otherURL)
        }
    }
}

/// The reason why the file at the destination is not accepted as the one to download.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum FinishedDoubt: Sendable, Hashable {
    /// The file's size has changed since it was downloaded. In bytes.
    case resized(was: Int64, now: Int64)
    /// The server offers another version, or no validator to identify the version.
    case remote(StartOverReason)
    /// The file was downloaded from another URL.
    case otherURL
    /// The file's content has changed since it was downloaded.
    case damaged
    /// The file does not have the digest that the caller expects.
    case otherDigest(expected: Digest, actual: Digest)
    /// Another program created the file, and nothing shows that its bytes are the server's.
    case unproven
    /// Another program created the file, and its bytes differ from the server's.
    case otherBytes
    /// Another program created the file, and its unfinished download cannot be used.
    case unusable
    /// The file is kept, although nothing shows that its bytes are the server's.
    case unmarked
    /// The file is kept, although its bytes differ from the server's.
    case notTheServers
    /// The file is kept, although its length differs from that of the remote file. Both in bytes.
    case otherSize(Int64, remote: Int64)
}

/// The decision of `--timestamping` about the file at the destination.
///
/// Pure.
package enum TimestampDecision: Sendable, Hashable {
    /// The remote file is not newer.
    case keep
    /// The remote file is newer, has another size or version, or has no date but a placeholder.
    case fetch

    /// Decides as wget does, but by the entity tags if both are known.
    ///
    /// - Parameters:
    ///   - size: The length of the local file in bytes.
    ///   - time: The modification time of the local file, in seconds since 1970.
    ///   - known: The version of the local file that an earlier run stored.
    ///   - offered: The version that the server offers.
    ///   - modified: The modification time of the remote file, in seconds since 1970.
    package init(
        size: Int64, time: Int64, known: RemoteIdentity?, offered: RemoteIdentity, modified: Int64?
    ) {
        if let theirs = offered.size, theirs != size {
            self = .fetch
        } else if let known, let mine = known.etag, let theirs = offered.etag,
            !known.isDoubted(by: offered), mine != theirs || !offered.blank.contains(.etag)
        {
            self = mine == theirs ? .keep : .fetch
        } else if let modified, !RemoteIdentity.isPlaceholder(date: modified) {
            self = modified > time ? .fetch : .keep
        } else {
            self = .fetch
        }
    }
}
