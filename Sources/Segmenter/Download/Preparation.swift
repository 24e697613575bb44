import Assembler
import SegmenterRules
import SegmenterTransport

/// Decides the next step for one file, until its bytes are downloaded.
///
/// The decisions depend on the caller's request, the existing file at the destination, and the
/// server's offer. A run carries out each step; a preview follows the same steps and shows the
/// result. The runner reports the result of each step with one of the `take` methods.
///
/// Pure: no I/O and no clock.
struct Preparation: Sendable {
    /// The state of the destination, as far as later decisions need it.
    private enum Standing {
        case nothing
        /// A file without the expected digest, which may be replaced.
        case wrong
        /// A file in which another program began this download.
        case adopted
        /// A file whose version an earlier run recorded.
        case known(StandingFacts, FinishedFacts)
        /// A file that is compared by its modification time (`timestamping`).
        case dated(StandingFacts)
        /// A file of any origin that may count for the download.
        ///
        /// The doubt is set if the file does not have the expected digest.
        case foreign(StandingFacts, FinishedDoubt?)
        /// A file of unknown origin, which is kept unless its bytes are verified to be the
        /// server's.
        case unmarked(StandingFacts, FinishedDoubt?)
        case begun(required: [Digest])
        case damaged(had: [Digest])
    }

    /// The results of the comparisons with the existing file.
    struct Answers {
        /// Whether the server answered, before the probe, that the file is not modified.
        var isUnmodified: Bool?
        /// Whether the server answered so after the probe, before the file is replaced.
        var isStillUnmodified: Bool?
        var isSampleSame: Bool?
        /// The digests of the file's bytes; the inner `nil` means that they are not those that were
        /// downloaded.
        var content: Content??
        /// The digest of the file's bytes that is compared with the server's; the inner `nil` means
        /// that not all bytes can be read.
        var stated: Content??
    }

    /// The state of the destination's folder.
    private enum FolderState {
        case unknown, there
        case missing(parent: String)
    }

    let job: DownloadJob
    /// Whether the file is one of a list, which assigns the names of its files.
    private let isListed: Bool
    /// Whether the final name is known.
    private(set) var isNamed: Bool
    private var triedToFinish = false
    private var hasSought = false
    private var standing: Standing?
    private var offer: Offer?
    private(set) var answers = Answers()
    private var isDeclined = false
    private var folder = FolderState.unknown
    private var isPrepared = false
    private var isAdopted: Bool
    private var ending: Step?

    /// Creates the preparation of one download.
    init(_ job: DownloadJob, isListed: Bool = false) {
        self.job = job
        self.isListed = isListed
        isNamed = job.namesFile
        triedToFinish = !job.options.resume
        isAdopted = job.options.adopt == nil
    }

    // MARK: The next step

    /// The next step.
    var next: Step {
        if let ending { return ending }
        // A name that the caller gave is looked at before the first request.
        if job.namesFile, let step = look { return step }
        if job.seeksExisting, !hasSought, offer == nil { return .seekExisting }
        guard let offer else {
            if case .dated? = standing, answers.isUnmodified == nil, !job.options.singleRequest {
                return .askIfModified
            }
            return .probe
        }
        guard job.goesToFile else { return .fetch }
        if offer.isWhole, isListed, job.options.adopt == nil, !isDeclined, !isCompared {
            return .publishWhole
        }
        if case .unknown = folder { return .makeFolder }
        // In a missing folder, all names are free but those of other files of the list.
        if !isNamed, isListed || missingFolder == nil { return .chooseName }
        if let step = look { return step }
        let step = compared(offer)
        guard step == .fetch, !isAdopted else { return step }
        // A `HEAD` alone does not justify a change of another program's file.
        return offer.isProven ? .adopt : .prove
    }

    /// The step that shows what exists at the destination; `nil` once that is known.
    private var look: Step? {
        guard standing == nil else { return nil }
        return triedToFinish ? .survey : .finish
    }

    /// Whether a file or a part exists that is compared with the server's offer.
    var isCompared: Bool {
        switch standing {
        case .known?, .dated?, .foreign?, .unmarked?, .begun?, .damaged?: true
        case .nothing?, .wrong?, .adopted?, nil: false
        }
    }

    /// The existing file, if it is compared by its modification time.
    var dated: StandingFacts? { if case .dated(let file)? = standing { file } else { nil } }

    /// The folder in which the missing folder would be created; `nil` if none is missing.
    var missingFolder: String? { if case .missing(let parent) = folder { parent } else { nil } }

    /// The digests that the whole file must have, because the file had them when it was downloaded.
    var required: [Digest] {
        switch standing {
        case .begun(let digests)?, .damaged(let digests)?: digests
        case .nothing?, .wrong?, .adopted?, .known?, .dated?, .foreign?, .unmarked?, nil: []
        }
    }

