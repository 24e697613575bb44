import Glibc
import Segmenter
import TestSupport
import Testing

@testable import Assembler
@testable import SeggetQueue

/// Tests the table of actions after a crash, cell by cell.
///
/// Each block is about one kind of record. Its rows are the file at the destination, its columns
/// the manifest. The part never matters, so each cell is tried with all kinds of parts. The letters
/// are the actions:
///
/// ```
/// .  leave unchanged                    F  resume the chore
/// r  it was running: run again          D  it is complete: record that, then resume the chore
/// C  it is complete: record that
/// ```
///
/// The recorded file is `P`. In `publ`, the manifest was about to rename the part to `P`. In
/// `kept`, it describes a finished file with the size of `P`.
@Suite struct RestorationTests {
    static let columns = "             none ours publ kept other unreadable"

    static let waiting = """
        nothing       .    .    .    .    .    .
        P             C    .    .    C    C    C
        P, longer     .    .    .    .    .    .
        another       .    .    .    .    .    .
        a folder      .    .    .    .    .    .
        """
    static let running = """
        nothing       r    r    r    r    r    r
        P             C    r    r    C    C    C
        P, longer     r    r    r    r    r    r
        another       r    r    r    r    r    r
        a folder      r    r    r    r    r    r
        """
    static let ended = """
        nothing       .    .    .    .    .    .
        P             .    .    .    .    .    .
        P, longer     .    .    .    .    .    .
        another       .    .    .    .    .    .
        a folder      .    .    .    .    .    .
        """
    static let discarding = """
        nothing       F    F    F    F    F    F
        P             C    F    C    C    C    C
        P, longer     F    F    F    F    F    F
        another       F    F    F    F    F    F
        a folder      F    F    F    F    F    F
        """
    static let removing = """
        nothing       F    F    F    F    F    F
        P             F    F    F    F    F    F
        P, longer     F    F    F    F    F    F
        another       F    F    F    F    F    F
        a folder      F    F    F    F    F    F
        """
    static let removingAll = """
        nothing       F    F    F    F    F    F
        P             D    F    D    D    D    D
        P, longer     F    F    F    F    F    F
        another       F    F    F    F    F    F
        a folder      F    F    F    F    F    F
        """

    // Records without the mark of the part: only `publishing` in the manifest identifies the file.
    static let runningUnmarked = """
        nothing       r    r    r    r    r    r
        P             r    r    r    r    r    r
        P, longer     r    r    r    r    r    r
        another       r    r    r    r    r    r
        a folder      r    r    r    r    r    r
        """
    static let discardingUnmarked = """
        nothing       F    F    F    F    F    F
        P             F    F    C    F    F    F
        P, longer     F    F    F    F    F    F
        another       F    F    F    F    F    F
        a folder      F    F    F    F    F    F
        """
    static let removingAllUnmarked = """
        nothing       F    F    F    F    F    F
        P             F    F    D    F    F    F
        P, longer     F    F    F    F    F    F
        another       F    F    F    F    F    F
        a folder      F    F    F    F    F    F
        """

    /// A kind of record and its table.
    struct Block: Sendable, CustomTestStringConvertible {
        var states: [TaskStatus.State]
        var chore: QueueTask.Chore?
        var isMarked = true
        var table: String
        var testDescription: String {
            "\(states.map(\.word)) \(chore.map { "\($0)" } ?? "") \(isMarked ? "" : "unmarked")"
        }
    }

    static let old = QueueTask.Place(root: "/old", name: "f")
    static let waits: [TaskStatus.State] = [.waiting, .retrying(at: 5)]
    static let runs: [TaskStatus.State] = [.running, .verifying, .waitingForNetwork(since: 5)]

    static let blocks = [
        Block(states: waits, table: waiting),
        Block(states: waits, isMarked: false, table: ended),
        Block(states: runs, table: running),
        Block(states: runs, isMarked: false, table: runningUnmarked),
        Block(states: [.completed, .failed, .cancelled], table: ended),
        Block(states: [.completed, .failed, .cancelled], isMarked: false, table: ended),
        Block(states: [.cancelled, .running, .waiting], chore: .discard, table: discarding),
        Block(
            states: [.cancelled, .running], chore: .discard, isMarked: false,
            table: discardingUnmarked),
        Block(
            states: waits + runs + [.completed, .failed, .cancelled],
            chore: .remove(files: false), table: removing),
        Block(
            states: waits + runs + [.failed, .cancelled], chore: .remove(files: true),
            table: removingAll),
        Block(
            states: waits + runs + [.failed, .cancelled], chore: .remove(files: true),
            isMarked: false, table: removingAllUnmarked),
        // The record of a completed task identifies its file without the part.
        Block(states: [.completed], chore: .remove(files: true), table: removing),
        Block(states: [.completed, .failed, .cancelled], chore: .move(from: old), table: removing),
        // The task was moved, and then found to be complete.
        Block(states: waits + runs, chore: .move(from: old), table: removingAll),
        Block(
            states: waits + runs, chore: .move(from: old), isMarked: false,
            table: removingAllUnmarked),
    ]

    // MARK: Files

    private static func status(inode: Int, size: Int, modified: Int = 77) -> FileStatus {
        var status = stat()
        status.st_ino = UInt(inode)
        // Another device number than the recorded one, as after a reboot.
        status.st_dev = 9
        status.st_size = size
        status.st_mtim.tv_sec = modified
        status.st_mode = S_IFREG
        return FileStatus(status)
    }

