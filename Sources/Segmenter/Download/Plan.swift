import Assembler

/// Decides the next step for one file, until its bytes are downloaded.
///
/// The decisions depend on the caller's request, the existing file at the destination, and the
/// server's offer. A run carries out each step; a preview follows the same steps and shows the
/// result. The runner reports the result of each step with one of the `take` methods.
///
/// Pure: no I/O and no clock.
struct Plan: Sendable {
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

    /// Creates the plan of one download.
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
