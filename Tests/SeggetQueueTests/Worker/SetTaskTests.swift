import Foundation
import Glibc
import Segmenter
import TestSupport
import Testing

@testable import SeggetQueue

/// Tests tasks that download data sets.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct SetTaskTests {
    private static let count = 40

    /// How the origin answers `GET`, by the number of the file.
    private struct Behaviour: Sendable {
        var statuses: [Int: Int] = [:]
        /// Files that stall after their first bytes until they are released.
        var stalls: Set<Int> = []
    }

    private let home: Sandbox
    private let origin: Origin
    private let behaviour = Guarded(Behaviour())
    private let released = Guarded(false)

    init() throws {
        home = try Sandbox()
        origin = try Origin { [behaviour, released] request in
            let number = Int(request.path.dropFirst()) ?? 0
            let behaviour = behaviour.withLock { $0 }
            if let status = behaviour.statuses[number] { return .text(status) }
            let reply = OriginReply.file(
                Self.content(number), for: request, etag: "\"\(number)\"")
            return reply.with { reply in
                guard behaviour.stalls.contains(number), request.method == "GET" else { return }
                reply.stallAfter = 1000
                reply.release = released
            }
        }
    }

    private static func size(_ number: Int) -> Int64 { 2000 + Int64(number) }

    private static func content(_ number: Int) -> Content {
        Content(size: size(number), seed: UInt64(number))
    }

    /// Writes a plan, and returns a task for it.
    private func set(_ count: Int = Self.count, etag: String? = nil) throws -> NewTask {
        let files = (0..<count).map { number in
            Listing.File(
                path: "\(number % 3)/file-\(number)", address: origin.url("/\(number)"),
                size: Self.size(number), etag: etag ?? "\"\(number)\"")
        }
        let plan = home.path("set.plan")
        try Listing(.init(.urls), files: files).writePlan(to: plan)
        return NewTask(plan: plan, to: .init(root: home.path("set")))
    }

    private func isRight(_ number: Int) throws -> Bool {
        try Self.content(number)
            .firstDifference(at: home.path("set/\(number % 3)/file-\(number)")) == nil
    }

    private func withQueue(_ body: (DownloadQueue) async throws -> Void) async throws {
        try await withDownloadQueue(at: home.path("q.sqlite")) { queue in
            var settings = QueueSettings()
            settings.retryDelays = [0.01]
            try await queue.change(settings)
            try await body(queue)
        }
    }

    private func report(_ id: QueueTask.ID, _ queue: DownloadQueue) async throws -> TaskReport {
        let report = try await queue.report(TaskFilter(selection: TaskSelection(id)))
        return try #require(report.tasks.first)
    }

    private func requests(_ number: Int) -> Int {
        origin.requests.count { $0.path == "/\(number)" && $0.method == "GET" }
    }

    @Test func setIsOneTask() async throws {
        try await withQueue { queue in
            let id = try await queue.add(set())
            // The queue has its own copy.
            unlink(home.path("set.plan"))
            let end = try await queue.ended(id)
            #expect(end.state == "completed", "\(String(describing: end.error))")
            #expect(end.files == Self.count && end.filesDone == Self.count && end.filesFailed == 0)
            let size = (0..<Self.count).reduce(0) { $0 + Self.size($1) }
            #expect(end.size == size && end.bytesDone == size)
            #expect(end.file == "there")
            #expect(try await queue.report(TaskFilter()).tasks.count == 1)
            for number in 0..<Self.count {
                #expect(try isRight(number), "\(number)")
                #expect(requests(number) == 1, "\(number)")
            }
            let files = try await queue.files(id.description, FileWindow(offset: 38, limit: 9))
            #expect(files.counts == ["complete": 40] && files.matching == 40)
            #expect(files.files.map(\.path) == ["2/file-38", "0/file-39"])
            #expect(files.files.map(\.bytesDone) == [2038, 2039])
            _ = try await queue.perform([.remove(TaskSelection(id), files: false)])
            #expect(try isRight(0))
            let plans = QueueFiles(home.path("q.sqlite")).plans
            #expect(try FileManager.default.contentsOfDirectory(atPath: plans) == [])
        }
    }

    @Test func pausedSetKeepsItsFilesAndResumes() async throws {
        behaviour.withLock { $0.stalls = [7, 20] }
        try await withQueue { queue in
            let id = try await queue.add(set())
            var active: TaskFiles
            repeat {
                try await Task.sleep(for: .milliseconds(5))
                active = try await queue.files(id.description, FileWindow(states: [.active]))
            } while active.counts["complete"] != 38 || active.matching != 2
            #expect(active.files.map(\.index) == [7, 20] && active.matching == 2)
            #expect(active.counts == ["active": 2, "complete": 38])
            _ = try await queue.perform([.pause(TaskSelection(id))])
            while try await queue.view().running.count > 0 {
                try await Task.sleep(for: .milliseconds(5))
            }
            let paused = try await report(id, queue)
            #expect(paused.state == "paused" && paused.filesDone == 38)
            let missing = try await queue.files(id.description, FileWindow(states: [.missing]))
            #expect(missing.files.map(\.index) == [7, 20])
            released.withLock { $0 = true }
            _ = try await queue.perform([.resume(TaskSelection(id))])
            #expect(try await queue.ended(id).state == "completed")
            for number in 0..<Self.count { #expect(try isRight(number), "\(number)") }
            #expect(requests(0) == 1)
        }
    }

    /// The set fails by its worst file, and the other files are downloaded.
    @Test func setFailsByWorstFile() async throws {
        behaviour.withLock { $0.statuses = [3: 404, 5: 503] }
        try await withQueue { queue in
            var new = try set()
            new.options.retries = 0
            let id = try await queue.add(new)
            let end = try await queue.ended(id)
            #expect(end.state == "failed" && end.filesDone == 38 && end.filesFailed == 2)
            let error = try #require(end.error)
            #expect(error.status == 404 && error.code == 69)
            #expect(error.message.hasPrefix("2 of 40 files failed: "), "\(error.message)")
            behaviour.withLock { $0.statuses = [:] }
            _ = try await queue.perform([.retry(TaskSelection(id))])
            #expect(try await queue.ended(id).state == "completed")
            #expect(requests(0) == 1)
        }
    }

    /// A set whose failures may all pass is retried.
    @Test func setIsRetriedAfterTransientFailures() async throws {
        behaviour.withLock { $0.statuses = [3: 503] }
        try await withQueue { queue in
            var new = try set()
            new.options.retries = 0
            let id = try await queue.add(new)
            #expect(await soon { requests(3) > 0 })
            behaviour.withLock { $0.statuses = [:] }
            let end = try await queue.ended(id)
            #expect(end.state == "completed", "\(String(describing: end.error))")
            #expect(requests(0) == 1)
        }
    }

    /// A file that failed is listed with its reason while the others are downloaded.
    @Test func failedFileIsListedWithReason() async throws {
        behaviour.withLock { ($0.statuses, $0.stalls) = ([3: 404], [7]) }
        try await withQueue { queue in
            let id = try await queue.add(set())
            while try await report(id, queue).filesFailed != 1 {
                try await Task.sleep(for: .milliseconds(5))
            }
            // The list reads the ledger, which may follow the number.
            var failed = try await queue.files(id.description, FileWindow(states: [.failed]))
            while failed.files.isEmpty {
                try await Task.sleep(for: .milliseconds(5))
                failed = try await queue.files(id.description, FileWindow(states: [.failed]))
            }
            #expect(failed.files.map(\.index) == [3] && failed.files.first?.error?.status == 404)
            released.withLock { $0 = true }
            #expect(try await queue.ended(id).state == "failed")
        }
    }

    @Test func knownSetIsNotAddedTwice() async throws {
        try await withQueue { queue in
            let new = try set()
            let id = try await queue.add(new)
            _ = try await queue.ended(id)
            unlink(home.path("set/0/file-0"))
            let results = try await queue.perform([.add(new)])[0]
            #expect(results.map(\.id) == [id] && results.map(\.outcome) == [.done])
            #expect(results[0].message?.contains("checks its files") == true)
            #expect(try await queue.ended(id).state == "completed")
            #expect(try isRight(0))
            #expect(requests(0) == 2 && requests(1) == 1)
            // The set in another folder is another task.
            var other = new
            other.place.root = home.path("else")
            let second = try await queue.add(other)
            #expect(second != id)
            #expect(try await queue.ended(second).state == "completed")
            // A task for one file with the URL of the set's first file is not that set.
            let file = try await queue.add(
                NewTask(origin.url("/0"), to: .init(root: home.path("set"))))
            #expect(file != id)
        }
    }

    @Test func setRefusesWhatOnlyFilesHave() async throws {
        try await withQueue { queue in
            var new = try set()
            new.isPaused = true
            let id = try await queue.add(new)
            var changes = TaskChanges()
            changes.urls = [origin.url("/1")]
            let selection = TaskSelection(id)
            let results = try await queue.perform([
                .set(selection, changes), .rename(selection, name: "n", folder: nil),
                .rename(selection, name: nil, folder: home.path("b")),
            ]).joined()
            #expect(results.map(\.outcome) == [.refused, .refused, .refused])
            new.options.checksum = Digest(crc32: 1)
            let refused = try await queue.perform([.add(new)])[0][0]
            #expect(refused.outcome == .refused && refused.member == "checksum")
            #expect(try await queue.report(TaskFilter()).tasks.map(\.state) == ["paused"])
            #expect(origin.requests.isEmpty)
        }
    }

    /// Removing a set with its files leaves what the set did not write, and what was changed since.
    @Test func removalLeavesFilesOfOthers() async throws {
        try await withQueue { queue in
            let id = try await queue.add(set())
            _ = try await queue.ended(id)
            try home.write("set/0/file-3", "changed")
            try home.write("set/1/own", "mine")
            _ = try await queue.perform([.remove(TaskSelection(id), files: true)])
            #expect(try await queue.report(TaskFilter()).tasks.isEmpty)
            let left = try FileManager.default.subpathsOfDirectory(atPath: home.path("set"))
            #expect(left.sorted() == ["0", "0/file-3", "1", "1/own"])
        }
    }

    /// Cancelling a set removes the parts of its files; complete files stay.
    @Test func cancelledSetLeavesNoParts() async throws {
        behaviour.withLock { $0.stalls = [7, 20] }
        try await withQueue { queue in
            let id = try await queue.add(set())
            let part = home.path("set/1/file-7.part")
            while try await report(id, queue).filesDone != 38 || access(part, F_OK) != 0 {
                try await Task.sleep(for: .milliseconds(5))
            }
            _ = try await queue.perform([.cancel(TaskSelection(id))])
            #expect(try await report(id, queue).state == "cancelled")
            let left = try FileManager.default.subpathsOfDirectory(atPath: home.path("set"))
            #expect(!left.contains { $0.hasSuffix(".part") }, "\(left)")
            #expect(try isRight(0))
        }
    }

    /// The files of a set share its rate, and more than one is active at a time.
    @Test func filesShareRateLimit() async throws {
        behaviour.withLock { $0.stalls = [7, 20] }
        try await withQueue { queue in
            var new = try set()
            new.options.limits.rate = 40_000
            let begun = TestSupport.monotonicSeconds()
            let id = try await queue.add(new)
            while try await queue.files(id.description, FileWindow(states: [.active])).matching < 2
            {
                try await Task.sleep(for: .milliseconds(5))
            }
            released.withLock { $0 = true }
            let end = try await queue.ended(id)
            #expect(end.state == "completed", "\(String(describing: end.error))")
            let size = (0..<Self.count).reduce(0) { $0 + Self.size($1) }
            #expect(Double(size) <= 40_000 * (TestSupport.monotonicSeconds() - begun + 0.2))
            for number in 0..<Self.count { #expect(try isRight(number), "\(number)") }
        }
    }

    /// Returns the number of records of complete files.
    private func records(in folder: String) throws -> Int {
        let text = String(decoding: try Data(contentsOf: try ledger(in: folder)), as: UTF8.self)
        return text.components(separatedBy: #""event":"complete""#).count - 1
    }

    /// Appends empty lines to the ledger, up to the end of its last page.
    private func fillLastPage(in folder: String) throws {
        let file = try FileHandle(forWritingTo: try ledger(in: folder))
        let size = try file.seekToEnd()
        try file.write(contentsOf: Data(repeating: 10, count: Int((4096 - size % 4096) % 4096)))
        try file.close()
    }

    private func ledger(in folder: String) throws -> URL {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        let name = try #require(names.first { $0.hasSuffix(".ledger") })
        return URL(filePath: "\(folder)/\(name)")
    }

    /// The ledger's disk is full: the task does not count as completed, and its next run reads the
    /// files instead of downloading them.
    @Test func unwrittenRecordsFailTask() async throws {
        behaviour.withLock { $0.stalls = Set(20..<Self.count) }
        let disk = try Tmpfs(size: 1 << 20)
        let records = home.path("set/.segget")
        try FileManager.default.createDirectory(
            atPath: records, withIntermediateDirectories: true)
        try #require(mount(disk.path, records, nil, UInt(MS_BIND), nil) == 0)
        defer { _ = umount2(records, Int32(MNT_DETACH)) }
        try await withQueue { queue in
            let id = try await queue.add(set())
            while try await report(id, queue).filesDone != 20 {
                try await Task.sleep(for: .milliseconds(5))
            }
            // The other records must not fit into the last page of the ledger.
            while try self.records(in: records) < 20 {
                try await Task.sleep(for: .milliseconds(5))
            }
            try fillLastPage(in: records)
            let filler = open(disk.path("filler"), O_WRONLY | O_CREAT, 0o600)
            let page = [UInt8](repeating: 1, count: 4096)
            while write(filler, page, page.count) > 0 {}
            close(filler)
            released.withLock { $0 = true }
            while try await report(id, queue).error == nil {
                try await Task.sleep(for: .milliseconds(5))
            }
            let failed = try await report(id, queue)
            #expect(failed.state != "completed" && failed.filesDone == Self.count)
            let error = try #require(failed.error)
            #expect(error.code == 74 && error.step == "space", "\(error)")
            #expect(error.message.contains("the next run reads them instead"), "\(error)")
            unlink(disk.path("filler"))
            _ = try await queue.perform([.retry(TaskSelection(id))])
            let end = try await queue.ended(id)
            #expect(end.state == "completed", "\(String(describing: end.error))")
            for number in 0..<Self.count { #expect(requests(number) == 1, "\(number)") }
        }
    }

    /// The records have the state of the last worker, which was killed.
    @Test func setOfKilledWorkerRunsAgain() async throws {
        let path = home.path("q.sqlite")
        let id = try await DirectDoor(path).perform([.add(try set())])[0][0].id
        let task = try #require(id)
        do {
            let store = try QueueStore(QueueFiles(path), mode: .readWrite)
            try store.update(task) { $0.status.state = .running }
        }
        try await withQueue { queue in
            let end = try await queue.ended(task)
            #expect(end.state == "completed")
        }
        let files = try await DirectDoor(path).files(task.description, FileWindow(limit: 1))
        #expect(files.counts == ["complete": 40] && files.files.count == 1)
    }
}
