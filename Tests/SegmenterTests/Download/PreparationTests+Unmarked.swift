import Assembler

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

// Rows about a file without marks of an earlier run: it counts only if verified, and is never
// replaced.
extension PreparationTests {
    private static let continued = job { $0.continuesExisting = true }
    private static let continuedChecked = job {
        ($0.continuesExisting, $0.checksum) = (true, digest)
    }
    /// Returns the offer of a file with a modification time; its date is a strong validator if
    /// there is one.
    private static func dated(_ modified: Int64, date: String? = dates.0, isProven: Bool = true)
        -> Preparation.Offer
    {
        offer(date: date, modified: modified, isProven: isProven)
    }
    private static let sameTime: Int64 = 1_000_000_100
    private static func afterProbe(_ steps: Step...) -> [Step] {
        [.finish, .survey, .probe, .makeFolder] + steps
    }
    private static let datedWithoutRanges: Preparation.Offer = {
        var offer = dated(sameTime)
        offer.servesRanges = false
        return offer
    }()

    static let unmarked = [
        Row(
            name: "unmarked, and nothing can be compared", sight: .file(file(), nil),
            steps: afterProbe(exists(.unmarked))),
        Row(
            name: "unmarked, with a single request", job: job { $0.singleRequest = true },
            sight: .file(file(), nil), steps: [.finish, .survey, exists()]),
        Row(
            name: "unmarked, and of another size according to HEAD",
            sight: .file(file(size: 8), nil),
            offers: [offer(isProven: false)], steps: afterProbe(exists(.otherSize(8, remote: 9)))),
        Row(
            name: "unmarked, and the server states no size", sight: .file(file(), nil),
            offers: [offer(size: nil)], steps: afterProbe(exists(.unmarked))),
        Row(
            name: "unmarked, and the server states its digest", sight: .file(file(), nil),
            offers: [stating(crc, digest)], content: content(digest),
            steps: afterProbe(.compareDigest(digest), left(.alreadyComplete, crc32: 1, [digest]))),
        Row(
            name: "unmarked, and the server states another digest", sight: .file(file(), nil),
            offers: [stating(digest)], content: content(other),
            steps: afterProbe(.compareDigest(digest), exists(doubt))),
        Row(
            name: "unmarked, with the server's size and time, and a sample matches",
            sight: .file(file(), nil),
            offers: [dated(sameTime, isProven: false), dated(sameTime)],
            steps: afterProbe(
                .prove, .compareSample, left(.alreadyComplete, isSampled: true, isDated: true))),
        Row(
            name: "unmarked, and a sample differs", sight: .file(file(), nil),
            offers: [dated(sameTime)], isSampleSame: false,
            steps: afterProbe(.compareSample, exists(.notTheServers))),
        Row(
            name: "unmarked, and of another time", sight: .file(file(), nil),
            offers: [dated(sameTime + 1)], steps: afterProbe(exists(.unmarked))),
        Row(
            name: "unmarked, and the date is not strong", sight: .file(file(), nil),
            offers: [dated(sameTime, date: nil)], steps: afterProbe(exists(.unmarked))),
        Row(
            name: "unmarked, and the server serves no ranges", sight: .file(file(), nil),
            offers: [datedWithoutRanges], steps: afterProbe(exists(.unmarked))),
        Row(
            name: "unmarked, and aria2 has not completed it", sight: .file(controlled(9), nil),
            offers: [dated(sameTime)], steps: afterProbe(exists(.unmarked))),
        Row(
            name: "unmarked and shorter, to be continued, with a checksum",
            job: continuedChecked, sight: .file(file(size: 5), content(other)),
            offers: [offer(isProven: false), offer()],
            steps: afterProbe(.prove, .adopt, .fetch), mayReplace: true),
        Row(
            name: "unmarked and shorter, to be continued, and the server states a digest",
            job: continued, sight: .file(file(size: 5), nil), offers: [stating(digest)],
            steps: afterProbe(.adopt, .fetch), mayReplace: true),
        Row(
            name: "unmarked and shorter, to be continued, without a checksum", job: continued,
            sight: .file(file(size: 5), nil), steps: afterProbe(exists(.otherSize(5, remote: 9)))),
        Row(
            name: "unmarked and longer, to be continued", job: continuedChecked,
            sight: .file(file(size: 10), content(other)), steps: afterProbe(exists(doubt))),
        Row(
            name: "unmarked and whole, to be continued, with another checksum",
            job: continuedChecked, sight: .file(file(), content(other)),
            steps: afterProbe(exists(doubt))),
        Row(
            name: "with a control file, to be continued, with a checksum", job: continuedChecked,
            sight: .file(controlled(9), content(other)), steps: afterProbe(.adopt, .fetch),
            mayReplace: true),
        Row(
            name: "marked and shorter, to be continued", job: continued,
            sight: .file(file("\"1\"", size: 8), nil),
            steps: afterProbe(exists(.resized(was: 9, now: 8)))),
    ]
}
