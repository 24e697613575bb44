import Assembler

@testable import Segmenter

// Where another program has begun the file.
extension PlanTests {
    static let adopting = job { $0.adopt = "old" }
    static let adoptingChecked = job { ($0.adopt, $0.checksum) = ("old", digest) }

    /// The file itself, where it stands at the destination.
    static let begun: Plan.StandingFacts = {
        var facts = file()
        facts.isAdopted = true
        return facts
    }()

    static let adoptions = [
        Row(
            name: "it is taken over when all is known", job: adopting,
            steps: [.finish, .survey, .probe, .makeFolder, .adopt, .fetch]),
        Row(
            name: "under a name that is suggested",
            job: job(to: .folder("d")) { $0.adopt = "old" },
            steps: [.probe, .makeFolder, .chooseName, .finish, .survey, .adopt, .fetch]),
        Row(
            name: "not because of a HEAD alone", job: adopting,
            offers: [offer(isProven: false), offer()],
            steps: [.finish, .survey, .probe, .makeFolder, .prove, .adopt, .fetch]),
        Row(
            name: "although one reply has brought all",
            job: job(to: .folder("d")) { $0.adopt = "old" }, isListed: true,
            offers: [offer(isWhole: true)],
            steps: [.probe, .makeFolder, .chooseName, .finish, .survey, .adopt, .fetch]),
        Row(
            name: "it stands at the destination", job: adopting, sight: .file(begun, nil),
            steps: [.finish, .survey, .probe, .makeFolder, .adopt, .fetch], mayReplace: true),
        Row(
            name: "it stands at the destination, and has another digest yet",
            job: adoptingChecked, sight: .file(begun, content(other)),
            steps: [.finish, .survey, .probe, .makeFolder, .adopt, .fetch], mayReplace: true),
        Row(
            name: "it stands at the destination, and is complete", job: adoptingChecked,
            sight: .file(begun, content(digest)),
            steps: [.finish, .survey, left(.alreadyComplete, crc32: 1, [digest])]),
        Row(
            name: "another file stands at the destination", job: adopting,
            sight: .file(file(), nil), steps: [.finish, .survey, exists()]),
        Row(
            name: "another file stands at the destination, with another digest",
            job: adoptingChecked, sight: .file(file(), content(other)),
            steps: [.finish, .survey, exists(doubt)]),
        Row(
            name: "the server's file stands at the destination", job: adopting,
            sight: .file(file("\"1\""), nil),
            steps: [
                .finish, .survey, .probe, .makeFolder, .checkContent,
                left(.alreadyComplete, crc32: 1),
            ]),
        Row(
            name: "a stream goes on with nothing",
            job: job(to: .descriptor(1)) { $0.adopt = "old" }, steps: [.probe, .fetch]),
    ]
}
