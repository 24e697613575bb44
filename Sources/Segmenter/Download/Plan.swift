import Assembler

/// Decides step by step what is to be done about one file until its bytes are fetched: from what was asked,
/// what stands at the destination, and what the server offers.
///
/// A run carries the steps out; a preview goes the same way, and shows where it leads. Knows no
/// file, no server and no clock: whoever does a step says what that has shown.
///
/// Pure.
struct Plan: Sendable {
    /// What stands at the destination, as far as it still matters.
    private enum Standing {
        case nothing
        /// It has not the digest that is expected, and may be replaced.
        case wrong
        /// It is what another program has begun.
        case adopted
        /// An earlier run wrote down which version it is.
        case known(StandingFacts, FinishedFacts)
        /// It is compared by its time.
        case dated(StandingFacts)
        /// It may count for the download, whoever has brought it, and has not the digest that is expected,
        /// if there is one.
        case foreign(StandingFacts, FinishedDoubt?)
        /// Nothing says who has brought it; it stays unless its bytes prove to be the server's.
        case unmarked(StandingFacts, FinishedDoubt?)
        case begun(required: [Digest])
        case damaged(had: [Digest])
    }

    /// What was asked about the file that stands there, and answered.
    struct Answers {
        /// Whether the server said, before anything else was asked, that it was not modified.
        var isUnmodified: Bool?
        /// The last word on that.
        var isStillUnmodified: Bool?
        var isSampleSame: Bool?
        /// What its bytes come to; `nil` inside when they are not what was downloaded.
        var content: Content??
        /// What they come to by the digest that the server has stated; `nil` inside when they cannot be read.
        var stated: Content??
    }

    /// Where the file is to be.
    private enum FolderState {
        case unknown, there
        case missing(parent: String)
    }

    let job: DownloadJob
    /// Whether it is one of a list, which gives its files their names.
    private let isListed: Bool
    /// Whether the file has its final name.
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

    /// Begins with what was asked.
    init(_ job: DownloadJob, isListed: Bool = false) {
        self.job = job
        self.isListed = isListed
        isNamed = job.namesFile
        triedToFinish = !job.options.resume
        isAdopted = job.options.adopt == nil
    }

    // MARK: What is next

    /// What is to be done next.
    var next: Step {
        if let ending { return ending }
        // A name that is certain is looked at before anything is asked.
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
        // In a folder that is missing, all names are free but those of the list.
        if !isNamed, isListed || missingFolder == nil { return .chooseName }
        if let step = look { return step }
        let step = compared(offer)
        guard step == .fetch, !isAdopted else { return step }
        // Nothing is made of another program's file because of a `HEAD` alone.
        return offer.isProven ? .adopt : .prove
    }

    /// What is to be done before it is known what stands there; `nil` once it is.
    private var look: Step? {
        guard standing == nil else { return nil }
        return triedToFinish ? .survey : .finish
    }

    /// Whether a file, or part of one, stands there that is compared with what the server offers.
    var isCompared: Bool {
        switch standing {
        case .known?, .dated?, .foreign?, .unmarked?, .begun?, .damaged?: true
        case .nothing?, .wrong?, .adopted?, nil: false
        }
    }

    /// The file that stands there, where it is compared by its time.
    var dated: StandingFacts? { if case .dated(let file)? = standing { file } else { nil } }

    /// The folder in which the missing one would be made; `nil` when that is there.
    var missingFolder: String? { if case .missing(let parent) = folder { parent } else { nil } }

    /// Digests that the whole file must have again, because it had them when it was downloaded.
    var required: [Digest] {
        switch standing {
        case .begun(let digests)?, .damaged(let digests)?: digests
        case .nothing?, .wrong?, .adopted?, .known?, .dated?, .foreign?, .unmarked?, nil: []
        }
    }

    /// Whether what stands there may be replaced, although that was not asked for.
    var mayReplace: Bool {
        switch standing {
        case .wrong?, .dated?, .adopted?: true
        case .nothing?, .known?, .foreign?, .unmarked?, .begun?, .damaged?, nil: false
        }
    }

    /// Path of another program's file that is to be taken over; `nil` for none.
    var adopts: String? {
        switch standing {
        case .foreign(let file, _)?, .unmarked(let file, _)?: file.path
        default: job.options.adopt
        }
    }

    /// Whether bytes of the file that stands there may never have been written, although it has its length.
    var mayBeUnwritten: Bool {
        switch standing {
        case .foreign(let file, _)?, .unmarked(let file, _)?: file.known == nil
        default: false
        }
    }

    // MARK: What was shown

    /// Takes the file that has the name which the URL suggests, where that may be skipped.
    mutating func take(existing file: StandingFacts?) {
        hasSought = true
        if let file { ending = left(file, .skipped) }
    }

    /// There was nothing to finish.
    mutating func takeNothingToFinish() { triedToFinish = true }

    /// Takes what a look at the destination has shown.
    ///
    /// - Returns: Why what stands there is replaced, to be reported.
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

    /// Takes whether the server says that the file which stands there was not modified.
    mutating func take(isUnmodified: Bool) {
        guard offer == nil else {
            answers.isStillUnmodified = isUnmodified
            return
        }
        answers.isUnmodified = isUnmodified
        guard isUnmodified, case .dated(let file)? = standing, let url = job.url else { return }
        // A tag was compared, and the file has the size that it was downloaded with. A date alone says nothing
        // of an older file of another size.
        if let header = file.header(for: url.text, url.redacted),
            let etag = header.identity.wellFormedETag,
            !RemoteIdentity.isBlank(etag: etag, size: file.size, date: file.modified)
        {
            ending = left(file, .notNewer)
        }
    }

    /// Takes what the server offers, at first or again.
    mutating func take(_ offer: Offer) { self.offer = offer }

    /// One reply has brought all bytes, but the file is to be put together like any other one.
    mutating func takeDeclined() { isDeclined = true }

    /// The folder is there, or it would be made in `parent`.
    mutating func take(missingFolderIn parent: String?) {
        folder = parent.map { .missing(parent: $0) } ?? .there
    }

    /// The file has its final name.
    mutating func takeName() { isNamed = true }

    /// Takes whether a sample of the file that stands there is what the server sends.
    mutating func take(isSampleSame: Bool) { answers.isSampleSame = isSampleSame }

    /// Takes what the bytes of the file come to; `nil` when they are not what was downloaded.
    mutating func take(_ content: Content?) { answers.content = .some(content) }

    /// Takes what the bytes of the file come to by a digest; `nil` when they cannot all be read.
    mutating func take(stated content: Content?) { answers.stated = .some(content) }

    /// The part of what is intact is made.
    mutating func takePrepared() { isPrepared = true }

    /// What another program has begun is taken over, or a later run has nothing left to take over.
    mutating func takeAdopted() {
        isAdopted = true
        switch standing {
        case .foreign?, .unmarked?: standing = .adopted
        default: break
        }
    }

    /// A file that was to be continued cannot be: it stays.
    mutating func takeNotAdopted(_ doubt: FinishedDoubt) {
        guard case .unmarked(let file, _)? = standing else { return takeReplaced() }
        ending = exists(file, doubt)
    }

    /// What stands there is replaced, although it might have counted.
    mutating func takeReplaced() { standing = .wrong }

    // MARK: What follows

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

    /// Compares what stands at the destination with what the server offers.
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
