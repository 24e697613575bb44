import Assembler

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

// Rows about a file that another program has started.
extension PreparationTests {
    static let adopting = job { $0.adopt = "old" }
    static let adoptingChecked = job { ($0.adopt, $0.checksum) = ("old", digest) }

    /// The adopted file, which is at the destination.
    static let begun: Preparation.StandingFacts = {
        var facts = file()
        facts.isAdopted = true
        return facts
    }()

    static let adoptions = [
        Row(
            name: "the file is adopted after the probe", job: adopting,
            steps: [.finish, .survey, .probe, .makeFolder, .adopt, .fetch]),
        Row(
            name: "the file is adopted with a suggested name",
            job: job(to: .folder("d")) { $0.adopt = "old" },
            steps: [.probe, .makeFolder, .chooseName, .finish, .survey, .adopt, .fetch]),
        Row(
            name: "the file is not adopted after HEAD alone", job: adopting,
            offers: [offer(isProven: false), offer()],
            steps: [.finish, .survey, .probe, .makeFolder, .prove, .adopt, .fetch]),
        Row(
            name: "the file is adopted although one response has the whole file",
            job: job(to: .folder("d")) { $0.adopt = "old" }, isListed: true,
            offers: [offer(isWhole: true)],
            steps: [.probe, .makeFolder, .chooseName, .finish, .survey, .adopt, .fetch]),
        Row(
            name: "the adopted file is at the destination", job: adopting, sight: .file(begun, nil),
            steps: [.finish, .survey, .probe, .makeFolder, .adopt, .fetch], mayReplace: true),
        Row(
            name: "the adopted file is at the destination, with another digest",
            job: adoptingChecked, sight: .file(begun, content(other)),
            steps: [.finish, .survey, .probe, .makeFolder, .adopt, .fetch], mayReplace: true),
        Row(
            name: "the adopted file is at the destination, and complete", job: adoptingChecked,
            sight: .file(begun, content(digest)),
            steps: [.finish, .survey, left(.alreadyComplete, crc32: 1, [digest])]),
        Row(
            name: "another file is at the destination", job: adopting,
            sight: .file(file(), nil), steps: [.finish, .survey, exists()]),
        Row(
            name: "another file is at the destination, with another digest",
            job: adoptingChecked, sight: .file(file(), content(other)),
            steps: [.finish, .survey, exists(doubt)]),
        Row(
            name: "the server's file is at the destination", job: adopting,
            sight: .file(file("\"1\""), nil),
            steps: [
                .finish, .survey, .probe, .makeFolder, .checkContent,
                left(.alreadyComplete, crc32: 1),
            ]),
        Row(
            name: "a stream adopts no file",
            job: job(to: .descriptor(1)) { $0.adopt = "old" }, steps: [.probe, .fetch]),
    ]
}
