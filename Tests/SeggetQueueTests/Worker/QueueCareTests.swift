import Assembler
import Foundation
import Segmenter
import TestSupport
import Testing

@testable import SeggetQueue

/// Tests that commands lose no byte and no file of a task, take none from another task, and
/// download nothing twice.
@Suite(.timeLimit(.minutes(10)))
struct QueueCareTests {
    private let home: Sandbox
    private let origin: Origin
    /// Until this is true, replies to `GET` stall after their first bytes.
    private let goesOn = Guarded(false)
    private static let content = Content(size: 300_000, seed: 5)

    init() throws {
        home = try Sandbox()
        origin = try Origin { [goesOn] request in
            .file(Self.content, for: request, etag: "\"v\"").with { reply in
                if request.target.hasPrefix("/gone") { reply = .text(404) }
                guard request.method == "GET" else { return }
                reply.stallAfter = 10_000
                reply.release = goesOn
            }
        }
        mkdir(home.path("d"), 0o700)
    }

    private func task(_ path: String, name: String? = nil) -> NewTask {
        NewTask(origin.url(path), to: .init(root: home.path("d"), name: name))
    }

    private func names() -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: home.path("d"))) ?? []).sorted()
    }

    private func isRight(_ name: String) throws -> Bool {
        try Data(contentsOf: URL(fileURLWithPath: home.path("d/\(name)")))
            == Data(Self.content.bytes(0..<Self.content.size))
    }

    private func withQueue(_ body: (DownloadQueue) async throws -> Void) async throws {
        try await withDownloadQueue(at: home.path("q.sqlite")) { try await body($0) }
    }

    /// Waits until a part has bytes, and its name is recorded.
    private func begun(_ id: QueueTask.ID, in queue: DownloadQueue) async throws -> TaskReport {
        while true {
            let task = try await queue.detail(id.description).task
            if task.path != nil, task.bytesDone > 0 || task.bytesPerSecond ?? 0 > 0 { return task }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Pauses a task, and waits until its download has stopped.
    private func hold(_ id: QueueTask.ID, in queue: DownloadQueue) async throws {
        _ = try await queue.perform([.pause(TaskSelection(id))])
        while await queue.runs[id] != nil { try await Task.sleep(for: .milliseconds(5)) }
    }

    /// A cancelled task of Swift closes its queue, and uses no processor time.
    @Test func cancelledTaskClosesQueue() async throws {
        let program = Task {
            try await withQueue { queue in
                try await queue.withGroup(atEnd: .holds) { group in
                    let id = try await group.add(task("/a"))
                    _ = try await queue.ended(id)
                }
            }
        }
        #expect(await soon { origin.bytesServed > 0 })
        program.cancel()
        let outcome = await program.result
        #expect(throws: QueueError.self) { try outcome.get() }
        try await withQueue { queue in
            let told = try await queue.report(TaskFilter()).tasks
            #expect(told.map(\.wanted) == [.paused])
        }
    }

    @Test func tasksOfSameURLHaveSeparateParts() async throws {
        try await withQueue { queue in
            let first = try await queue.add(task("/a"))
            _ = try await begun(first, in: queue)
            try await hold(first, in: queue)
            var again = task("/a")
            again.isAgain = true
            let second = try await queue.add(again)
            goesOn.withLock { $0 = true }
            let end = try await queue.ended(second)
            #expect(end.state == "completed")
            #expect(names().contains("a.part"))
            _ = try await queue.perform([.resume(TaskSelection(first))])
            let other = try await queue.ended(first)
            #expect(other.state == "completed")
            #expect(names() == ["a", "a.1"])
            #expect(try isRight("a") && isRight("a.1"))
            // The next task receives another number of the same name.
            let third = try await queue.ended(try await queue.add(again))
            #expect(third.state == "completed")
            #expect(names() == ["a", "a.1", "a.2"])
        }
    }

    /// The first task starts when the second one has a part already.
    @Test func unnamedTaskDoesNotUsePartOfOther() async throws {
        try await withQueue { queue in
            var held = task("/a")
            held.isPaused = true
            let first = try await queue.add(held)
            var again = task("/a")
            again.isAgain = true
            let second = try await queue.add(again)
            _ = try await begun(second, in: queue)
            try await hold(second, in: queue)
            let part = FinishedFile.mark(of: home.path("d/a.part"))
            _ = try await queue.perform([.resume(TaskSelection(first))])
            while try await queue.detail(first.description).task.path != home.path("d/a.1") {
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(FinishedFile.mark(of: home.path("d/a.part"))?.inode == part?.inode)
            goesOn.withLock { $0 = true }
            _ = try await queue.perform([.resume(TaskSelection(second))])
            let ends = [try await queue.ended(first), try await queue.ended(second)]
            #expect(ends.map(\.state) == ["completed", "completed"])
            #expect(names() == ["a", "a.1"])
            #expect(try isRight("a") && isRight("a.1"))
        }
    }

    /// Two URLs suggest the same name; a name that a user gave stays reserved.
    @Test func givenNameStaysReserved() async throws {
        goesOn.withLock { $0 = true }
        try await withQueue { queue in
            var held = task("/x/a", name: "b")
            held.isPaused = true
            let first = try await queue.add(held)
            let second = try await queue.add(task("/b"))
            let end = try await queue.ended(second)
            #expect(end.state == "completed")
            while names() != ["b.1"] { try await Task.sleep(for: .milliseconds(5)) }
            _ = try await queue.perform([.resume(TaskSelection(first))])
            let other = try await queue.ended(first)
            #expect(other.state == "completed")
            #expect(names() == ["b", "b.1"])
        }
    }

    @Test func resumeAllDownloadsNothingAgain() async throws {
        goesOn.withLock { $0 = true }
        try await withQueue { queue in
            let id = try await queue.add(task("/a"))
            _ = try await queue.ended(id)
            unlink(home.path("d/a"))
            let all = TaskSelection(isAll: true)
            for command in [QueueCommand.resume(all), .retry(all), .start(all)] {
                let result = try await queue.perform([command])[0]
                #expect(result.map(\.outcome) == [.unchanged])
            }
            // Adding the URL again means that the user wants it.
            let again = try await queue.add(task("/a"))
            #expect(again == id)
            let end = try await queue.ended(id)
            #expect(end.state == "completed")
            #expect(try isRight("a"))
        }
    }

    @Test(arguments: [nil, "given"]) func changedFileStays(name: String?) async throws {
        goesOn.withLock { $0 = true }
        try await withQueue { queue in
            let id = try await queue.add(task("/a", name: name))
            _ = try await queue.ended(id)
            try home.write("d/\(name ?? "a")", "edited")
            let result = try await queue.perform([.add(task("/a", name: name))])[0][0]
            #expect(result.outcome == (name == nil ? .done : .refused))
            #expect(result.code == (name == nil ? 0 : 73))
            _ = try await queue.ended(id)
            #expect(try home.read("d/\(name ?? "a")") == Data("edited".utf8))
            #expect(names() == (name == nil ? ["a", "a.1"] : ["given"]))
        }
    }

    @Test func addingPausedPausesExistingTask() async throws {
        try await withQueue { queue in
            let id = try await queue.add(task("/gone"))
            let end = try await queue.ended(id)
            #expect(end.state == "failed")
            var held = task("/gone")
            held.isPaused = true
            let again = try await queue.add(held)
            #expect(again == id)
            let told = try await queue.detail(id.description).task
            #expect(told.state == "paused" && told.wanted == .paused)
        }
    }

    /// In one batch, the second command finds the part that the first has not moved yet.
    @Test func renamesTwiceInOneBatch() async throws {
        try await withQueue { queue in
            let id = try await queue.add(task("/a"))
            _ = try await begun(id, in: queue)
            let selection = TaskSelection(id)
            let results = try await queue.perform([
                .rename(selection, name: "x", folder: nil),
                .rename(selection, name: "y", folder: nil), .pause(selection),
            ])
            #expect(results.joined().map(\.outcome) == [.done, .done, .done])
            #expect(names() == ["y.part", "y.segget"])
            let cancelled = try await queue.perform([
                .rename(selection, name: "z", folder: nil), .cancel(selection),
            ])
            #expect(cancelled.joined().map(\.outcome) == [.done, .done])
            #expect(names().isEmpty)
        }
    }

    @Test func cancelsAndRemovesInOneBatch() async throws {
        try await withQueue { queue in
            let id = try await queue.add(task("/a"))
            _ = try await begun(id, in: queue)
            try await hold(id, in: queue)
            _ = try await queue.perform([
                .cancel(TaskSelection(id)), .remove(TaskSelection(id), files: false),
            ])
            #expect(names().isEmpty)
            #expect(try await queue.report(TaskFilter()).tasks.isEmpty)
        }
    }

    /// A part that was resumed with a second link still belongs to the task with a third one.
    @Test(arguments: [true, false]) func usesPartOfEarlierLink(isRenamed: Bool) async throws {
        try await withQueue { queue in
            let id = try await queue.add(task("/1/a"))
            _ = try await begun(id, in: queue)
            let selection = TaskSelection(id)
            for number in [2, 3] {
                try await hold(id, in: queue)
                var changes = TaskChanges()
                changes.urls = [origin.url("/\(number)/a")]
                _ = try await queue.perform([.set(selection, changes)])
                guard number == 2 else { continue }
                _ = try await queue.perform([.resume(selection)])
                // Bytes of a second reply were received and recorded.
                #expect(
                    await soon {
                        origin.requests.contains {
                            $0.method == "GET" && $0.target.hasPrefix("/2") && $0.bytesServed > 0
                        }
                    })
                while try await queue.detail(id.description).task.bytesPerSecond == nil {
                    try await Task.sleep(for: .milliseconds(5))
                }
            }
            #expect(names() == ["a.part", "a.segget"])
            if isRenamed {
                _ = try await queue.perform([.rename(selection, name: "b", folder: nil)])
                #expect(names() == ["b.part", "b.segget"])
            } else {
                _ = try await queue.perform([.cancel(selection)])
                #expect(names().isEmpty)
            }
        }
    }

    /// A worker was killed after it renamed the file, and before it recorded that; a command
    /// without a worker detects this.
    @Test func renamesFinishedFileWithoutRecordedResult() async throws {
        goesOn.withLock { $0 = true }
        let queue = home.path("q.sqlite")
        let id = try await withDownloadQueue(at: queue) { queue in
            let id = try await queue.add(task("/a"))
            _ = try await queue.ended(id)
            return id
        }
        let store = try QueueStore(QueueFiles(queue), mode: .readWrite)
        try store.update(id) { task in
            task.status.state = .running
            task.finished = nil
            task.file = task.file.map { .init(device: $0.device, inode: $0.inode) }
        }
        let command = QueueCommand.rename(TaskSelection(id), name: "b", folder: nil)
        let result = try await DirectDoor(queue).perform([command])
        #expect(result[0].map(\.outcome) == [.done])
        #expect(names() == ["b"])
        let told = try await DirectDoor(queue).detail(id.description).task
        #expect(told.state == "completed" && told.file == "there")
    }

    @Test func refusesToRenameMissingFile() async throws {
        goesOn.withLock { $0 = true }
        try await withQueue { queue in
            let id = try await queue.add(task("/a"))
            _ = try await queue.ended(id)
            unlink(home.path("d/a"))
            let command = QueueCommand.rename(TaskSelection(id), name: "b", folder: nil)
            let result = try await queue.perform([command])[0][0]
            #expect(result.outcome == .refused && result.code == 73)
            let told = try await queue.detail(id.description).task
            #expect(told.path == home.path("d/a"))
        }
    }
}