    /// Whether the existing file may be replaced although the caller did not allow to overwrite
    /// files.
    var mayReplace: Bool {
        switch standing {
        case .wrong?, .dated?, .adopted?: true
        case .nothing?, .known?, .foreign?, .unmarked?, .begun?, .damaged?, nil: false
        }
    }

    /// The path of another program's file that is adopted; `nil` if there is none.
    var adopts: String? {
        switch standing {
        case .foreign(let file, _)?, .unmarked(let file, _)?: file.path
        default: job.options.adopt
        }
    }

    /// Whether bytes of the existing file may never have been written, although it has its full
    /// length.
    ///
    /// Other programs may allocate the full length before they download.
    var mayBeUnwritten: Bool {
        switch standing {
        case .foreign(let file, _)?, .unmarked(let file, _)?: file.known == nil
        default: false
        }
    }

    // MARK: Results of steps

    /// Takes the existing file with the name that the URL suggests, which is skipped; `nil` if
    /// there is none.
    mutating func take(existing file: StandingFacts?) {
        hasSought = true
        if let file { ending = left(file, .skipped) }
    }

    /// Records that no completed download of an earlier run had to be published.
    mutating func takeNothingToFinish() { triedToFinish = true }

    /// Takes the result of the survey of the destination.
    ///
    /// - Returns: The reason why the existing file is replaced, for a notice; `nil` if there is
    ///   none.
    mutating func take(_ sight: Sight) -> FinishedDoubt? {
        switch sight {
        case .nothing: standing = .nothing
        case .begun(let required): standing = .begun(required: required)
        case .damaged(let digests): standing = .damaged(had: digests)
        case .noManifest(let isFileThere):
            ending = .refuse(.unrepairable(.noManifest(isFileThere: isFileThere)))
        case .intact(let file, let content): ending = judged(intact: file, content)
        case .file(let file, _) where job.options.files.skipsExisting:
            ending = left(file, .skipped)
        case .file(let file, let content):
            if let expected = job.options.checksum {
                return take(file, content, expected)
            } else if file.isAdopted {
                standing = .adopted
            } else if job.mayCount(controlledSize: file.controlledSize) {
                standing = .foreign(file, nil)
            } else if job.options.files.timestamping {
                standing = .dated(file)
            } else if let known = file.known {
                standing = .known(file, known)
            } else if job.comparesUnmarked {
                standing = .unmarked(file, nil)
            } else {
                ending = exists(file)
            }
        }
        return nil
    }

    /// Takes whether the server answered that the existing file is not modified.
    mutating func take(isUnmodified: Bool) {
        guard offer == nil else {
            answers.isStillUnmodified = isUnmodified
            return
        }
        answers.isUnmodified = isUnmodified
        guard isUnmodified, case .dated(let file)? = standing, let url = job.url else { return }
        // The server compared the entity tag, and the file has the size with which it was
        // downloaded. A date alone does not exclude an older file of another size.
        if let header = file.header(for: url.text, url.redacted),
            let etag = header.identity.wellFormedETag,
            !RemoteIdentity.isBlank(etag: etag, size: file.size, date: file.modified)
        {
            ending = left(file, .notNewer)
        }
    }

    /// Takes the server's offer, from the first probe or a later one.
    mutating func take(_ offer: Offer) { self.offer = offer }

    /// Records that a file is assembled like others, although one response has delivered all bytes.
    mutating func takeDeclined() { isDeclined = true }

    /// Records that the folder exists, or that it would be created in `parent`.
    mutating func take(missingFolderIn parent: String?) {
        folder = parent.map { .missing(parent: $0) } ?? .there
    }

    /// Records that the final name is known.
    mutating func takeName() { isNamed = true }

    /// Takes whether a sample of the existing file matched the server's bytes.
    mutating func take(isSampleSame: Bool) { answers.isSampleSame = isSampleSame }

    /// Takes the digests of the file's bytes; `nil` if they are not those that were downloaded.
    mutating func take(_ content: Content?) { answers.content = .some(content) }

    /// Takes the digest that is compared with the server's; `nil` if not all bytes can be read.
    mutating func take(stated content: Content?) { answers.stated = .some(content) }

    /// Records that the intact bytes have become a part.
    mutating func takePrepared() { isPrepared = true }

    /// Records that the other program's file is adopted, or that an earlier run has already adopted
    /// it.
    mutating func takeAdopted() {
        isAdopted = true
        switch standing {
        case .foreign?, .unmarked?: standing = .adopted
        default: break
        }
    }

    /// Records that the file cannot be adopted: a file of unknown origin is kept, others are
    /// replaced.
    mutating func takeNotAdopted(_ doubt: FinishedDoubt) {
        guard case .unmarked(let file, _)? = standing else { return takeReplaced() }
        ending = exists(file, doubt)
    }

