/// Whether the file at the destination is what would be downloaded.
///
/// Pure. Its content is checked separately: this is about the version only.
package enum FinishedDecision: Sendable, Hashable {
    /// It is the version that the server offers.
    case same
    /// It is not, or nothing proves that it is.
    case doubtful(FinishedDoubt)

    /// Decides by what is known of the file, which now has `size` bytes, and by what is offered.
    ///
    /// - Parameters:
    ///   - facts: What an earlier run wrote down.
    ///   - size: Its present length in bytes.
    ///   - offered: What the server offers.
    ///   - fullURL: The URL that is asked for, with query.
    ///   - url: The same without credentials and query.
    ///   - otherURLs: Further full URLs that the caller gave for the same file.
    package init(
        _ facts: FinishedFacts, size: Int64, offered: RemoteIdentity, fullURL: String, url: String,
        otherURLs: [String] = []
    ) {
        guard facts.size == size else {
            self = .doubtful(.resized(was: facts.size, now: size))
            return
        }
        var (mine, theirs) = (facts.header.identity, offered)
        // A server that states no size is believed when its validators are the same.
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
            // As for a part: the tags of another resource may be equal by chance.
            self = .doubtful(.otherURL)
        }
    }
}

/// Why the file at the destination is not taken for the one that would be downloaded.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum FinishedDoubt: Sendable, Hashable {
    /// It no longer has the size that it was downloaded with. In bytes.
    case resized(was: Int64, now: Int64)
    /// The server offers another version, or nothing that distinguishes versions.
    case remote(StartOverReason)
    /// It was downloaded from another URL.
    case otherURL
    /// Its content is not what was downloaded.
    case damaged
    /// It has not the digest that the caller expects.
    case otherDigest(expected: Digest, actual: Digest)
    /// Another program has brought it, and nothing proves that its bytes are the server's.
    case unproven
    /// Another program has brought it, and its bytes are not the server's.
    case otherBytes
    /// Another program has brought it, and what it left cannot be used.
    case unusable
    /// It stays: nothing shows whether its bytes are the server's.
    case unmarked
    /// It stays: its bytes are not the server's.
    case notTheServers
    /// It stays: it has not the length of the remote file. Both in bytes.
    case otherSize(Int64, remote: Int64)
}

/// What `--timestamping` does with the file at the destination.
///
/// Pure.
package enum TimestampDecision: Sendable, Hashable {
    /// The remote file is not newer.
    case keep
    /// It is newer, of another size or version, or it does not say: a placeholder is no time.
    case fetch

    /// Decides as wget does, and by the entity tag where both are known.
    ///
    /// - Parameters:
    ///   - size: Length of the local file in bytes.
    ///   - time: When the local file was last changed, in seconds since 1970.
    ///   - known: The version that the local file is, where an earlier run wrote it down.
    ///   - offered: What the server offers.
    ///   - modified: When the remote file was last changed, in seconds since 1970.
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
