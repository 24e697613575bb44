import Assembler
import Testing

@testable import Segmenter

/// What is to be done about a file: what was asked × what stands there × what the server offers.
@Suite struct PlanTests {
    typealias Step = Plan.Step

    static let url = "http://a/f"
    static let digest = Digest(crc32: 1)
    static let other = Digest(crc32: 2)

    /// A file as it is asked for, at a path unless the options or the destination say otherwise.
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
    ) -> Plan.Offer {
        var identity = version(tag, date: date)
        identity.size = size
        return Plan.Offer(
            identity: identity, modified: modified, isProven: isProven, isWhole: isWhole,
            fullURL: url, url: url)
    }

    /// A file of 9 bytes, changed at 100, with what an earlier run wrote down about it.
    static func file(_ tag: String? = nil, date: String? = nil, size: Int64 = 9)
        -> Plan.StandingFacts
    {
        var known: FinishedFacts?
        if tag != nil {
            let header = Manifest.Header(
                identity: version(tag, date: date), url: url, fullURL: url, generation: 1)
            known = FinishedFacts(header: header, size: 9, digests: [digest], extents: [])
        }
        return Plan.StandingFacts(path: "f", size: size, modified: 1_000_000_100, known: known)
    }

    /// A situation, and the way that is gone in it.
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var job = PlanTests.job()
        var isListed = false
        var sight = Plan.Sight.nothing
        var missingFolder: String?
        /// What the server offers when it is asked, and asked again.
        var offers = [PlanTests.offer()]
        /// What it says when it is asked whether the file was modified, and asked again.
        var isUnmodified: [Bool] = []
        var isSampleSame = true
        var content: Plan.Content? = Plan.Content(digests: [], crc32: 1)
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
            Plan.Left(
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
    /// The same tag with two dates.
    static let dates = ("Sun, 06 Nov 1994 08:49:37 GMT", "Mon, 07 Nov 1994 08:49:37 GMT")
    static func content(_ digest: Digest) -> Plan.Content {
        Plan.Content(digests: [digest], crc32: 1)
    }

    /// Where nothing stands.
    static let beginnings = [
        Row(
            name: "a name that is given is looked at before anything is asked",
            steps: [.finish, .survey, .probe, .makeFolder, .fetch]),
        Row(
            name: "what a killed run had completed is not wanted", job: job { $0.resume = false },
            steps: [.survey, .probe, .makeFolder, .fetch]),
        Row(
            name: "a name that is suggested is looked at later", job: inFolder,
            steps: [.probe, .makeFolder, .chooseName, .finish, .survey, .fetch]),
        Row(
            name: "so is one that may get a number", job: job { $0.naming.numbersTaken = true },
            steps: [.probe, .makeFolder, .chooseName, .finish, .survey, .fetch]),
        Row(
            name: "in a missing folder a name need not be chosen", job: inFolder,
            missingFolder: ".", steps: [.probe, .makeFolder, .finish, .survey, .fetch]),
        Row(
            name: "but by a list", job: inFolder, isListed: true, missingFolder: ".",
            steps: [.probe, .makeFolder, .chooseName, .finish, .survey, .fetch]),
        Row(
            name: "a stream has no name", job: job(to: .descriptor(1)), steps: [.probe, .fetch]),
        Row(
            name: "a list's small file comes in one reply", job: inFolder, isListed: true,
            offers: [offer(isWhole: true)],
            steps: [.probe, .publishWhole, .makeFolder, .chooseName, .finish, .survey, .fetch]),
        Row(
            name: "a small file of none does not", offers: [offer(isWhole: true)],
            steps: [.finish, .survey, .probe, .makeFolder, .fetch]),
    ]

    /// Where a file stands.
    static let standing = [
        Row(
            name: "it has the checksum", job: checked, sight: .file(file(), content(digest)),
            steps: [.finish, .survey, left(.alreadyComplete, crc32: 1, [digest])]),
        Row(
            name: "it has another", job: checked, sight: .file(file(), content(other)),
            steps: [.finish, .survey, exists(doubt)]),
        Row(
            name: "it cannot be read", job: checked, sight: .file(file(), nil),
            steps: [.finish, .survey, exists()]),
        Row(
            name: "it has another, and may be replaced",
            job: job {
                $0.checksum = digest
                $0.files.timestamping = true
            }, sight: .file(file(), content(other)),
            steps: [.finish, .survey, .probe, .makeFolder, .fetch], mayReplace: true),
        Row(
            name: "it is the server's", sight: .file(file("\"1\""), nil),
            steps: [
                .finish, .survey, .probe, .makeFolder, .checkContent,
                left(.alreadyComplete, crc32: 1),
            ]),
        Row(
            name: "it is the server's, in a folder", job: inFolder,
            sight: .file(file("\"1\""), nil),
            steps: [
                .probe, .makeFolder, .chooseName, .finish, .survey, .checkContent,
                left(.alreadyComplete, crc32: 1),
            ]),
        Row(
            name: "it is damaged", sight: .file(file("\"1\""), nil), content: nil,
            steps: [.finish, .survey, .probe, .makeFolder, .checkContent, exists(.damaged)]),
        Row(
            name: "the server has another", sight: .file(file("\"1\""), nil),
            offers: [offer("\"2\"")],
            steps: [.finish, .survey, .probe, .makeFolder, exists(changed)]),
        Row(
            name: "HEAD says that it has another, and GET does not",
            sight: .file(file("\"1\""), nil), offers: [offer("\"2\"", isProven: false), offer()],
            steps: [
                .finish, .survey, .probe, .makeFolder, .prove, .checkContent,
                left(.alreadyComplete, crc32: 1),
            ]),
        Row(
            name: "HEAD says that it has another, and so does GET",
            sight: .file(file("\"1\""), nil),
            offers: [offer("\"2\"", isProven: false), offer("\"2\"")],
            steps: [.finish, .survey, .probe, .makeFolder, .prove, exists(changed)]),
        Row(
            name: "it has another size than was written down",
            sight: .file(file("\"1\"", size: 8), nil),
            steps: [
                .finish, .survey, .probe, .makeFolder, exists(.resized(was: 9, now: 8)),
            ]),
        Row(
            name: "only the date differs, and a sample does not",
            sight: .file(file("\"1\"", date: dates.0), nil), offers: [offer(date: dates.1)],
            steps: [
                .finish, .survey, .probe, .makeFolder, .compareSample, .checkContent,
                left(.alreadyComplete, crc32: 1, isSampled: true),
            ]),
        Row(
            name: "the date differs, and so does a sample",
            sight: .file(file("\"1\"", date: dates.0), nil), offers: [offer(date: dates.1)],
            isSampleSame: false,
            steps: [
                .finish, .survey, .probe, .makeFolder, .compareSample,
                exists(.remote(.lastModifiedChanged(was: dates.0, now: dates.1))),
            ]),
    ]

    /// What an earlier run brought from a server that states no tag.
    static let untagged: Plan.StandingFacts = {
        var facts = file()
        let header = Manifest.Header(
            identity: version(nil, date: dates.0), url: url, fullURL: url, generation: 1)
        facts.known = FinishedFacts(header: header, size: 9, digests: [digest], extents: [])
        return facts
    }()

    /// Where a file is compared by its time.
    static let timestamps = [
        Row(
            name: "not modified since it was downloaded", job: timed,
            sight: .file(file("\"1\""), nil), isUnmodified: [true],
            steps: [.finish, .survey, .askIfModified, left(.notNewer)], mayReplace: true),
        Row(
            name: "not modified by its date alone, and of another size", job: timed,
            sight: .file(untagged, nil), offers: [offer(size: 8)], isUnmodified: [true],
            steps: [.finish, .survey, .askIfModified, .probe, .makeFolder, .fetch],
            mayReplace: true),
        Row(
            name: "not modified, but perhaps of another size", job: timed,
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
            name: "newer, but for the last word", job: timed, sight: .file(file(), nil),
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

    /// Where a file is repaired.
    static let repairs = [
        Row(
            name: "nothing says what it should be", job: repair,
            sight: .noManifest(isFileThere: true),
            steps: [
                .finish, .survey, .refuse(.unrepairable(.noManifest(isFileThere: true))),
            ]),
        Row(
            name: "it was begun", job: repair, sight: .begun(required: [digest]),
            steps: [.finish, .survey, .probe, .makeFolder, .fetch], required: [digest]),
        Row(
            name: "it is damaged", job: repair, sight: .damaged(had: [digest]),
            steps: [.finish, .survey, .probe, .makeFolder, .prepareRepair, .fetch],
            required: [digest]),
        Row(
            name: "it is intact", job: repair, sight: .intact(file("\"1\""), content(digest)),
            steps: [.finish, .survey, left(.alreadyComplete, crc32: 1)]),
        Row(
            name: "it is intact, but has not the checksum",
            job: job(isRepair: true) { $0.checksum = digest },
            sight: .intact(file("\"1\""), content(other)),
            steps: [
                .finish, .survey,
                .refuse(.unrepairable(.otherDigest(expected: digest, actual: other))),
            ]),
    ]

    @Test(
        arguments: beginnings + standing + timestamps + repairs + adoptions + takeOvers + unmarked)
    func theWay(_ row: Row) {
        var plan = Plan(row.job, isListed: row.isListed)
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

    @Test func whatIsReplacedIsToldOnce() {
        var options = DownloadOptions()
        options.checksum = Self.digest
        options.files.timestamping = true
        var plan = Plan(Self.job { $0 = options })
        #expect(plan.take(.file(Self.file(), Self.content(Self.other))) == Self.doubt)
    }
}