    static let destinations: [String: Assembly.Standing.Occupant] = [
        "nothing": .none, "P": .regular(status(inode: 1, size: 100)),
        "P, longer": .regular(status(inode: 1, size: 101)),
        "another": .regular(status(inode: 2, size: 100)), "a folder": .other,
    ]
    static let manifests: [String: Assembly.Standing.Sidecar] = [
        "none": .none, "ours": .ours(.init(generation: "g", bytes: 100)),
        "publ": .ours(
            .init(generation: "g", bytes: 100, publishing: FileIdentity(device: 1, inode: 1))),
        "kept": .ours(.init(generation: "g", bytes: 100, finished: 100)),
        "other": .other, "unreadable": .unreadable,
    ]
    static let parts: [Assembly.Standing.Part] = [
        .none, .empty(FileIdentity(device: 1, inode: 5)),
        .ours(FileIdentity(device: 1, inode: 1)), .ours(FileIdentity(device: 1, inode: 6)),
        .foreign(FileIdentity(device: 1, inode: 7)),
    ]
    static let nothing = Assembly.Standing(part: .none, manifest: .none, destination: .none)

    private static func task(_ block: Block, _ state: TaskStatus.State) throws -> QueueTask {
        var task = QueueTask(
            id: try #require(QueueTask.ID("00000000000000a1")), url: "u", urls: ["u"],
            place: .init(root: "/r", name: "f"), options: .init())
        task.status.state = state
        task.chore = block.chore
        task.size = 100
        if block.isMarked {
            task.file =
                state == .completed
                ? .init(device: 1, inode: 1, size: 100, modified: 77) : .init(device: 1, inode: 1)
        }
        return task
    }

    private static func letter(_ restoration: Restoration) -> String {
        switch restoration {
        case .leave: "."
        case .runAgain: "r"
        case .complete(let status): status.size == 100 && status.identity.inode == 1 ? "C" : "?"
        case .finishChore: "F"
        case .completeAndFinishChore(let status):
            status.size == 100 && status.identity.inode == 1 ? "D" : "?"
        }
    }

    @Test(arguments: blocks)
    func actionsMatchTable(block: Block) throws {
        let names = Self.columns.split(separator: " ").map(String.init)
        var cells = 0
        for line in block.table.split(separator: "\n") {
            let name = line.prefix(14).trimmingSuffix(while: { $0 == " " })
            let destination = try #require(Self.destinations[String(name)])
            let letters = line.dropFirst(14).split(separator: " ").map(String.init)
            #expect(letters.count == names.count)
            for (column, expected) in zip(names, letters) {
                let manifest = try #require(Self.manifests[column])
                for part in Self.parts {
                    for state in block.states {
                        for wanted in TaskStatus.Wanted.allCases {
                            var task = try Self.task(block, state)
                            task.status.wanted = wanted
                            let place = Assembly.Standing(
                                part: part, manifest: manifest, destination: destination)
                            var found = [Restoration(task, at: place)]
                            if case .move? = block.chore {
                                found.append(
                                    Restoration(task, at: Self.nothing, movingFrom: place))
                            }
                            for restoration in found {
                                #expect(
                                    Self.letter(restoration) == expected,
                                    "\(state.word), \(wanted), \(name), \(column), \(part)")
                            }
                            cells += 1
                        }
                    }
                }
            }
        }
        #expect(cells == 5 * 6 * Self.parts.count * block.states.count * 2)
    }

    @Test func tableHasAllStatesAndChores() {
        func states(_ isMarked: Bool, _ chore: QueueTask.Chore?) -> Set<String> {
            Set(
                Self.blocks.filter { $0.isMarked == isMarked && $0.chore == chore }
                    .flatMap(\.states).map(\.word.rawValue))
        }
        let all = Set(TaskStatus.State.words)
        #expect(states(true, nil) == all)
        #expect(states(false, nil) == all)
        #expect(states(true, .remove(files: true)) == all)
        #expect(states(true, .remove(files: false)) == all)
        #expect(states(true, .move(from: Self.old)) == all)
    }

    @Test func completesTaskOfUnknownSize() throws {
        var task = try Self.task(Self.blocks[2], .running)
        task.size = nil
        let place = Assembly.Standing(
            part: .none, manifest: .none,
            destination: .regular(Self.status(inode: 1, size: 12345)))
        #expect(
            Restoration(task, at: place) == .complete(Self.status(inode: 1, size: 12345)))
    }

    @Test func recognizesFinishedFile() throws {
        let sandbox = try Sandbox("finished")
        let path = try sandbox.write("f", "content")
        var task = QueueTask(
            id: .init(), url: "u", urls: ["u"], place: .init(root: sandbox.path, name: "f"),
            options: .init())
        task.status.state = .completed
        task.file = FinishedFile.mark(of: path)
        #expect(FinishedFile.look(at: task) == .there)
        let mark = try #require(task.file)
        for (size, modified, inode) in [(8, 0, 0), (7, 1, 0), (7, 0, 1)] as [(Int64, Int64, UInt64)]
        {
            task.file = .init(
                device: mark.device, inode: mark.inode + inode, size: size,
                modified: (mark.modified ?? 0) + modified)
            #expect(FinishedFile.look(at: task) == .changed)
        }
        // After a reboot, the disk may have another device number.
        task.file = mark
        task.file?.device += 1
        #expect(FinishedFile.look(at: task) == .there)
        unlink(path)
        #expect(FinishedFile.look(at: task) == .missing)
        mkdir(path, 0o700)
        #expect(FinishedFile.look(at: task) != .there)
    }
}

extension Substring {
    fileprivate func trimmingSuffix(while isTrimmed: (Character) -> Bool) -> Substring {
        var text = self
        while let last = text.last, isTrimmed(last) { text.removeLast() }
        return text
    }
}
