import Foundation
import SeggetQueue
import Segmenter
import TestSupport
import Testing

@testable import SeggetService

/// Tests how a command finds the worker of a queue; each test counts threads.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct QueueAccessTests {
    /// The number of threads of clients and servers.
    private var loops: Int {
        let tasks = "/proc/self/task"
        let ids = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
        return ids.count { id in
            (try? String(contentsOfFile: "\(tasks)/\(id)/comm", encoding: .utf8))?
                .hasPrefix("NIO-ELT") ?? false
        }
    }

    /// Returns the error of a command if the lock file names a worker that listens at a path.
    private func failure(_ socket: String?, patience: Double) async throws -> QueueError? {
        let sandbox = try Sandbox("access")
        let queue = sandbox.path("q.sqlite")
        let lock = try QueueLock.acquire(QueueFiles(queue), waiting: 0, isWorker: true)
        defer { lock.release() }
        try lock.announce(socket: socket)
        do {
            _ = try await QueueAccess.open(queue, patience: patience) { _ in }
            return nil
        } catch {
            return error
        }
    }

    /// The command finds a worker that starts after its first look.
    @Test func findsWorkerThatStartsMeanwhile() async throws {
        let sandbox = try Sandbox("meanwhile")
        let queue = sandbox.path("q.sqlite")
        let access = try await QueueAccess.open(queue) { _ in }
        #expect(access.worker == nil)
        let worker = try await DownloadQueue.open(queue)
        let server = try await QueueServer.start(
            for: queue, door: worker, runtime: nil, users: "/nowhere", base: sandbox.path)
        try await worker.announce(socket: server.path)
        var task = NewTask("http://127.0.0.1:9/a", to: .init(root: sandbox.path))
        task.isPaused = true
        let results = try await access.door.perform([.add(task)])
        #expect(results.joined().map(\.outcome) == [.done])
        let told = try await worker.report(TaskFilter()).tasks
        #expect(told.count == 1)
        await server.close()
        await worker.shutdown()
    }

    /// A worker that ends after the command has found it leaves the records to the command.
    @Test func usesRecordsIfWorkerEnds() async throws {
        let sandbox = try Sandbox("ends")
        let queue = sandbox.path("q.sqlite")
        let worker = try await DownloadQueue.open(queue)
        let server = try await QueueServer.start(
            for: queue, door: worker, runtime: nil, users: "/nowhere", base: sandbox.path)
        try await worker.announce(socket: server.path)
        let access = try await QueueAccess.open(queue) { _ in }
        #expect(access.worker == getpid())
        await server.close()
        await worker.shutdown()
        var task = NewTask("http://127.0.0.1:9/a", to: .init(root: sandbox.path))
        task.isPaused = true
        let results = try await access.door.perform([.add(task)])
        #expect(results.joined().map(\.outcome) == [.done])
        let report = try await access.report(TaskFilter())
        #expect(report.tasks.count == 1)
        #expect(report.worker == nil)
        let id = try #require(report.tasks.first?.id)
        #expect(try await access.door.detail(id.description).task.id == id)
        await access.client?.close()
    }

    /// The records are not shown in place of those of a worker that has the queue.
    @Test func reportsInvalidResponseOfWorker() async throws {
        let worker = try FakeWorker { line in
            line.contains("health")
                ? FakeWorker.health(version: seggetVersion) : FakeWorker.reply("{}")
        }
        let sandbox = try Sandbox("invalid")
        let queue = sandbox.path("q.sqlite")
        let lock = try QueueLock.acquire(QueueFiles(queue), waiting: 0, isWorker: true)
        defer { lock.release() }
        try lock.announce(socket: worker.path)
        let access = try await QueueAccess.open(queue, patience: 60) { _ in }
        let error = await #expect(throws: QueueError.self) {
            _ = try await access.report(TaskFilter())
        }
        #expect(error?.message.contains("sent an invalid response") == true)
        await access.client?.close()
    }

    @Test func asksHangingWorkerOnce() async throws {
        let (asked, isOver) = (Guarded(0), Guarded(false))
        let worker = try FakeWorker { _ in
            asked.withLock { $0 += 1 }
            while !isOver.withLock({ $0 }) { usleep(10_000) }
            return nil
        }
        defer { isOver.withLock { $0 = true } }
        let error = try await failure(worker.path, patience: 0.5)
        #expect(error?.code == .worker)
        #expect(error?.message.contains("does not answer") == true)
        #expect(asked.withLock { $0 } == 1)
        #expect(await soon { loops == 0 })
    }

    @Test func leavesNoThreadsIfWorkerIsGone() async throws {
        let sandbox = try Sandbox("missing")
        let error = try await failure(sandbox.path("none.sock"), patience: 0.5)
        #expect(error?.code == .worker)
        #expect(await soon { loops == 0 })
    }

    @Test func namesWorkerWithoutSocket() async throws {
        let error = try await failure(nil, patience: 0.2)
        #expect(error?.code == .busy)
        #expect(error?.message.contains("\(getpid())") == true)
    }

    @Test func usesWorkerThatAnswers() async throws {
        try await ServedDoor.use { served throws in
            #expect(try await failure(served.server.path, patience: 60) == nil)
        }
    }
}
