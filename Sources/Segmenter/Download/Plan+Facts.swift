import Assembler

// The steps of a plan, their results, and the files that a plan keeps unchanged.
extension Plan {
    /// One step of a plan.
    enum Step: Sendable, Hashable {
        /// Publish the file that a killed run had completed, if there is one.
        case finish
        /// Look at what exists at the destination.
        case survey
        /// Look whether a file with the name that the URL suggests exists.
        case seekExisting
        /// Ask the server whether the existing file was modified (RFC 9110 §13.1.2, §13.1.3).
        case askIfModified
        /// Ask what the server offers.
        case probe
        /// Publish the file that one response has delivered whole.
        case publishWhole
        /// Create the destination's folder if it is missing.
        case makeFolder
        /// Choose the final name.
        case chooseName
        /// Send a `GET` to confirm the response to a `HEAD`.
        case prove
        /// Compare a sample of the existing file with the server's bytes.
        case compareSample
        /// Compare the bytes of the existing file with the record of an earlier run.
        case checkContent
        /// Make a part of the intact bytes.
        case prepareRepair
        /// Compare the existing file with a digest that the server has stated.
        case compareDigest(Digest)
        /// Make a part of the file that another program began.
        case adopt
        /// Replace the existing file once the new one is complete; the doubt is reported.
        case replace(FinishedDoubt?)
        /// Download the file, in attempts.
        case fetch
        /// Keep the existing file, and end.
        case leave(Left)
        /// Fail; `because` states why the existing file does not count as the requested one.
        case refuse(DownloadError.Reason, because: FinishedDoubt? = nil)
    }

    /// An existing file that is kept unchanged.
    struct Left: Sendable, Hashable {
        var path: String
        /// The length in bytes.
        var size: Int64
        var why: DownloadedFile.Unchanged
        /// The CRC-32 of the content, if the content was read.
        var crc32: UInt32?
        /// The digests that were compared with the content.
        var verified: [Digest] = []
        /// Whether a sample of it matched the server's bytes.
        var isSampled = false
        /// Whether its modification time equals the server's `Last-Modified`.
        var isDated = false
    }

    /// The facts about a regular file at the destination.
    struct StandingFacts: Sendable {
        var path: String
        /// The length in bytes.
        var size: Int64
        /// The modification time in seconds since 1970.
        var modified: Int64
        /// The facts that an earlier run recorded; `nil` if there is no record.
        var known: FinishedFacts?
        /// Whether it is the file that the caller wants to adopt.
        var isAdopted = false
        /// The length of the remote file in bytes, according to aria2's control file beside this
        /// file.
        var controlledSize: Int64?
    }

    /// The digests of a file's bytes.
    struct Content: Sendable, Hashable {
        /// The digests that were computed.
        var digests: [Digest]
        var crc32: UInt32
    }

    /// The result of a survey of the destination.
    enum Sight: Sendable {
        /// No file with this name, and nothing that prevents creating one.
        case nothing
        /// A regular file, with its digest if one is expected and all bytes can be read.
        case file(StandingFacts, Content?)
        /// In a repair: the part of an earlier repair or download.
        case begun(required: [Digest])
        /// In a repair: a file with damaged bytes; it once had these digests.
        case damaged(had: [Digest])
        /// In a repair: a file that matches its manifest.
        case intact(StandingFacts, Content)
        /// In a repair: no manifest.
        case noManifest(isFileThere: Bool)
    }

    /// The server's offer.
    struct Offer: Sendable {
        var identity: RemoteIdentity
        /// The `Last-Modified` time in seconds since 1970.
        var modified: Int64?
        /// Whether a `GET` has stated it, not only a `HEAD`.
        var isProven: Bool
        /// Whether the response has delivered all bytes.
        var isWhole = false
        /// Whether the server serves ranges.
        var servesRanges = true
        /// The digests of the whole file that the server has stated.
        var digests: [Digest] = []
        /// The requested URL in full.
        var fullURL: String
        /// The URL without credentials and query.
        var url: String
    }
}

extension Plan.StandingFacts {
    /// Returns the record of an earlier run, if it is for this URL and for a file of this size.
    func header(for fullURL: String, _ url: String) -> Manifest.Header? {
        guard let known, known.size == size,
            known.header.isFor(fullURL: fullURL)
                || (known.header.url == url && known.header.identity.strongETag != nil)
        else { return nil }
        return known.header
    }
}
