import Assembler
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests the plan for a file: the options × the file at the destination × the server's offer.
@Suite struct PreparationTests {
    typealias Step = Preparation.Step

    static let url = "http://a/f"
    static let digest = Digest(crc32: 1)
    static let other = Digest(crc32: 2)

    /// Returns a job, with a path as its destination by default.
    static func job(
        to destination: Destination = .file("f"), isRepair: Bool = false,
        _ change: (inout DownloadOptions) -> Void = { _ in }
    ) -> DownloadJob {
        var options = DownloadOptions()
        change(&options)
        return DownloadJob(
            urlText: url, url: WebURL(url), destination: destination, options: options,
            isRepair: isRepair)
    }

    static func version(_ tag: String?, date: String? = nil) -> RemoteIdentity {
        RemoteIdentity(size: 9, etag: tag, lastModified: date, lastModifiedIsStrong: date != nil)
    }

    static func offer(
        _ tag: String? = "\"1\"", date: String? = nil, size: Int64? = 9, modified: Int64? = nil,
        isProven: Bool = true, isWhole: Bool = false
    ) -> Preparation.Offer {
        var identity = version(tag, date: date)
        identity.size = size
        return Preparation.Offer(
            identity: identity, modified: modified, isProven: isProven, isWhole: isWhole,
            fullURL: url, url: url)
    }

    /// Returns a file of 9 bytes by default, modified at 1,000,000,100, with the record of an
    /// earlier run if there is a tag.
    static func file(_ tag: String? = nil, date: String? = nil, size: Int64 = 9)
        -> Preparation.StandingFacts
    {
        var known: FinishedFacts?
        if tag != nil {
            let header = Manifest.Header(
                identity: version(tag, date: date), url: url, fullURL: url, generation: 1)
            known = FinishedFacts(header: header, size: 9, digests: [digest], extents: [])
        }
        return Preparation.StandingFacts(
            path: "f", size: size, modified: 1_000_000_100, known: known)
    }

    /// A row of the table: a situation, and the expected steps.
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var job = PreparationTests.job()
        var isListed = false
        var sight = Preparation.Sight.nothing
        var missingFolder: String?
        /// The server's offers to the first and later requests.
        var offers = [PreparationTests.offer()]
        /// The server's answers to conditional requests.
        var isUnmodified: [Bool] = []
        var isSampleSame = true
        var content: Preparation.Content? = Preparation.Content(digests: [], crc32: 1)
        var steps: [Step]
        var mayReplace = false
        var required: [Digest] = []

