import Assembler

// What a plan has done, what it is told, and what it leaves as it is.
extension Plan {
    /// What is to be done next.
    enum Step: Sendable, Hashable {
        /// Finish what a killed run had completed, if there is such a thing.
        case finish
        /// Look at what stands at the destination.
        case survey
        /// Look whether a file has the name that the URL suggests already.
        case seekExisting
        /// Ask whether the file that stands there was modified meanwhile.
        case askIfModified
        /// Ask what the server offers.
        case probe
        /// Give the file its name, whose bytes one reply has brought.
        case publishWhole
        /// Make the destination's folder, if it is missing.
        case makeFolder
        /// Choose the final name.
        case chooseName
        /// Have a `GET` say what a `HEAD` has said.
        case prove
        /// Compare a sample of the file that stands there with what the server sends.
        case compareSample
        /// Compare the bytes of the file that stands there with what was written down about it.
        case checkContent
        /// Make a part of what is intact.
        case prepareRepair
        /// Compare the file that stands there with a digest that the server has stated.
        case compareDigest(Digest)
        /// Make a part of what another program has begun.
        case adopt
        /// Replace what stands there, once all of the file is there; `because` is reported.
        case replace(FinishedDoubt?)
        /// Fetch the file, in attempts.
        case fetch
        /// Nothing: the file is there.
        case leave(Left)
        /// Fail; `because` says why what stands there is not taken for the file.
        case refuse(DownloadError.Reason, because: FinishedDoubt? = nil)
    }

    /// A file that is left as it is.
    struct Left: Sendable, Hashable {
        var path: String
        /// In bytes.
        var size: Int64
        var why: DownloadedFile.Unchanged
        /// CRC-32 of its content, where that was read.
        var crc32: UInt32?
        /// Digests that were compared with its content.
        var verified: [Digest] = []
        /// Whether a sample showed that it is the server's file.
        var isSampled = false
        /// Whether its time is the `Last-Modified` of the server's file.
        var isDated = false
    }

    /// A regular file that stands at the destination.
    struct StandingFacts: Sendable {
        var path: String
        /// In bytes.
        var size: Int64
        /// When it was last changed, in seconds since 1970.
        var modified: Int64
        /// What an earlier run wrote down about it.
        var known: FinishedFacts?
        /// Whether it is the file in which another program has begun this one.
        var isAdopted = false
        /// How long aria2 took the remote file for, whose control file stands beside it; in bytes.
        var controlledSize: Int64?
    }

    /// What the bytes of a file come to.
    struct Content: Sendable, Hashable {
        /// Digests of them.
        var digests: [Digest]
        var crc32: UInt32
    }

    /// What a look at the destination has shown.
    enum Sight: Sendable {
        /// Nothing that could be the file, nor anything in its way.
        case nothing
        /// A regular file, and its digest where one is expected and all bytes can be read.
        case file(StandingFacts, Content?)
        /// In a repair: the part of one, or of a download, that was begun.
        case begun(required: [Digest])
        /// In a repair: a file of which not all is as its manifest says; it had these digests.
        case damaged(had: [Digest])
        /// In a repair: a file that is as its manifest says.
        case intact(StandingFacts, Content)
        /// In a repair: no manifest.
        case noManifest(isFileThere: Bool)
    }

    /// What the server offers.
    struct Offer: Sendable {
        var identity: RemoteIdentity
        /// When it was last changed, in seconds since 1970.
        var modified: Int64?
        /// Whether a `GET` has said so, rather than a `HEAD`.
        var isProven: Bool
        /// Whether the reply has brought all bytes.
        var isWhole = false
        /// Whether ranges of it can be asked for.
        var servesRanges = true
        /// Digests of the whole file that the server has stated.
        var digests: [Digest] = []
        /// The URL that was asked, in full.
        var fullURL: String
        /// The same without credentials and query.
        var url: String
    }
}

extension Plan.StandingFacts {
    /// What an earlier run wrote down about the file, when it is about this URL and fits its size.
    func header(for fullURL: String, _ url: String) -> Manifest.Header? {
        guard let known, known.size == size,
            known.header.isFor(fullURL: fullURL)
                || (known.header.url == url && known.header.identity.strongETag != nil)
        else { return nil }
        return known.header
    }
}
