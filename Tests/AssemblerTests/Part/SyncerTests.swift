import Glibc
import TestSupport
import Testing

@testable import Assembler

struct SyncerTests {
    /// What is durable and will not be read leaves the page cache, and nothing else does.
    @Test func forgetsWhatMayBeForgotten() throws {
        let sandbox = try Sandbox()
        let folder = try Folder(sandbox.path)
        try #require(!folder.isInMemory, "no disk to write to")
        let file = try PartialFile(folder: folder, name: "a.part")
        let (size, pages) = (1 << 20, 256)
        // In pieces, or the kernel might keep it as one.
        let piece = [UInt8](repeating: 7, count: 16 << 10)
        for offset in stride(from: 0, to: size, by: piece.count) {
            #expect(pwrite(file.descriptor, piece, piece.count, off_t(offset)) == piece.count)
        }
        let journal = try PartialFile(folder: folder, name: "journal")
        let syncer = Syncer(
            file: file, journalDescriptor: journal.descriptor, journalPath: "journal",
            interval: 0.01, forgettable: { Int64(size / 2) }
        ) { _ throws(AssemblyError) in throw .busy(path: "never asked for") }
        let map = mmap(nil, size, PROT_READ, MAP_SHARED, file.descriptor, 0)
        defer { munmap(map, size) }
        func resident() -> [Bool] {
            var marks = [UInt8](repeating: 0, count: pages)
            #expect(mincore(map, size, &marks) == 0)
            return marks.map { $0 & 1 == 1 }
        }
        #expect(resident().allSatisfy { $0 })
        try syncer.noteRecorded()
        #expect(eventually { resident().prefix(pages / 2).allSatisfy { !$0 } })
        #expect(resident().suffix(pages / 2).allSatisfy { $0 })
        #expect(syncer.stop() == nil)
    }

    /// The kernel reports once that data could not be written through; whoever publishes must hear
    /// it.
    @Test func failureIsToldAtTheEndToo() throws {
        let sandbox = try Sandbox()
        let folder = try Folder(sandbox.path)
        let file = try PartialFile(folder: folder, name: "a.part")
        // A descriptor that nothing can be synchronized through.
        let syncer = Syncer(
            file: file, journalDescriptor: -1, journalPath: "journal", interval: 0.01
        ) { _ throws(AssemblyError) in throw .busy(path: "never asked for") }
        try syncer.noteRecorded()
        let failed = eventually {
            do throws(AssemblyError) {
                try syncer.noteRecorded()
                return false
            } catch { return true }
        }
        #expect(failed)
        let failure = try #require(syncer.stop())
        guard case .io("fdatasync", "journal", _) = failure else {
            Issue.record("\(failure)")
            return
        }
    }
}