        var testDescription: String { name }
    }

    static func left(
        _ why: DownloadedFile.Unchanged, crc32: UInt32? = nil, _ verified: [Digest] = [],
        isSampled: Bool = false, isDated: Bool = false
    ) -> Step {
        .leave(
            Preparation.Left(
                path: "f", size: 9, why: why, crc32: crc32, verified: verified,
                isSampled: isSampled, isDated: isDated))
    }
    static func exists(_ doubt: FinishedDoubt? = nil) -> Step {
        .refuse(.assembly(.destinationExists(path: "f")), because: doubt)
    }
    static let inFolder = job(to: .folder("d"))
    static let checked = job { $0.checksum = digest }
    static let timed = job { $0.files.timestamping = true }
    static let repair = job(isRepair: true)
    static let doubt = FinishedDoubt.otherDigest(expected: digest, actual: other)
    static let changed = FinishedDoubt.remote(.etagChanged(was: "\"1\"", now: "\"2\""))
    /// Two dates for the same tag.
    static let dates = ("Sun, 06 Nov 1994 08:49:37 GMT", "Mon, 07 Nov 1994 08:49:37 GMT")
    static func content(_ digest: Digest) -> Preparation.Content {
        Preparation.Content(digests: [digest], crc32: 1)
    }

    /// Rows about a destination without a file.
    static let beginnings = [
        Row(
            name: "a given name is checked before the probe",
            steps: [.finish, .survey, .probe, .makeFolder, .fetch]),
        Row(
            name: "without resuming, nothing of a killed run is finished",
            job: job { $0.resume = false },
            steps: [.survey, .probe, .makeFolder, .fetch]),
        Row(
            name: "a suggested name is checked after the probe", job: inFolder,
            steps: [.probe, .makeFolder, .chooseName, .finish, .survey, .fetch]),
        Row(
            name: "a name that may get a number is checked after the probe",
            job: job { $0.naming.numbersTaken = true },
            steps: [.probe, .makeFolder, .chooseName, .finish, .survey, .fetch]),
        Row(
            name: "no name is chosen in a missing folder", job: inFolder,
            missingFolder: ".", steps: [.probe, .makeFolder, .finish, .survey, .fetch]),
        Row(
            name: "a list chooses a name even in a missing folder", job: inFolder, isListed: true,
            missingFolder: ".",
            steps: [.probe, .makeFolder, .chooseName, .finish, .survey, .fetch]),
        Row(
            name: "a stream has no name", job: job(to: .descriptor(1)), steps: [.probe, .fetch]),
        Row(
            name: "a list's small file is published from one response", job: inFolder,
            isListed: true,
            offers: [offer(isWhole: true)],
            steps: [.probe, .publishWhole, .makeFolder, .chooseName, .finish, .survey, .fetch]),
        Row(
            name: "a small file without a list is not", offers: [offer(isWhole: true)],
            steps: [.finish, .survey, .probe, .makeFolder, .fetch]),
    ]

    /// Rows about a file at the destination.
    static let standing = [
        Row(
            name: "the file has the checksum", job: checked, sight: .file(file(), content(digest)),
            steps: [.finish, .survey, left(.alreadyComplete, crc32: 1, [digest])]),
        Row(
            name: "the file has another checksum", job: checked,
            sight: .file(file(), content(other)),
            steps: [.finish, .survey, exists(doubt)]),
        Row(
            name: "the file cannot be read", job: checked, sight: .file(file(), nil),
            steps: [.finish, .survey, exists()]),
        Row(
            name: "the file has another checksum, and may be replaced",
            job: job {
                $0.checksum = digest
                $0.files.timestamping = true
            }, sight: .file(file(), content(other)),
            steps: [.finish, .survey, .probe, .makeFolder, .fetch], mayReplace: true),
        Row(
            name: "the file is the server's", sight: .file(file("\"1\""), nil),
            steps: [
                .finish, .survey, .probe, .makeFolder, .checkContent,
                left(.alreadyComplete, crc32: 1),
            ]),
        Row(
            name: "the file is the server's, in a folder", job: inFolder,
            sight: .file(file("\"1\""), nil),
            steps: [
                .probe, .makeFolder, .chooseName, .finish, .survey, .checkContent,
                left(.alreadyComplete, crc32: 1),
            ]),
        Row(
            name: "the file is damaged", sight: .file(file("\"1\""), nil), content: nil,
            steps: [.finish, .survey, .probe, .makeFolder, .checkContent, exists(.damaged)]),
        Row(
            name: "the server has another version", sight: .file(file("\"1\""), nil),
            offers: [offer("\"2\"")],
            steps: [.finish, .survey, .probe, .makeFolder, exists(changed)]),
        Row(
            name: "HEAD states another version, and GET does not",
            sight: .file(file("\"1\""), nil), offers: [offer("\"2\"", isProven: false), offer()],
            steps: [
                .finish, .survey, .probe, .makeFolder, .prove, .checkContent,
                left(.alreadyComplete, crc32: 1),
            ]),
        Row(
            name: "HEAD and GET state another version",
            sight: .file(file("\"1\""), nil),
            offers: [offer("\"2\"", isProven: false), offer("\"2\"")],
            steps: [.finish, .survey, .probe, .makeFolder, .prove, exists(changed)]),
        Row(
            name: "the size differs from the recorded one",
            sight: .file(file("\"1\"", size: 8), nil),
            steps: [
                .finish, .survey, .probe, .makeFolder, exists(.resized(was: 9, now: 8)),
            ]),
        Row(
            name: "the date differs, and a sample matches",
            sight: .file(file("\"1\"", date: dates.0), nil), offers: [offer(date: dates.1)],
            steps: [
                .finish, .survey, .probe, .makeFolder, .compareSample, .checkContent,
                left(.alreadyComplete, crc32: 1, isSampled: true),
            ]),
        Row(
            name: "the date and a sample differ",
            sight: .file(file("\"1\"", date: dates.0), nil), offers: [offer(date: dates.1)],
            isSampleSame: false,
            steps: [
                .finish, .survey, .probe, .makeFolder, .compareSample,
                exists(.remote(.lastModifiedChanged(was: dates.0, now: dates.1))),
            ]),
    ]

    /// A file that an earlier run downloaded from a server without entity tags.
    static let untagged: Preparation.StandingFacts = {
        var facts = file()
        let header = Manifest.Header(
            identity: version(nil, date: dates.0), url: url, fullURL: url, generation: 1)
        facts.known = FinishedFacts(header: header, size: 9, digests: [digest], extents: [])
        return facts
    }()

    /// Rows about timestamping.
    static let timestamps = [
        Row(
            name: "not modified since it was downloaded", job: timed,
            sight: .file(file("\"1\""), nil), isUnmodified: [true],
            steps: [.finish, .survey, .askIfModified, left(.notNewer)], mayReplace: true),
        Row(
            name: "not modified, compared by date, and of another size", job: timed,
            sight: .file(untagged, nil), offers: [offer(size: 8)], isUnmodified: [true],
            steps: [.finish, .survey, .askIfModified, .probe, .makeFolder, .fetch],
            mayReplace: true),
        Row(
            name: "not modified, with a size that must be compared", job: timed,
            sight: .file(file(), nil), offers: [offer(modified: 1_000_000_101)],
            isUnmodified: [true],
            steps: [.finish, .survey, .askIfModified, .probe, .makeFolder, left(.notNewer)],
            mayReplace: true),
        Row(
            name: "not modified, and of another size", job: timed, sight: .file(file(), nil),
            offers: [offer(size: 8)], isUnmodified: [true],
            steps: [.finish, .survey, .askIfModified, .probe, .makeFolder, .fetch],
            mayReplace: true),
        Row(
            name: "older", job: timed, sight: .file(file(), nil),
            offers: [offer(modified: 1_000_000_099)],
            isUnmodified: [false],
            steps: [.finish, .survey, .askIfModified, .probe, .makeFolder, left(.notNewer)],
            mayReplace: true),
        Row(
            name: "newer", job: timed, sight: .file(file(), nil),
            offers: [offer(modified: 1_000_000_101)],
            isUnmodified: [false, false],
            steps: [
                .finish, .survey, .askIfModified, .probe, .makeFolder, .askIfModified, .fetch,
            ], mayReplace: true),
        Row(
            name: "newer, but the last request denies it", job: timed, sight: .file(file(), nil),
            offers: [offer(modified: 101)], isUnmodified: [false, true],
            steps: [
                .finish, .survey, .askIfModified, .probe, .makeFolder, .askIfModified,
                left(.notNewer),
            ], mayReplace: true),
        Row(
            name: "newer, in a folder",
            job: job(to: .folder("d")) { $0.files.timestamping = true },
            sight: .file(file(), nil), offers: [offer(modified: 101)], isUnmodified: [false],
            steps: [
                .probe, .makeFolder, .chooseName, .finish, .survey, .askIfModified, .fetch,
            ], mayReplace: true),
    ]

    /// Rows about repair.
    static let repairs = [
        Row(
            name: "no manifest exists", job: repair,
            sight: .noManifest(isFileThere: true),
            steps: [
                .finish, .survey, .refuse(.unrepairable(.noManifest(isFileThere: true))),
            ]),
        Row(
            name: "only a part exists", job: repair, sight: .begun(required: [digest]),
            steps: [.finish, .survey, .probe, .makeFolder, .fetch], required: [digest]),
        Row(
            name: "the file is damaged", job: repair, sight: .damaged(had: [digest]),
            steps: [.finish, .survey, .probe, .makeFolder, .prepareRepair, .fetch],
            required: [digest]),
        Row(
            name: "the file is intact", job: repair, sight: .intact(file("\"1\""), content(digest)),
            steps: [.finish, .survey, left(.alreadyComplete, crc32: 1)]),
        Row(
            name: "the file is intact, but has another checksum",
            job: job(isRepair: true) { $0.checksum = digest },
            sight: .intact(file("\"1\""), content(other)),
            steps: [
                .finish, .survey,
                .refuse(.unrepairable(.otherDigest(expected: digest, actual: other))),
            ]),
    ]

    @Test(
        arguments: beginnings + standing + timestamps + repairs + adoptions + takeOvers + unmarked)
    func stepsFollowSituation(_ row: Row) {
        var plan = Preparation(row.job, isListed: row.isListed)
        var (offers, answers) = (row.offers[...], row.isUnmodified[...])
        var steps: [Step] = []
        loop: while steps.count < 20 {
            steps.append(plan.next)
            switch plan.next {
            case .finish: plan.takeNothingToFinish()
            case .survey:
                let reported = plan.take(row.sight)
                #expect(reported == nil || row.mayReplace)
            case .askIfModified: plan.take(isUnmodified: answers.popFirst() ?? false)
            case .probe, .prove: offers.popFirst().map { plan.take($0) }
            case .publishWhole: plan.takeDeclined()
            case .makeFolder: plan.take(missingFolderIn: row.missingFolder)
            case .chooseName: plan.takeName()
            case .compareSample: plan.take(isSampleSame: row.isSampleSame)
            case .checkContent: plan.take(row.content)
            case .prepareRepair: plan.takePrepared()
            case .adopt: plan.takeAdopted()
            case .replace: plan.takeReplaced()
            case .compareDigest: plan.take(stated: row.content)
            case .fetch, .leave, .refuse, .seekExisting: break loop
            }
        }
        #expect(steps == row.steps)
        #expect(plan.mayReplace == row.mayReplace)
        #expect(plan.required == row.required)
        #expect(offers.isEmpty || !steps.contains(.probe))
        #expect(answers.isEmpty)
    }

    @Test func reportsReplacementReason() {
        var options = DownloadOptions()
        options.checksum = Self.digest
        options.files.timestamping = true
        var plan = Preparation(Self.job { $0 = options })
        #expect(plan.take(.file(Self.file(), Self.content(Self.other))) == Self.doubt)
    }
}