    /// Records that the existing file is replaced, although it might have counted for the download.
    mutating func takeReplaced() { standing = .wrong }

    // MARK: Decisions

    /// Decides about an existing file when the caller expects a digest.
    ///
    /// - Returns: The reason why the file is replaced, for a notice; `nil` if there is none.
    private mutating func take(
        _ file: StandingFacts, _ content: Content?, _ expected: Digest
    ) -> FinishedDoubt? {
        guard let content,
            let actual = content.digests.first(where: { $0.algorithm == expected.algorithm })
        else {
            ending = exists(file)
            return nil
        }
        guard actual != expected else {
            ending = left(
                file, .alreadyComplete, Content(digests: [expected], crc32: content.crc32))
            return nil
        }
        guard !file.isAdopted else {
            standing = .adopted
            return nil
        }
        let doubt = FinishedDoubt.otherDigest(expected: expected, actual: actual)
        guard !job.mayCount(controlledSize: file.controlledSize) else {
            standing = .foreign(file, doubt)
            return nil
        }
        guard job.options.files.timestamping else {
            if job.options.continuesExisting, file.known == nil, job.comparesUnmarked {
                standing = .unmarked(file, doubt)
            } else {
                ending = exists(file, doubt)
            }
            return nil
        }
        standing = .wrong
        return doubt
    }

    /// Decides about a file in a repair whose bytes match its manifest.
    private func judged(intact file: StandingFacts, _ content: Content) -> Step {
        let expected = job.options.checksum
        if let expected {
            let actual = content.digests.first(where: { $0.algorithm == expected.algorithm })
            if let actual, actual != expected {
                return .refuse(.unrepairable(.otherDigest(expected: expected, actual: actual)))
            }
        }
        let known = file.known?.digests.filter { $0.algorithm != .crc32 && $0 != expected } ?? []
        let verified = known + [expected].compactMap { $0 }
        return left(file, .alreadyComplete, Content(digests: verified, crc32: content.crc32))
    }

    /// Compares the existing file with the server's offer.
    private func compared(_ offer: Offer) -> Step {
        switch standing {
        case .nothing?, .wrong?, .adopted?, .begun?, nil: .fetch
        case .damaged?: isPrepared ? .fetch : .prepareRepair
        case .known(let file, let known)?: compared(file, known, offer)
        case .dated(let file)?: compared(file, offer)
        case .foreign(let file, let doubt)?: compared(file, doubt, offer)
        case .unmarked(let file, let doubt)?: compared(unmarked: file, doubt, offer)
        }
    }
}

// Comparisons of the existing file with the server's offer.
extension Preparation {
    /// Compares a file that may count for the download with the server's offer.
    func compared(
        _ file: StandingFacts, _ doubt: FinishedDoubt?, _ offer: Offer
    ) -> Step {
        // A `HEAD` is only a hint: it justifies neither replacing the file nor keeping it.
        guard offer.isProven else { return .prove }
        switch job.takeOver(of: file.size, controlledSize: file.controlledSize, offer) {
        case .none:
            return job.options.overwrite ? .replace(nil) : exists(file, doubt)
        case .replace: return .replace(.unproven)
        case .adopt: return .adopt
        case .compareSample: return doubt.map { .replace($0) } ?? comparedWhole(file, offer)
        }
    }

    /// Compares a file of full length with the server's offer, by the strongest available evidence.
    ///
    /// That is a digest, then the record of an earlier run, then a sample.
    private func comparedWhole(_ file: StandingFacts, _ offer: Offer) -> Step {
        if let step = comparedByDigest(file, offer, otherwise: { .replace($0) }) { return step }
        if let known = file.known {
            let step = compared(file, known, offer)
            guard case .refuse(_, let doubt?) = step else { return step }
            // Without evidence of another version, the bytes may show that the file is the same.
            guard doubt.isUnproven else { return .replace(doubt) }
            guard let checked = answers.content else { return .checkContent }
            guard checked != nil else { return .replace(.damaged) }
        }
        guard offer.servesRanges else { return .replace(.unproven) }
        guard let isSame = answers.isSampleSame else { return .compareSample }
        guard isSame else { return .replace(.otherBytes) }
        return left(file, .alreadyComplete, isSampled: true)
    }

    /// Compares a file with a digest that the server states; `nil` if it states none.
    private func comparedByDigest(
        _ file: StandingFacts, _ offer: Offer, otherwise: (FinishedDoubt) -> Step
    ) -> Step? {
        guard let stated = offer.digests.min(by: { $0.algorithm.order < $1.algorithm.order })
        else { return nil }
        guard let answer = answers.stated else { return .compareDigest(stated) }
        guard let content = answer, let actual = content.digests.first else {
            return otherwise(.damaged)
        }
        guard actual == stated else {
            return otherwise(.otherDigest(expected: stated, actual: actual))
        }
        return left(file, .alreadyComplete, content)
    }

