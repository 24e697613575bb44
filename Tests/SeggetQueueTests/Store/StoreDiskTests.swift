import Foundation
import Glibc
import Segmenter
import TestSupport
import Testing

@testable import SeggetQueue

@Suite(.enabled(if: geteuid() == 0, "mounting needs root")) struct StoreDiskTests {
    @Test func readsQueueOnReadOnlyDisk() throws {
        let disk = try Tmpfs(size: 8 << 20)
        let files = QueueFiles(disk.path("a folder?#%41/queue.sqlite"))
        var task = QueueTask.plain()
        task.options.access.bearerToken = "x"
        try QueueStore(files, mode: .readWrite).insert(task)
        try makeReadOnly(disk)
        let store = try QueueStore(files, mode: .readOnly)
        #expect(try store.find() == [task.split().record])
        #expect(try store.secrets(of: task.id)?.options == task.options)
        #expect(try store.check() == [])
        try expectRefusal(files)
        #expect(try QueueLock.holder(files) == nil)
    }

    /// A log remains after a kill, or if the kernel remounts a file system read-only after an
    /// error.
    @Test func readsWriteAheadLogOnReadOnlyDisk() throws {
        let disk = try Tmpfs(size: 8 << 20)
        let files = QueueFiles(disk.path("queue.sqlite"))
        let task = QueueTask.plain()
        do {
            let original = QueueFiles(disk.path("original"))
            let store = try QueueStore(original, mode: .readWrite)
            try store.insert(task)
            for (from, to) in [
                (original.database, files.database), (original.writeAheadLog, files.writeAheadLog),
                (original.sharedMemory, files.sharedMemory),
            ] { try FileManager.default.copyItem(atPath: from, toPath: to) }
        }
        try makeReadOnly(disk)
        #expect(try QueueStore(files, mode: .readOnly).find() == [task])
        try expectRefusal(files)
    }

    private func makeReadOnly(_ disk: Tmpfs) throws {
        try #require(
            mount("tmpfs", disk.path, "tmpfs", UInt(MS_REMOUNT) | UInt(MS_RDONLY), nil) == 0)
    }

    private func expectRefusal(_ files: QueueFiles) throws {
        let error = #expect(throws: QueueError.self) { try QueueStore(files, mode: .readWrite) }
        #expect(error?.code == .unavailable)
        let lock = #expect(throws: QueueError.self) { try QueueLock.tryAcquire(files) }
        #expect(lock?.code == .unavailable)
    }

    @Test func fullDiskKeepsStoredTasks() throws {
        let disk = try Tmpfs(size: 1 << 20)
        let files = QueueFiles(disk.path("queue.sqlite"))
        let store = try QueueStore(files, mode: .readWrite)
        var stored: [QueueTask] = []
        let error = #expect(throws: QueueError.self) {
            for round in 0..<10_000 {
                let tasks = (0..<10).map { QueueTask.plain(at: Int64(10 * round + $0)) }
                try store.insert(tasks)
                stored += tasks
            }
        }
        #expect(error?.code == .diskFull)
        #expect(!stored.isEmpty)
        #expect(try store.find() == stored)
        #expect(try store.check() == [])
        // Once there is space again, writes succeed.
        try disk.resize(to: 4 << 20)
        try store.insert(.plain(at: .max))
        #expect(try QueueStore(files, mode: .readWrite).find().count == stored.count + 1)
    }

    @Test func fullDiskRefusesNewQueue() throws {
        let disk = try Tmpfs(size: 1 << 20)
        let full = [UInt8](repeating: 1, count: 2 << 20)
        // Fills the disk.
        let descriptor = open(disk.path("full"), O_WRONLY | O_CREAT, 0o600)
        while write(descriptor, full, full.count) > 0 {}
        close(descriptor)
        let error = #expect(throws: QueueError.self) {
            try QueueStore(QueueFiles(disk.path("queue.sqlite")), mode: .readWrite).insert(.plain())
        }
        #expect(error?.code == .diskFull)
    }
}
