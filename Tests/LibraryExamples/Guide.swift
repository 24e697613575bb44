import Segmenter

/// The code of `docs/guide/library.md`.
public enum Guide {
    /// Downloads one file with one call, and another one with its events.
    public static func fetch(_ first: String, _ second: String, into folder: String) async throws {
        let session = DownloadSession()

        // One call; throws DownloadError, with what is kept on the disk.
        var options = DownloadOptions()
        options.connections = 8
        let file = try await session.download(first, to: "\(folder)/a.iso", options: options)
        print(file.path, file.size, file.verified)

        // Or watched. cancel() stops it in order, and the same call resumes later.
        let download = session.start(second, to: .folder(folder))
        for await event in download.events {
            if case .progress(let now) = event { print(now.bytesDone, "of", now.size ?? -1) }
        }
        // .descriptor(1) in place of a folder writes in order to an open descriptor.
        switch await download.result {
        case .success(let file): print("done:", file.path)
        case .failure(let error): print("failed:", error.reason, "kept:", error.bytesKept)
        }
        await session.shutdown()
    }
}
