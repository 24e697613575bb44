public import Segmenter

/// The code of *Follow progress*.
public enum FollowProgress {
    /// Downloads a file, and prints its events.
    public static func events(
        _ url: String, into folder: String, _ session: DownloadSession
    ) async throws -> DownloadedFile {
        let download = session.start(url, to: .folder(folder))
        for await event in download.events {
            switch event {
            case .started(let start):
                print("to", start.path, "over", start.connections, "connections")
            case .progress(let now):
                print(now.bytesDone, "of", now.size ?? -1, "at", now.bytesPerSecond, "bytes/s")
            case .notice(.retrying(_, let attempt, let delay, _)):
                print("attempt", attempt, "in", delay)
            case .finished(let file): print("done:", file.path)
            default: break
            }
        }
        let file = try await download.result.get()
        return file
    }

    /// Shows the progress of a download every 200 ms.
    public static func snapshots(
        _ download: Download, show: (DownloadProgress) -> Void
    ) async throws {
        while download.progress.phase != .ended {
            show(download.progress)
            try await Task.sleep(for: .milliseconds(200))
        }
        show(download.progress)
    }

    /// Returns the number of missing bytes of each active download.
    public static func overview(_ session: DownloadSession) -> [Download.ID: Int64] {
        var left: [Download.ID: Int64] = [:]
        for download in session.downloads {
            let now = download.progress
            left[download.id] = now.size.map { $0 - now.bytesDone }
        }
        return left
    }
}
