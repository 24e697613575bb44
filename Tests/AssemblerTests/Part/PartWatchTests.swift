import Glibc
import TestSupport
import Testing

@testable import Assembler

struct PartWatchTests {
    private static let fine = PartSight(links: 1, folderLinks: 2, isNamed: true, isAttached: true)

    private static func sight(_ change: (inout PartSight) -> Void) -> PartSight {
        var sight = fine
        change(&sight)
        return sight
    }

    /// The observed state, and the loss that it means on a disk, and on FUSE or NFS.
    private static let rows: [(PartSight, PartLoss?, PartLoss?)] = [
        (fine, nil, nil),
        (sight { $0.links = 2 }, nil, nil),
        (sight { $0.links = 0 }, .removed, nil),
        (sight { $0.folderLinks = 0 }, .removed, nil),
        (sight { $0.isNamed = false }, .nameGone, .nameGone),
        (
            PartSight(links: 0, folderLinks: 2, isNamed: false, isAttached: true), .removed,
            .nameGone
        ),
        (sight { $0.isAttached = false }, .unmounted, nil),
        (PartSight(links: 0, folderLinks: 2, isNamed: true, isAttached: false), .unmounted, nil),
        (PartSight(), nil, nil),
    ]

    @Test(arguments: rows)
    func twoChecksInARowDecide(sight: PartSight, onDisk: PartLoss?, elsewhere: PartLoss?) {
        for (countsNamesOnly, loss) in [(false, onDisk), (true, elsewhere)] {
            var watch = PartWatch(Self.fine, countsNamesOnly: countsNamesOnly)
            #expect(watch.take(sight) == nil)
            #expect(watch.take(sight) == loss)
            var interrupted = PartWatch(Self.fine, countsNamesOnly: countsNamesOnly)
            #expect(interrupted.take(sight) == nil)
            #expect(interrupted.take(Self.fine) == nil)
            #expect(interrupted.take(sight) == nil)
        }
    }

    /// A file system may report no links, and `..` may not lead from the folder to the root.
    ///
    /// Neither is a loss.
    @Test func onlyChangesCount() {
        let odd = PartSight(links: 0, folderLinks: 0, isNamed: true, isAttached: false)
        var watch = PartWatch(odd, countsNamesOnly: false)
        for _ in 0..<3 { #expect(watch.take(odd) == nil) }
        #expect(watch.take(Self.sight { $0.isNamed = false }) == nil)
        #expect(watch.take(Self.sight { $0.isNamed = false }) == .nameGone)
    }

    private func makePart(_ path: String) throws -> PartialFile {
        try PartialFile(folder: Folder(path), name: "a.part")
    }

    private func expect(
        _ loss: PartLoss?, of file: PartialFile, _ place: SourceLocation = #_sourceLocation
    ) {
        var watch = file.watch
        #expect(watch.take(file.look()) == nil, sourceLocation: place)
        #expect(watch.take(file.look()) == loss, sourceLocation: place)
    }

    @Test func renamedFolderIsNotLost() throws {
        let sandbox = try Sandbox()
        mkdir(sandbox.path("old"), 0o700)
        mkdir(sandbox.path("deeper"), 0o700)
        let file = try makePart(sandbox.path("old"))
        #expect(rename(sandbox.path("old"), sandbox.path("deeper/new")) == 0)
        expect(nil, of: file)
        #expect(symlink("/proc", sandbox.path("old")) == 0)
        expect(nil, of: file)
    }

    @Test func removedOrMovedPartIsLost() throws {
        let sandbox = try Sandbox()
        let removed = try makePart(sandbox.path)
        unlink(sandbox.path("a.part"))
        expect(.removed, of: removed)
        let replaced = try makePart(sandbox.path)
        unlink(sandbox.path("a.part"))
        try sandbox.write("a.part", "another")
        expect(.removed, of: replaced)
        unlink(sandbox.path("a.part"))
        let moved = try makePart(sandbox.path)
        rename(sandbox.path("a.part"), sandbox.path("b"))
        expect(.nameGone, of: moved)
        mkdir(sandbox.path("folder"), 0o700)
        let inFolder = try makePart(sandbox.path("folder"))
        unlink(sandbox.path("folder/a.part"))
        rmdir(sandbox.path("folder"))
        expect(.removed, of: inFolder)
    }

    @Test func unmountedFileSystemIsALoss() throws {
        let memory = try Tmpfs(size: 1 << 20)
        mkdir(memory.path("sub"), 0o700)
        let files = [try makePart(memory.path), try makePart(memory.path("sub"))]
        for file in files { expect(nil, of: file) }
        memory.close()
        for file in files { expect(.unmounted, of: file) }
    }
}
