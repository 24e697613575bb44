import Assembler

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

// Rows about a file that segget has not downloaded and that may count.
extension PreparationTests {
    static let continuing = job { $0.takesOver = .begun }
    static let continuingChecked = job { ($0.takesOver, $0.checksum) = (.begun, digest) }
    /// Returns a file of aria2 that has a control file.
    static func controlled(_ size: Int64) -> Preparation.StandingFacts {
        var facts = file(size: size)
        facts.controlledSize = 9
        return facts
    }

    static let crc = Digest(crc32: 1)
    /// A file that an earlier run downloaded from a server without validators.
    static let unversioned: Preparation.StandingFacts = {
        var facts = file()
        let header = Manifest.Header(
            identity: version(nil), url: url, fullURL: url, generation: 1)
        facts.known = FinishedFacts(header: header, size: 9, digests: [digest], extents: [])
        return facts
    }()
    /// Returns the offer of a server that states digests of the whole file.
    static func stating(_ digests: Digest...) -> Preparation.Offer {
        var offer = Self.offer()
        offer.digests = digests
        return offer
    }
    static let withoutRanges: Preparation.Offer = {
        var offer = Self.offer()
        offer.servesRanges = false
        return offer
    }()

    static let takeOvers = [
        Row(
            name: "a sample matches", job: continuing, sight: .file(file(), nil),
            steps: [
                .finish, .survey, .probe, .makeFolder, .compareSample,
                left(.alreadyComplete, isSampled: true),
            ]),
        Row(
            name: "a sample differs, after HEAD alone was not enough", job: continuing,
            sight: .file(file(), nil), offers: [offer(isProven: false), offer()],
            isSampleSame: false,
            steps: [
                .finish, .survey, .probe, .makeFolder, .prove, .compareSample,
                .replace(.otherBytes), .fetch,
            ], mayReplace: true),
        Row(
            name: "the file has another checksum", job: continuingChecked,
            sight: .file(file(), content(other)),
            steps: [.finish, .survey, .probe, .makeFolder, .replace(doubt), .fetch],
            mayReplace: true),
        Row(
            name: "the file has the checksum", job: continuingChecked,
            sight: .file(file(), content(digest)),
            steps: [.finish, .survey, left(.alreadyComplete, crc32: 1, [digest])]),
        Row(
            name: "an earlier run downloaded the file", job: continuing,
            sight: .file(file("\"1\""), nil),
            steps: [
                .finish, .survey, .probe, .makeFolder, .checkContent,
                left(.alreadyComplete, crc32: 1),
            ]),
        Row(
            name: "an earlier run downloaded another version", job: continuing,
            sight: .file(file("\"1\""), nil), offers: [offer("\"2\"")],
            steps: [.finish, .survey, .probe, .makeFolder, .replace(changed), .fetch],
            mayReplace: true),
        Row(
            name: "an earlier run downloaded the file, without validators", job: continuing,
            sight: .file(unversioned, nil), offers: [offer(nil)],
            steps: [
                .finish, .survey, .probe, .makeFolder, .checkContent, .compareSample,
                left(.alreadyComplete, isSampled: true),
            ]),
        Row(
            name: "the file of an earlier run is damaged, without validators", job: continuing,
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
            name: "the file is shorter, with a checksum", job: continuingChecked,
            sight: .file(file(size: 5), content(other)),
            steps: [.finish, .survey, .probe, .makeFolder, .adopt, .fetch], mayReplace: true),
        Row(
            name: "the file is shorter, without a checksum", job: continuing,
            sight: .file(file(size: 5), nil),
            steps: [.finish, .survey, .probe, .makeFolder, .replace(.unproven), .fetch],
            mayReplace: true),
        Row(
            name: "the file is longer", job: continuing, sight: .file(file(size: 10), nil),
            steps: [.finish, .survey, .probe, .makeFolder, exists()]),
        Row(
            name: "the file is longer, with overwrite",
            job: job { ($0.takesOver, $0.overwrite) = (.begun, true) },
            sight: .file(file(size: 10), nil),
            steps: [.finish, .survey, .probe, .makeFolder, .replace(nil), .fetch],
            mayReplace: true),
        Row(
            name: "the file has aria2's control file",
            job: job { ($0.takesOver, $0.checksum) = (.controlled, digest) },
            sight: .file(controlled(9), content(other)),
            steps: [.finish, .survey, .probe, .makeFolder, .adopt, .fetch], mayReplace: true),
        Row(
            name: "only files with a control file count", job: job { $0.takesOver = .controlled },
            sight: .file(file(), nil), steps: [.finish, .survey, exists()]),
    ]
}