    /// Compares a file with the record of an earlier run and the server's offer.
    func compared(
        _ file: StandingFacts, _ known: FinishedFacts, _ offer: Offer
    ) -> Step {
        let decision = FinishedDecision(
            known, size: file.size, offered: offer.identity, fullURL: offer.fullURL,
            url: offer.url, otherURLs: job.urls.map(\.text))
        var isSampled = false
        if case .doubtful(let doubt) = decision {
            // A `HEAD` is only a hint: some servers omit the validators in its response.
            guard offer.isProven else { return .prove }
            if doubt == .remote(.noValidator), known.header.isFor(fullURL: offer.fullURL),
                let step = comparedByDigest(file, offer, otherwise: { exists(file, $0) })
            {
                return step
            }
            let isDateDoubted =
                file.size == known.size && known.header.isFor(fullURL: offer.fullURL)
                && known.header.identity.isDoubted(by: offer.identity)
            guard isDateDoubted else { return exists(file, doubt) }
            guard let isSame = answers.isSampleSame else { return .compareSample }
            guard isSame else { return exists(file, doubt) }
            isSampled = true
        }
        guard let checked = answers.content else { return .checkContent }
        guard let content = checked else { return exists(file, .damaged) }
        return left(file, .alreadyComplete, content, isSampled: isSampled)
    }

    /// Compares a file by its modification time.
    func compared(_ file: StandingFacts, _ offer: Offer) -> Step {
        let decision = TimestampDecision(
            size: file.size, time: file.modified,
            known: file.header(for: offer.fullURL, offer.url)?.identity, offered: offer.identity,
            modified: offer.modified)
        guard decision == .fetch else { return left(file, .notNewer) }
        guard (offer.identity.size ?? file.size) == file.size else { return .fetch }
        if answers.isUnmodified == true { return left(file, .notNewer) }
        // No second request is allowed, so that the offer alone decides.
        guard !job.options.singleRequest else { return .fetch }
        // Ask again before the file is replaced.
        guard let isUnmodified = answers.isStillUnmodified else { return .askIfModified }
        return isUnmodified ? left(file, .notNewer) : .fetch
    }

    /// Compares a file of unknown origin, which is never replaced.
    ///
    /// The file counts if a digest that the server states matches. Without such a digest, its
    /// length, its modification time and a sample must match the remote file.
    func compared(
        unmarked file: StandingFacts, _ doubt: FinishedDoubt?, _ offer: Offer
    ) -> Step {
        guard let remote = offer.identity.size else { return exists(file, doubt ?? .unmarked) }
        if job.options.continuesExisting {
            let decision = job.continuing(file.size, controlledSize: file.controlledSize, offer)
            // A `HEAD` is only a hint: some servers state a digest only with the bytes.
            if decision == .adopt || decision == .replace, !offer.isProven { return .prove }
            if decision == .adopt { return .adopt }
        }
        guard remote == file.size else {
            return exists(file, doubt ?? .otherSize(file.size, remote: remote))
        }
        if let doubt { return exists(file, doubt) }
        guard offer.isProven else { return .prove }
        if let step = comparedByDigest(file, offer, otherwise: { exists(file, $0) }) { return step }
        guard offer.servesRanges, file.controlledSize == nil, offer.identity.lastModifiedIsStrong,
            offer.modified == file.modified
        else { return exists(file, .unmarked) }
        guard let isSame = answers.isSampleSame else { return .compareSample }
        guard isSame else { return exists(file, .notTheServers) }
        return left(file, .alreadyComplete, isSampled: true, isDated: true)
    }

    /// Returns the step that fails because the destination exists.
    func exists(_ file: StandingFacts, _ doubt: FinishedDoubt? = nil) -> Step {
        .refuse(.assembly(.destinationExists(path: file.path)), because: doubt)
    }

    /// Returns the step that keeps the file and ends.
    func left(
        _ file: StandingFacts, _ why: DownloadedFile.Unchanged, _ content: Content? = nil,
        isSampled: Bool = false, isDated: Bool = false
    ) -> Step {
        .leave(
            Left(
                path: file.path, size: file.size, why: why, crc32: content?.crc32,
                verified: content?.digests ?? [], isSampled: isSampled, isDated: isDated))
    }
}

// The steps of a preparation, their results, and the files that it keeps unchanged.
extension Preparation {
    /// One step of a preparation.
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

extension Preparation.StandingFacts {
    /// Returns the record of an earlier run, if it is for this URL and for a file of this size.
    func header(for fullURL: String, _ url: String) -> Manifest.Header? {
        guard let known, known.size == size,
            known.header.isFor(fullURL: fullURL)
                || (known.header.url == url && known.header.identity.strongETag != nil)
        else { return nil }
        return known.header
    }
}
