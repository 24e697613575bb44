import TestSupport
import Testing

@testable import Assembler

struct SyncerTests {
    /// The kernel tells once that data could not be written through; whoever publishes must hear it.
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
