import Assembler
import Segmenter
import TestSupport
import Testing

/// Batches as another program uses them; see ``LibraryTests``.
struct BatchLibraryTests {
    @Test(.timeLimit(.minutes(8))) func everyFileHasItsEventsAndItsEnd() async throws {
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
        // The names are free again.
        let again = session.start([
            BatchItem(stage.origin.url("/none/a"), to: .file(stage.sandbox.path("c")))
        ])
        for await event in again.events {
            guard case .ended(.failure(let error)) = event.kind else { continue }
            #expect(error.reason == .assembly(.destinationExists(path: stage.sandbox.path("c"))))
        }
        await session.shutdown()
    }

    @Test(.timeLimit(.minutes(8))) func shutdownStopsABatch() async throws {
        let stage = try BatchStage(size: 1_000_000)
        stage.bendGET { _, reply in reply.stallAfter = 60_000 }
        let session = DownloadSession()
        var options = DownloadOptions()
        options.connections = 1
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

    /// Who does not read the events holds nothing up.
    @Test(.timeLimit(.minutes(8))) func nobodyHasToListen() async throws {
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
}
