import Assembler

@testable import Segmenter

// Where a file that segget has not brought may count.
extension PlanTests {
    static let continuing = job { $0.takesOver = .begun }
    static let continuingChecked = job { ($0.takesOver, $0.checksum) = (.begun, digest) }
    /// aria2's, with its control file.
    static func controlled(_ size: Int64) -> Plan.StandingFacts {
        var facts = file(size: size)
        facts.controlledSize = 9
        return facts
    }

    static let crc = Digest(crc32: 1)
    /// What an earlier run brought from a server that does not state versions.
    static let unversioned: Plan.StandingFacts = {
        var facts = file()
        let header = Manifest.Header(
            identity: version(nil), url: url, fullURL: url, generation: 1)
        facts.known = FinishedFacts(header: header, size: 9, digests: [digest], extents: [])
        return facts
    }()
    /// A server that states digests of the whole file.
    static func stating(_ digests: Digest...) -> Plan.Offer {
        var offer = Self.offer()
        offer.digests = digests
        return offer
    }
    static let withoutRanges: Plan.Offer = {
        var offer = Self.offer()
        offer.servesRanges = false
        return offer
    }()

    static let takeOvers = [
        Row(
            name: "a sample of it is the same", job: continuing, sight: .file(file(), nil),
            steps: [
                .finish, .survey, .probe, .makeFolder, .compareSample,
                left(.alreadyComplete, isSampled: true),
            ]),
        Row(
            name: "a sample of it is not, which a HEAD does not decide", job: continuing,
            sight: .file(file(), nil), offers: [offer(isProven: false), offer()],
            isSampleSame: false,
            steps: [
                .finish, .survey, .probe, .makeFolder, .prove, .compareSample,
                .replace(.otherBytes), .fetch,
            ], mayReplace: true),
        Row(
            name: "it has another checksum", job: continuingChecked,
            sight: .file(file(), content(other)),
            steps: [.finish, .survey, .probe, .makeFolder, .replace(doubt), .fetch],
            mayReplace: true),
        Row(
            name: "it has the right checksum", job: continuingChecked,
            sight: .file(file(), content(digest)),
            steps: [.finish, .survey, left(.alreadyComplete, crc32: 1, [digest])]),
        Row(
            name: "an earlier run has brought it", job: continuing,
            sight: .file(file("\"1\""), nil),
            steps: [
                .finish, .survey, .probe, .makeFolder, .checkContent,
                left(.alreadyComplete, crc32: 1),
            ]),
        Row(
            name: "an earlier run has brought another version", job: continuing,
            sight: .file(file("\"1\""), nil), offers: [offer("\"2\"")],
            steps: [.finish, .survey, .probe, .makeFolder, .replace(changed), .fetch],
            mayReplace: true),
        Row(
            name: "an earlier run has brought it, and no version is stated", job: continuing,
            sight: .file(unversioned, nil), offers: [offer(nil)],
            steps: [
                .finish, .survey, .probe, .makeFolder, .checkContent, .compareSample,
                left(.alreadyComplete, isSampled: true),
            ]),
        Row(
            name: "it is damaged since an earlier run, and no version is stated", job: continuing,
            sight: .file(unversioned, nil), offers: [offer(nil)], content: nil,
            steps: [
                .finish, .survey, .probe, .makeFolder, .checkContent, .replace(.damaged), .fetch,
            ], mayReplace: true),
        Row(
            name: "the server states its digest", job: continuing, sight: .file(file(), nil),
            offers: [stating(crc, digest)], content: content(digest),
            steps: [
                .finish, .survey, .probe, .makeFolder, .compareDigest(digest),
                left(.alreadyComplete, crc32: 1, [digest]),
            ]),
        Row(
            name: "the server states another digest", job: continuing, sight: .file(file(), nil),
            offers: [stating(digest)], content: content(other),
            steps: [
                .finish, .survey, .probe, .makeFolder, .compareDigest(digest), .replace(doubt),
                .fetch,
            ], mayReplace: true),
        Row(
            name: "the server serves no ranges", job: continuing, sight: .file(file(), nil),
            offers: [withoutRanges],
            steps: [.finish, .survey, .probe, .makeFolder, .replace(.unproven), .fetch],
            mayReplace: true),
        Row(
            name: "it is shorter, and a digest decides", job: continuingChecked,
            sight: .file(file(size: 5), content(other)),
            steps: [.finish, .survey, .probe, .makeFolder, .adopt, .fetch], mayReplace: true),
        Row(
            name: "it is shorter, and nothing decides", job: continuing,
            sight: .file(file(size: 5), nil),
            steps: [.finish, .survey, .probe, .makeFolder, .replace(.unproven), .fetch],
            mayReplace: true),
        Row(
            name: "it is longer", job: continuing, sight: .file(file(size: 10), nil),
            steps: [.finish, .survey, .probe, .makeFolder, exists()]),
        Row(
            name: "it is longer, and may be replaced",
            job: job { ($0.takesOver, $0.overwrite) = (.begun, true) },
            sight: .file(file(size: 10), nil),
            steps: [.finish, .survey, .probe, .makeFolder, .replace(nil), .fetch],
            mayReplace: true),
        Row(
            name: "it is aria2's", job: job { ($0.takesOver, $0.checksum) = (.controlled, digest) },
            sight: .file(controlled(9), content(other)),
            steps: [.finish, .survey, .probe, .makeFolder, .adopt, .fetch], mayReplace: true),
        Row(
            name: "only aria2's counts", job: job { $0.takesOver = .controlled },
            sight: .file(file(), nil), steps: [.finish, .survey, exists()]),
    ]
}
