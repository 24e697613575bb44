import Foundation
import Glibc
import Segmenter
import TestSupport
import Testing

@testable import SeggetQueue

@Suite struct QueueLockTests {
    private let queue: StoredQueue
    private var files: QueueFiles { queue.files }

    init() throws { queue = try StoredQueue() }

    @Test func lockHasOneHolder() throws {
        let lock = try QueueLock.acquire(files, waiting: 0, isWorker: false)
        #expect(try QueueLock.tryAcquire(files) == nil)
        lock.release()
        let other = try #require(try QueueLock.tryAcquire(files))
        #expect(try QueueLock.tryAcquire(files) == nil)
        withExtendedLifetime((lock, other)) {}
    }

    @Test func lockIsReleasedWithItsObject() throws {
        do {
            let lock = try QueueLock.acquire(files, waiting: 0, isWorker: true)
            #expect(try QueueLock.holder(files)?.pid == getpid())
            withExtendedLifetime(lock) {}
        }
        #expect(try QueueLock.tryAcquire(files) != nil)
    }

    @Test func acquireWaitsForRelease() throws {
        let lock = try QueueLock.acquire(files, waiting: 0, isWorker: false)
        let files = files
        let other = Guarded<QueueLock?>(nil)
        let thread = Thread {
            let lock = try? QueueLock.acquire(files, waiting: 60, isWorker: false)
            other.withLock { $0 = lock }
        }
        thread.start()
        lock.release()
        #expect(eventually { other.withLock { $0 != nil } })
    }

    @Test func lockFileNamesWorker() throws {
        #expect(try QueueLock.holder(files) == nil)
        let lock = try QueueLock.acquire(files, waiting: 0, isWorker: true)
        #expect(
            try QueueLock.holder(files)
                == QueueLock.Holder(pid: getpid(), version: seggetVersion, socket: nil))
        try lock.announce(socket: "/run/a socket")
        #expect(try QueueLock.holder(files)?.socket == "/run/a socket")
        try lock.announce(socket: nil)
        #expect(try QueueLock.holder(files)?.socket == nil)
        let error = #expect(throws: QueueError.self) {
            try QueueLock.acquire(files, waiting: 0, isWorker: true)
        }
        #expect(error?.code == .hasWorker)
        #expect(error?.message.contains("\(getpid())") == true)
        lock.release()
        #expect(try QueueLock.holder(files) == nil)
        #expect(try queue.sandbox.read("queue.sqlite.lock").isEmpty)
    }

    @Test func lockOfCommandNamesNoWorker() throws {
        let lock = try QueueLock.acquire(files, waiting: 0, isWorker: false)
        #expect(try QueueLock.holder(files) == nil)
        let error = #expect(throws: QueueError.self) {
            try QueueLock.acquire(files, waiting: 0, isWorker: true)
        }
        #expect(error?.code == .busy)
        withExtendedLifetime(lock) {}
    }

    /// A killed worker leaves its name in the file.
    @Test func staleLockFileNamesNoWorker() throws {
        let stale = #"{"pid":1,"version":"0","socket":"/s"}"#
        try queue.sandbox.write("queue.sqlite.lock", stale)
        #expect(try QueueLock.holder(files) == nil)
        let lock = try QueueLock.acquire(files, waiting: 0, isWorker: false)
        #expect(try QueueLock.holder(files) == nil)
        withExtendedLifetime(lock) {}
    }

    @Test func killedProcessReleasesLock() throws {
        try queue.sandbox.write("queue.sqlite.lock", "")
        let child = try Run("/usr/bin/flock", ["--no-fork", files.lock, "sleep", "1000"])
        #expect(try eventually { try QueueLock.tryAcquire(files) == nil })
        let error = #expect(throws: QueueError.self) {
            try QueueLock.acquire(files, waiting: 0, isWorker: false)
        }
        #expect(error?.code == .busy)
        child.signal(SIGKILL)
        _ = try child.wait()
        #expect(try QueueLock.tryAcquire(files) != nil)
    }

    /// Hooks and other child processes may outlive the worker.
    @Test func childProcessesDoNotInheritLock() throws {
        let lock = try QueueLock.acquire(files, waiting: 0, isWorker: true)
        let store = try queue.open()
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        let ours = descriptors.compactMap { Int32($0) }.filter { number in
            let target = try? FileManager.default.destinationOfSymbolicLink(
                atPath: "/proc/self/fd/\(number)")
            return target?.hasPrefix(queue.sandbox.path) == true
        }
        #expect(ours.count >= 2)
        for number in ours { #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0) }
        withExtendedLifetime((lock, store)) {}
    }
}
