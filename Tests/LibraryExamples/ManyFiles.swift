public import Segmenter

/// The code of *Many files*.
public enum ManyFiles {
    /// Downloads a list of files.
    public static func list(
        _ urls: [String], into folder: String, _ session: DownloadSession
    ) async -> (paths: [String], failures: [Int: DownloadError]) {
        var paths: [String] = []
        var failures: [Int: DownloadError] = [:]
        let batch = session.start(urls.map { BatchItem($0, to: .folder(folder)) })
        for await event in batch.events {
            switch event.kind {
            case .begun(let url): print(event.index, "begins:", url)
            case .ended(.success(let file)): paths.append(file.path)
            case .ended(.failure(let error)): failures[event.index] = error
            default: break
            }
        }
        return (paths, failures)
    }

    /// Downloads files that are added after the batch has started.
    public static func fed(
        _ urls: some AsyncSequence<String, Never>, into folder: String, _ session: DownloadSession
    ) async throws -> DownloadBatch {
        let batch = session.start([], jobs: 2, staysOpen: true)
        for await url in urls {
            try batch.add(BatchItem(url, to: .folder(folder)))
        }
        batch.close()
        await batch.wait()
        return batch
    }
}
