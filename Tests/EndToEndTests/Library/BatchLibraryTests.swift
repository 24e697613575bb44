import Assembler
import Segmenter
import TestSupport
import Testing

/// Tests batches through the public API; see ``LibraryTests``.
struct BatchLibraryTests {
    @Test(.timeLimit(.minutes(8))) func everyFileReportsEventsAndResult() async throws {
        let stage = try BatchStage(size: 50_000)
        let session = DownloadSession()
        var checked = DownloadOptions()
        checked.connections = 2
        let items = [
            BatchItem(stage.origin.url("/1/a"), to: .folder(stage.folder), options: checked),
            BatchItem(stage.origin.url("/none/b?secret"), to: .folder(stage.folder)),
            BatchItem(stage.origin.url("/2/a"), to: .file(stage.sandbox.path("c"))),
            BatchItem(stage.origin.url("/3/a"), to: .folder(stage.folder)),
            BatchItem("ftp://u:secret@h/", to: .folder(stage.folder)),
        ]
        let batch = session.start(items, jobs: 2)
        #expect(batch.count == 5)
        var seen: [Int: [String]] = [:]
        var paths: [Int: String] = [:]
        for await event in batch.events {
            switch event.kind {
            case .begun(let url):
                seen[event.index, default: []].append("begun")
                #expect(!url.contains("secret"))
            case .event(.started): seen[event.index, default: []].append("started")
            case .event(.finished): seen[event.index, default: []].append("finished")
            case .event: break
            case .ended(.success(let file)):
                seen[event.index, default: []].append("done")
                paths[event.index] = file.path
            case .ended(.failure): seen[event.index, default: []].append("failed")
            }
        }
        await batch.wait()
        let whole = ["begun", "started", "finished", "done"]
        let failed = ["begun", "failed"]
        #expect(seen == [0: whole, 1: failed, 2: whole, 3: whole, 4: failed])
        #expect(
            paths == [0: "a", 2: "c", 3: "a.1"].mapValues { stage.sandbox.path($0) })
        // The names are no longer locked.
        let again = session.start([
            BatchItem(stage.origin.url("/other"), to: .file(stage.sandbox.path("c")))
        ])
        for await event in again.events {
            guard case .ended(.failure(let error)) = event.kind else { continue }
            #expect(error.reason == .assembly(.destinationExists(path: stage.sandbox.path("c"))))
        }
        await session.shutdown()
    }

    @Test(.timeLimit(.minutes(8))) func shutdownStopsBatch() async throws {
        let stage = try BatchStage(size: 1_000_000)
        stage.origin.bendGET { _, reply in reply.stallAfter = 60_000 }
        let session = DownloadSession()
        var options = DownloadOptions()
        options.connections = 3
        let folder = stage.folder
        let origin = stage.origin
        let batch = session.start(count: 10_000, jobs: 3) { [options] index in
            BatchItem(origin.url("/\(index)/f"), to: .folder(folder), options: options)
        }
        var isStopping = false
        var ends = 0
        for await event in batch.events {
            switch event.kind {
            case .event(.progress(let progress)) where progress.bytesDone == 60_000 && !isStopping:
                isStopping = true
                Task { await session.shutdown() }
            case .ended(.failure(let error)):
                ends += 1
                #expect(error.reason == .cancelled)
            default: break
            }
        }
        #expect(isStopping)
        #expect(ends == 3)
        await batch.wait()
    }

    /// A caller that reads no events does not block the batch.
    @Test(.timeLimit(.minutes(8))) func unreadEventsDoNotBlockBatch() async throws {
        let stage = try BatchStage(size: 5000)
        let session = DownloadSession()
        let items = (1...20).map {
            BatchItem(stage.origin.url("/\($0)/f"), to: .folder(stage.folder))
        }
        let batch = session.start(items, jobs: 3)
        await batch.wait()
        #expect(try stage.sandbox.names().count == 20)
        var ends = 0
        for await event in batch.events {
            if case .ended(.success) = event.kind { ends += 1 }
        }
        #expect(ends == 20)
        await session.shutdown()
    }

    /// Items added to a running batch are downloaded; the batch ends only when it is closed.
    @Test(.timeLimit(.minutes(8))) func openBatchDownloadsAddedItems() async throws {
        let stage = try BatchStage(size: 50_000)
        let session = DownloadSession()
        let batch = session.start([], staysOpen: true)
        var paths: [Int: String] = [:]
        var failures: [Int: DownloadError.Reason] = [:]
        try batch.add(BatchItem(stage.origin.url("/1/a"), to: .folder(stage.folder)))
        for await event in batch.events {
            switch event.kind {
            case .ended(.success(let file)): paths[event.index] = file.path
            case .ended(.failure(let error)): failures[event.index] = error.reason
            case .begun, .event: continue
            }
            // Nothing is active now: the batch waits for more items.
            switch paths.count + failures.count {
            case 1:
                #expect(
                    try batch.add([
                        BatchItem(stage.origin.url("/2/a"), to: .folder(stage.folder)),
                        BatchItem(stage.origin.url("/3/a"), to: .file(stage.sandbox.path("a"))),
                        BatchItem(stage.origin.url("/none/b"), to: .folder(stage.folder)),
                    ]) == 1..<4)
            case 4:
                #expect(try batch.add(BatchItem("ftp://h/", to: .folder(stage.folder))) == 4)
                batch.close()
                batch.close()
                #expect(throws: BatchClosedError.self) {
                    try batch.add(BatchItem(stage.origin.url("/4/c"), to: .folder(stage.folder)))
                }
            default: break
            }
        }
        await batch.wait()
        #expect(batch.count == 5)
        #expect(paths == [0: "a", 1: "a.1"].mapValues { stage.sandbox.path($0) })
        #expect(Set(failures.keys) == [2, 3, 4])
        #expect(failures[2] == .nameTaken(path: stage.sandbox.path("a")))
        #expect(try stage.isRight("a", "/1/a") && stage.isRight("a.1", "/2/a"))
        await session.shutdown()
    }

    /// Adds more files than may be active at a time, some while others download in segments.
    @Test(.timeLimit(.minutes(8))) func addedItemsWaitForFreeSlot() async throws {
        let stage = try BatchStage(size: 400_000)
        let session = DownloadSession()
        let items = (0..<30).map {
            BatchItem(stage.origin.url("/\($0)/f"), to: .file(stage.sandbox.path("f\($0)")))
        }
        let batch = session.start(Array(items[..<3]), jobs: 2, staysOpen: true)
        var begun: [Int] = []
        var under = 0
        var most = 0
        var fed = 3
        for await event in batch.events {
            switch event.kind {
            case .begun:
                begun.append(event.index)
                under += 1
                most = max(most, under)
                guard fed < items.count else { continue }
                #expect(try batch.add(items[fed]) == fed)
                fed += 1
                if fed == items.count { batch.close() }
            case .ended(let result):
                under -= 1
                #expect(throws: Never.self) { try result.get() }
            case .event: break
            }
        }
        #expect(begun == Array(0..<30))
        #expect(most == 2)
        for index in items.indices { #expect(try stage.isRight("f\(index)", "/\(index)/f")) }
        await session.shutdown()
    }

    /// An open batch prevents neither the session's shutdown nor its own cancellation.
    @Test(.timeLimit(.minutes(8))) func openBatchCanBeStopped() async throws {
        let stage = try BatchStage(size: 5000)
        let session = DownloadSession()
        let item = BatchItem(stage.origin.url("/1/f"), to: .folder(stage.folder))
        let (first, second) = (
            session.start([], staysOpen: true), session.start([item], staysOpen: true)
        )
        for await event in second.events {
            if case .ended(.success) = event.kind { break }
        }
        first.cancel()
        await first.wait()
        #expect(throws: BatchClosedError.self) { try first.add(item) }
        #expect(session.batches.map(\.count) == [1])
        await session.shutdown()
        await second.wait()
        #expect(throws: BatchClosedError.self) { try second.add(item) }
        // A batch that was not started with `staysOpen` takes no items.
        let another = DownloadSession()
        let third = another.start([item])
        #expect(throws: BatchClosedError.self) { try third.add(item) }
        await third.wait()
        await another.shutdown()
    }
}
