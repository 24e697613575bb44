import Assembler

@testable import Segmenter

// Where a file stands that no earlier run has marked: it counts by proof only, and is never replaced.
extension PlanTests {
    private static let continued = job { $0.continuesExisting = true }
    private static let continuedChecked = job {
        ($0.continuesExisting, $0.checksum) = (true, digest)
    }
    /// What the server says of a file that was changed at a time; a strong date where one is stated.
    private static func dated(_ modified: Int64, date: String? = dates.0, isProven: Bool = true)
        -> Plan.Offer
    {
        offer(date: date, modified: modified, isProven: isProven)
    }
    private static let sameTime: Int64 = 1_000_000_100
    private static func way(_ steps: Step...) -> [Step] {
        [.finish, .survey, .probe, .makeFolder] + steps
    }
    private static let datedWithoutRanges: Plan.Offer = {
        var offer = dated(sameTime)
        offer.servesRanges = false
        return offer
    }()

    static let unmarked = [
        Row(
            name: "unmarked, and nothing can be compared", sight: .file(file(), nil),
            steps: way(exists(.unmarked))),
        Row(
            name: "unmarked, and each request may count", job: job { $0.singleRequest = true },
            sight: .file(file(), nil), steps: [.finish, .survey, exists()]),
        Row(
            name: "unmarked, and of another size, by a HEAD", sight: .file(file(size: 8), nil),
            offers: [offer(isProven: false)], steps: way(exists(.otherSize(8, remote: 9)))),
        Row(
            name: "unmarked, and the server states no size", sight: .file(file(), nil),
            offers: [offer(size: nil)], steps: way(exists(.unmarked))),
        Row(
            name: "unmarked, and the server states its digest", sight: .file(file(), nil),
            offers: [stating(crc, digest)], content: content(digest),
            steps: way(.compareDigest(digest), left(.alreadyComplete, crc32: 1, [digest]))),
        Row(
            name: "unmarked, and the server states another digest", sight: .file(file(), nil),
            offers: [stating(digest)], content: content(other),
            steps: way(.compareDigest(digest), exists(doubt))),
        Row(
            name: "unmarked, with size, time and a sample of the server's",
            sight: .file(file(), nil),
            offers: [dated(sameTime, isProven: false), dated(sameTime)],
            steps: way(
                .prove, .compareSample, left(.alreadyComplete, isSampled: true, isDated: true))),
        Row(
            name: "unmarked, and a sample differs", sight: .file(file(), nil),
            offers: [dated(sameTime)], isSampleSame: false,
            steps: way(.compareSample, exists(.notTheServers))),
        Row(
            name: "unmarked, and of another time", sight: .file(file(), nil),
            offers: [dated(sameTime + 1)], steps: way(exists(.unmarked))),
        Row(
            name: "unmarked, and the date is not strong", sight: .file(file(), nil),
            offers: [dated(sameTime, date: nil)], steps: way(exists(.unmarked))),
        Row(
            name: "unmarked, and no sample can be had", sight: .file(file(), nil),
            offers: [datedWithoutRanges], steps: way(exists(.unmarked))),
        Row(
            name: "unmarked, and aria2 has not completed it", sight: .file(controlled(9), nil),
            offers: [dated(sameTime)], steps: way(exists(.unmarked))),
        Row(
            name: "unmarked and shorter, to be continued, and a digest decides",
            job: continuedChecked, sight: .file(file(size: 5), content(other)),
            offers: [offer(isProven: false), offer()],
            steps: way(.prove, .adopt, .fetch), mayReplace: true),
        Row(
            name: "unmarked and shorter, to be continued, and the server states a digest",
            job: continued, sight: .file(file(size: 5), nil), offers: [stating(digest)],
            steps: way(.adopt, .fetch), mayReplace: true),
        Row(
            name: "unmarked and shorter, to be continued, and nothing decides", job: continued,
            sight: .file(file(size: 5), nil), steps: way(exists(.otherSize(5, remote: 9)))),
        Row(
            name: "unmarked and longer, to be continued", job: continuedChecked,
            sight: .file(file(size: 10), content(other)), steps: way(exists(doubt))),
        Row(
            name: "unmarked and whole, to be continued, with another checksum",
            job: continuedChecked, sight: .file(file(), content(other)), steps: way(exists(doubt))),
        Row(
            name: "of aria2's, to be continued, and a digest decides", job: continuedChecked,
            sight: .file(controlled(9), content(other)), steps: way(.adopt, .fetch),
            mayReplace: true),
        Row(
            name: "marked and shorter, to be continued", job: continued,
            sight: .file(file("\"1\"", size: 8), nil),
            steps: way(exists(.resized(was: 9, now: 8)))),
    ]
}
