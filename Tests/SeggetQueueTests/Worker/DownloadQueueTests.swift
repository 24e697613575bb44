import Foundation
import SeggetQueue
import Segmenter
import TestSupport
import Testing

/// Tests the queue as a library: waiting, groups and subscribers.
struct DownloadQueueTests {
    private let home: Sandbox
    private let origin: Origin
    private let goesOn = Guarded(false)

    init() throws {
        home = try Sandbox()
        origin = try Origin { [goesOn] request in
            let content = Content(size: 300_000, seed: 5)
            return .file(content, for: request, etag: "\"v\"").with { reply in
                guard request.method == "GET", request.target.hasPrefix("/slow") else { return }
                reply.stallAfter = 10_000
                reply.release = goesOn
            }
        }
    }

    private func task(_ path: String) -> NewTask {
        NewTask(origin.url(path), to: .init(root: home.path("d")))
    }

    @Test(.timeLimit(.minutes(5))) func cancelledWaitStopsNoDownload() async throws {
        try await withDownloadQueue(at: home.path("q.sqlite")) { queue in
            let id = try await queue.add(task("/slow"))
            let waiter = Task { try await queue.ended(id) }
            #expect(await soon { origin.bytesServed > 0 })
            waiter.cancel()
            let outcome = await waiter.result
            #expect(throws: QueueError.self) { try outcome.get() }
            goesOn.withLock { $0 = true }
            let end = try await queue.ended(id)
            #expect(end.state == "completed")
        }
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            (DownloadGroup.AtEnd.holds, "paused"), (.cancels, "cancelled"), (.leaves, "running"),
        ])
    func groupEndPausesCancelsOrLeavesTasks(end: DownloadGroup.AtEnd, state: String) async throws {
        try await withDownloadQueue(at: home.path("q.sqlite")) { queue in
            let id = try await queue.withGroup(atEnd: end) { group in
                let id = try await group.add(task("/slow"))
                _ = await soon { origin.bytesServed > 0 }
                return id
            }
            let report = try await queue.report(TaskFilter(selection: TaskSelection(id)))
            let told = try #require(report.tasks.first)
            let isPaused = told.wanted == .paused
            #expect((isPaused ? "paused" : told.state.rawValue) == state)
            goesOn.withLock { $0 = true }
        }
    }

    @Test(.timeLimit(.minutes(5))) func slowSubscriberReceivesLatestSnapshot()
        async throws
    {
        try await withDownloadQueue(at: home.path("q.sqlite")) { queue in
            // It reads no snapshot until the download has ended.
            let snapshots = await queue.snapshots()
            let id = try await queue.add(task("/a"))
            let end = try await queue.ended(id)
            #expect(end.state == "completed")
            await queue.shutdown()
            var seen: [QueueView] = []
            for await snapshot in snapshots { seen.append(snapshot) }
            #expect(seen.count <= 1)
        }
    }

    /// A new URL resumes a started download, and starts one that has no part, or whose part was
    /// deleted.
    @Test(.timeLimit(.minutes(5))) func newURLDoesNotNeedPart() async throws {
        try await withDownloadQueue(at: home.path("q.sqlite")) { queue in
            var held = task("/slow")
            held.isPaused = true
            let selection = TaskSelection(try await queue.add(held))
            var changes = TaskChanges()
            changes.urls = [origin.url("/slow?2")]
            _ = try await queue.perform([.set(selection, changes), .resume(selection)])
            // The name is recorded together with the part.
            while try await queue.report(TaskFilter()).tasks.first?.path == nil {
                try await Task.sleep(for: .milliseconds(10))
            }
            changes.urls = [origin.url("/slow?3")]
            _ = try await queue.perform([.set(selection, changes)])
            #expect(await soon { origin.requests.contains { $0.target == "/slow?3" } })
            _ = try await queue.perform([.cancel(selection)])
            goesOn.withLock { $0 = true }
            _ = try await queue.perform([.retry(selection)])
            let id = try #require(QueueTask.ID(selection.ids[0]))
            let end = try await queue.ended(id)
            #expect(end.state == "completed", "\(String(describing: end.error))")
        }
    }

    @Test(.timeLimit(.minutes(5))) func secondWorkerIsRefused() async throws {
        try await withDownloadQueue(at: home.path("q.sqlite")) { _ in
            var configuration = DownloadQueue.Configuration()
            configuration.patience = 0.1
            let error = await #expect(throws: QueueError.self) {
                try await DownloadQueue.open(home.path("q.sqlite"), configuration: configuration)
            }
            #expect(error?.code == .hasWorker)
        }
    }
}
