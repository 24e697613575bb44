import Glibc
import TestSupport
import Testing

@testable import Assembler

struct SyncerTests {
    /// Durable data that will not be read again leaves the page cache; no other data does.
    @Test func dropsPagesThatAreWritten() throws {
        let sandbox = try Sandbox()
        let folder = try Folder(sandbox.path)
        try #require(!folder.isInMemory, "no disk to write to")
        let file = try PartialFile(folder: folder, name: "a.part")
        let (size, pages) = (1 << 20, 256)
        // The file is written in pieces; otherwise the kernel could cache it as one large folio.
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

    /// The kernel reports a failed write-back only once, and the code that publishes the file must
    /// see the error.
    @Test func endReportsEarlierFailure() throws {
        let sandbox = try Sandbox()
        let folder = try Folder(sandbox.path)
        let file = try PartialFile(folder: folder, name: "a.part")
        // Synchronizing this descriptor fails.
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
