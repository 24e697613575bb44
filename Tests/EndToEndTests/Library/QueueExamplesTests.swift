import Foundation
import LibraryExamples
import SeggetQueue
import TestSupport
import Testing

/// Tests that the example code of the queue's articles behaves as described.
struct QueueExamplesTests {
    @Test(.timeLimit(.minutes(8))) func runsQueue() async throws {
        let stage = try QueueStage()
        let (file, url) = (stage.queue, stage.origin.url("/1/a.iso"))
        let path = try await QueueExamples.fetch(url, into: stage.folder, file)
        #expect(path == stage.files.sandbox.path("a.iso"))
        #expect(try stage.isRight("a.iso", "/1/a.iso"))
        try await withDownloadQueue(at: file) { queue in
            try await QueueExamples.set(queue)
            #expect(try await queue.settings().maxRunning == 5)
            let urls = [stage.origin.url("/2/b.iso"), stage.origin.url("/3/c.iso")]
            #expect(try await QueueExamples.group(urls, into: stage.folder, queue) == 2)
            let id = try await queue.add(NewTask(url, to: .init(root: stage.folder)))
            try await QueueExamples.tell(queue, id)
        }
        #expect(try stage.names() == ["a.iso", "b.iso", "c.iso"])
    }

    @Test(.timeLimit(.minutes(8))) func observesQueue() async throws {
        let stage = try QueueStage()
        try await withDownloadQueue(at: stage.queue) { queue in
            async let first = QueueExamples.first(queue)
            async let watched: Void = QueueExamples.watch(queue)
            var held = NewTask(stage.origin.url("/1/a.iso"), to: .init(root: stage.folder))
            held.isPaused = true
            let id = try await queue.add(held)
            _ = try await queue.perform([.start(TaskSelection(id))])
            try await queue.idle()
            await watched
            // A late subscriber is notified of the next task.
            _ = try await queue.add(
                NewTask(stage.origin.url("/2/b.iso"), to: .init(root: stage.folder)))
            #expect(await first?.hasSuffix(".iso") == true)
            try await QueueExamples.failures(queue)
        }
    }

    @Test(.timeLimit(.minutes(8))) func resumesAfterRestart() async throws {
        let stage = try QueueStage()
        let url = stage.origin.url("/1/a.iso")
        #expect(try await QueueExamples.add(url, into: stage.folder, stage.queue) == 1)
        #expect(try await QueueExamples.goOn(stage.queue) == 1)
        try await withDownloadQueue(at: stage.queue) { queue in
            let news = (try await QueueExamples.news(queue), try await QueueExamples.news(queue))
            #expect(news == (1, 0))
        }
    }
}
